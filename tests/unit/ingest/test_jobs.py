"""The work of ingest: a capture that kills its child fails with a code, and every other one is profiled."""

import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pratique_ingest.capture_child import profile_in_child
from pratique_ingest.jobs import CHILD, Ingest
from pratique_ingest.plan import NO_PLAN
from pratique_shared.contracts.facts import CaptureFailed, CaptureOutcome, CaptureReady, CaptureRequested
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import Room, open_room
from pratique_shared.runtime.child_process import Call, Reply
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.clock import new_id, stamp
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.sealing import StorageKey
from tests.unit.ingest.crafted import AMF, GNB, ethernet, ipv4, pcap, udp

FILE = pcap([ethernet(ipv4(GNB, AMF, 17, udp(1, 2, b"x")))] * 10_000)
OUTCOME: TypeAdapter[CaptureOutcome] = TypeAdapter(CaptureOutcome)


def entry(call: Call) -> Reply:
    """The capture child, with a weakness for captures of one pilot."""
    if call.body["pilot"] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return profile_in_child(call)


class Bell(Doorbell):
    """A doorbell that nobody else hears."""

    def __init__(self) -> None:
        self.rung: list[tuple[str, str]] = []
        self.told: list[dict[str, Any]] = []

    async def answer(self, message: Message, work: Callable[[], Awaitable[None]]) -> None:
        await work()

    async def ring(self, queue: str, message: Message) -> None:
        self.rung.append((queue, message.id))

    async def tell_progress(self, entity: str, progress: dict[str, Any]) -> None:
        self.told.append(dict(progress))


async def taken_in(room: Room, pilot: str, file: bytes = FILE) -> str:
    identity = new_id("cap")
    raw = await room.put_bytes(f"blobs/{identity}/raw", file)
    requested = CaptureRequested(
        id=identity, tenant="acme", name="", pilot=pilot, open_to=(), raw=raw, created_at=stamp()
    )
    await room.create(f"pending/{identity}", b"{}")
    await Ledger(room).commit(identity, "requested", requested)
    return identity


async def outcome(room: Room, identity: str) -> CaptureOutcome:
    raw = await Ledger(room).raw(identity, "outcome")
    assert raw is not None
    return OUTCOME.validate_json(raw)


async def test_a_capture_whose_child_dies_twice_fails_with_a_code_and_the_next_one_is_profiled(tmp_path: Path) -> None:
    room, bell = open_room(tmp_path.as_uri(), "captures", StorageKey(b"k" * 32)), Bell()
    children = Children("tests.unit.ingest.test_jobs:entry", CHILD, 1)
    ingest = Ingest(room, children, bell, NO_PLAN)
    bad, good = await taken_in(room, "kill"), await taken_in(room, "lab")
    try:
        for identity in (bad, good):
            await ingest.handle(Message(task="profile", id=identity))
    finally:
        children.close()
    failed, ready = await outcome(room, bad), await outcome(room, good)
    assert isinstance(failed, CaptureFailed)
    assert failed.error.code == "task-crashed"
    assert sorted(name for name in await Ledger(room).names(bad) if name.startswith("attempts/")) == [
        "attempts/profile/1", "attempts/profile/2"
    ]  # fmt: skip
    assert isinstance(ready, CaptureReady)
    assert (ready.packets, ready.hosts, ready.complete) == (10_000, 2, True)
    assert bell.rung == [("privacy", bad), ("privacy", good)]
    assert await room.names("pending") == []


async def test_the_progress_of_a_capture_is_told_while_it_is_read(tmp_path: Path) -> None:
    room, bell = open_room(tmp_path.as_uri(), "captures", StorageKey(b"k" * 32)), Bell()
    children = Children("tests.unit.ingest.test_jobs:entry", CHILD, 1)
    size = 24 + 20 * (len(FILE) - 24)
    identity = await taken_in(room, "lab", FILE[:24] + FILE[24:] * 20)
    try:
        await Ingest(room, children, bell, NO_PLAN).handle(Message(task="profile", id=identity))
    finally:
        children.close()
    figures = [(one.get("packets", 0), one.get("bytes", 0)) for one in bell.told]
    assert figures == sorted(figures)
    assert all(one["total"] == size for one in bell.told)
    assert figures[0][1] < size
