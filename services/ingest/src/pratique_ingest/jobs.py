"""The work of ingest: a capture that was taken in becomes host records."""

import asyncio
from typing import Any

from pratique_shared.contracts.facts import CaptureFailed, CaptureReady, CaptureRequested, Failure, Warned
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.children import Children, Limits
from pratique_shared.runtime.clock import new_id, stamp
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell

CHILD = Limits(memory=512 << 20, seconds=3600)


TELL = 0.2  # seconds between two words about progress


class Ingest:
    """Answers the doorbell of the ingest queue."""

    def __init__(self, room: Room, children: Children, bell: Doorbell) -> None:
        self._room, self._ledger, self._children, self._bell = room, Ledger(room), children, bell

    async def handle(self, message: Message) -> None:
        """Profile a capture, unless that is done; saying it twice changes nothing."""
        await self._bell.answer(message, lambda: self._profile(message.id))

    async def _profile(self, capture: str) -> None:
        names = await self._ledger.names(capture)
        requested = await self._ledger.read(capture, "requested", CaptureRequested)
        if requested is not None and not names & {"outcome", "deleted"}:

            async def give_up(failure: Failure) -> None:
                await self._ledger.commit(capture, "outcome", CaptureFailed(error=failure, at=stamp()))

            await attempt(self._ledger, capture, "profile", lambda: self._run(requested), give_up)
            names = await self._ledger.names(capture)
        if "deleted" in names:  # the capture was deleted while it was profiled
            await self._room.shred_all(f"blobs/{capture}")
        if requested is not None and names & {"outcome", "deleted"}:
            await self._room.delete(f"pending/{capture}")
            await self._bell.ring("privacy", Message(task="source_ready", id=capture))

    async def _tell(self, capture: str, progress: dict[str, Any]) -> None:
        while True:
            await self._bell.tell_progress(capture, progress)
            await asyncio.sleep(TELL)

    async def _run(self, requested: CaptureRequested) -> None:
        async with self._children.lent() as child:
            progress: dict[str, Any] = {"total": requested.raw.bytes}
            teller = asyncio.create_task(self._tell(requested.id, progress))
            try:
                reply = await child.call({"pilot": requested.pilot}, self._room.blob(requested.raw), progress.update)
            finally:
                teller.cancel()
        folder = f"blobs/{requested.id}/{new_id('cap')}"
        hosts, sessions, identifiers = [
            await self._room.put_bytes(f"{folder}-{name}", data)
            for name, data in zip(("hosts", "sessions", "identifiers"), reply.blobs, strict=True)
        ]
        body = reply.body
        ready = CaptureReady(
            packets=body["packets"],
            bytes=body["bytes"],
            complete=body["complete"],
            warnings=tuple(Warned(**warning) for warning in body["warnings"]),
            link_types=tuple(body["link_types"]),
            started=body["started"],
            ended=body["ended"],
            hosts=body["hosts"],
            sessions=body["sessions"],
            host_records=hosts,
            session_records=sessions,
            identifiers=identifiers,
            at=stamp(),
        )
        if not await self._ledger.commit(requested.id, "outcome", ready):
            for blob in (hosts, sessions, identifiers):
                await self._room.shred(blob)
