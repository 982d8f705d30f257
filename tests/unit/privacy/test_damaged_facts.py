"""A damaged fact or a foreign name in the store holds up its own object, and the worker serves all others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from pratique_privacy.jobs import Privacy
from pratique_privacy.notices.announcer import Announcer
from pratique_shared.contracts.facts import CaptureFailed, Failure, ReleaseFailed
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.clock import now, stamp
from pratique_shared.runtime.sealing import BrokenSeal
from tests.unit.privacy.http.world import PCAP, RELEASE, World, build_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return build_world(tmp_path)


@pytest_asyncio.fixture
async def operator(world: World) -> AsyncIterator[httpx.AsyncClient]:
    client = await world.client("operator")
    yield client
    await client.aclose()


def worker(world: World) -> Privacy:
    announcer = Announcer(world.archive, lambda: None)
    return Privacy(world.archive, world.keys, world.tables, world.tables, world.bell, announcer)


def damage(path: Path) -> None:
    """Turn one bit."""
    data = path.read_bytes()
    path.write_bytes(data[:3] + bytes([data[3] ^ 1]) + data[4:])


def fact(world: World, room: str, identity: str, name: str) -> Path:
    return world.folder / room / "facts" / identity / name


async def ended_capture(world: World, operator: httpx.AsyncClient, content: bytes) -> str:
    """A capture that failed and is to be told of."""
    capture: str = (await operator.post("/captures", content=content)).json()["id"]
    failed = CaptureFailed(error=Failure(code="no-packets", detail=""), at=stamp())
    await world.archive.captures.commit(capture, "outcome", failed)
    await world.archive.captures_room.create(f"announce/{capture}", b"{}")
    return capture


async def test_a_capture_that_cannot_be_read_keeps_no_other_from_being_told_of(
    world: World, operator: httpx.AsyncClient
) -> None:
    hook = (await operator.post("/webhooks", json={"url": "https://hooks.example.com/p"})).json()["id"]
    broken = await ended_capture(world, operator, PCAP)
    other = await ended_capture(world, operator, PCAP + bytes(16))
    await world.archive.captures_room.create("announce/.nfs000000001", b"{}")
    path = fact(world, "captures", broken, "requested")
    damage(path)
    await worker(world).sweep()
    assert await world.archive.captures_room.names("announce") == ["announce/.nfs000000001", f"announce/{broken}"]
    owed = (await operator.get(f"/webhooks/{hook}/deliveries")).json()["data"]
    assert [delivery["subject"] for delivery in owed] == [other]
    damage(path)  # as it was
    await worker(world).sweep()
    assert len((await operator.get(f"/webhooks/{hook}/deliveries")).json()["data"]) == 2


async def test_a_webhook_that_cannot_be_read_keeps_no_other_from_hearing(
    world: World, operator: httpx.AsyncClient
) -> None:
    hooks = [(await operator.post("/webhooks", json={"url": f"https://h.example.com/{n}"})).json()["id"] for n in "abc"]
    await ended_capture(world, operator, PCAP)
    damage(fact(world, "releases", hooks[1], "created"))
    await worker(world).sweep()
    assert await world.archive.captures_room.names("announce") == []
    owed = [key.split("/")[1] for key in await world.archive.releases_room.names("owed-notices")]
    assert owed == sorted([hooks[0], hooks[2]])


async def test_a_name_that_is_no_id_of_ours_is_not_rung(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    for name in (".nfs000000001", "rel_1", "rel_7" + "z" * 25, f"key_{release[4:]}", f"cap_{release[4:]}/x"):
        await world.archive.releases_room.create(f"pending/{name}", b"{}")
        await world.archive.captures_room.create(f"pending/{name}", b"{}")
    world.bell.rung.clear()
    await worker(world).sweep()
    assert world.bell.rung == [("privacy", "advance", release)]


async def test_a_name_that_is_no_number_ends_no_list_of_versions_or_keys(
    world: World, operator: httpx.AsyncClient
) -> None:
    assert (await operator.put("/policies/mine", json={"steps": []})).status_code < 300
    keys = world.keys
    before = [key.epoch for key in await keys.tenant_keys.every("acme")], await keys.signing.own("acme")
    for folder in ("releases/policies/acme/mine", "keys/tenants/acme", "keys/signing/acme"):
        (world.folder / folder).mkdir(parents=True, exist_ok=True)
        (world.folder / folder / "~lock").write_bytes(b"")
    assert (await operator.get("/policies/mine")).json()["version"] == 1
    assert ([key.epoch for key in await keys.tenant_keys.every("acme")], await keys.signing.own("acme")) == before


async def test_a_release_of_a_damaged_source_fails_with_a_code(world: World, operator: httpx.AsyncClient) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    asked = {"source": {"capture": capture}, "policy": "C4"}
    release = (await operator.post("/releases", json=asked)).json()["id"]
    damage(fact(world, "captures", capture, "outcome"))
    await worker(world).handle(Message(task="advance", id=release))
    facts = await world.archive.any_release(release)
    assert facts is not None
    assert isinstance(facts.outcome, ReleaseFailed)
    assert facts.outcome.error.code == "artifact-damaged"


async def test_a_release_whose_own_fact_is_damaged_stays_owed_and_ends_once_it_is_restored(
    world: World, operator: httpx.AsyncClient
) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release, "fail")
    path = fact(world, "releases", release, "measured")
    damage(path)
    privacy = worker(world)
    await privacy.sweep()
    with pytest.raises(BrokenSeal):  # logged by the worker's loop
        await privacy.handle(Message(task="advance", id=release))
    assert (await operator.get(f"/releases/{release}")).json()["code"] == "stored-bytes-damaged"
    assert (await world.archive.pending())[1] == [release]
    damage(path)  # as it was
    await privacy.handle(Message(task="advance", id=release))
    assert (await world.archive.pending())[1] == []


@pytest.mark.parametrize("error", [KeyError("x"), Problem("defect", ""), BrokenSeal("x")])
async def test_a_defect_in_one_round_ends_no_sweeper(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    rounds = 0

    async def sweep(_: Privacy) -> None:
        nonlocal rounds
        rounds += 1
        raise error

    monkeypatch.setattr(Privacy, "sweep", sweep)
    monkeypatch.setattr("pratique_privacy.jobs.SWEEP", 0.001)
    began = now()
    with suppress(TimeoutError):
        await asyncio.wait_for(worker(world).sweep_forever(), 0.2)
    assert rounds > 1
    assert (now() - began).total_seconds() < 5
