"""The work of ingest: a capture that was taken in becomes host and session records, and a list of identifiers."""

import asyncio

from pratique_ingest.plan import Plan
from pratique_shared.contracts.facts import Blob, CaptureFailed, CaptureReady, CaptureRequested, Failure, Warned
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.child_process import Body, Limits, Reply
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.clock import fresh_name, made_at, now, stamp, stamp_after
from pratique_shared.runtime.ledger import ORPHANED, Ledger
from pratique_shared.runtime.meters import BYTES, CAPTURES, PACKETS
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.traces import resumed

# An hour in all, of which the store and the pipe may take ten minutes.
CHILD = Limits(memory=512 << 20, seconds=3600, processor=3000)
TELL = 2  # tenths of a second between two words about progress
LOOK = 20  # tenths of a second between two looks whether the capture is still wanted


class Ingest:
    """Answers the doorbell of the ingest queue."""

    def __init__(self, room: Room, children: Children, bell: Doorbell, plan: Plan) -> None:
        self._plan = plan
        self._room, self._ledger, self._children, self._bell = room, Ledger(room), children, bell

    async def handle(self, message: Message) -> None:
        """Profile a capture, unless that is done; saying it twice changes nothing."""
        await self._bell.answer(message, lambda: self._profile(message.id))

    async def _profile(self, capture: str) -> None:
        names = await self._ledger.names(capture)
        requested = await self._ledger.read(capture, "requested", CaptureRequested)
        if requested is not None and not names & {"outcome", "deleted"}:

            async def give_up(failure: Failure) -> None:
                if await self._ledger.commit(capture, "outcome", CaptureFailed(error=failure, at=stamp())):
                    CAPTURES.labels("failed").inc()

            with resumed(requested.traceparent):
                await attempt(self._ledger, capture, "profile", lambda: self._run(requested), give_up)
            names = await self._ledger.names(capture)
        if requested is None and now() - made_at(capture) > ORPHANED:
            await self._room.delete(f"pending/{capture}")
        if "deleted" in names:  # the capture was deleted while it was profiled
            await self._room.shred_all(f"blobs/{capture}")
        if requested is not None and names & {"outcome", "deleted"}:
            # Privacy tells whoever listens: owed from here on, whatever becomes of the ring.
            await self._room.create(f"announce/{capture}", b"{}")
            await self._room.delete(f"pending/{capture}")
            await self._bell.ring("privacy", Message(task="source_ready", id=capture))

    async def _run(self, requested: CaptureRequested) -> None:
        progress: Body = {"total": requested.raw.bytes}
        async with self._children.lent() as child:
            asked = {"pilot": requested.pilot, "max_packets": requested.max_packets, "plan": self._plan.text}
            call = asyncio.create_task(child.call(asked, self._room.blob(requested.raw), progress.update))
            teller = asyncio.create_task(self._tell(requested.id, progress, call))
            try:
                reply = await call
            except asyncio.CancelledError:
                if not call.cancelled() or not teller.done():
                    raise  # this worker is told to stop
                return  # the capture was deleted: its child is gone, and nobody waits for records
            finally:
                call.cancel()
                teller.cancel()
        async with self._room.drafts() as drafts:
            folder = f"blobs/{requested.id}/{fresh_name()}"
            hosts, sessions, identifiers = [
                await drafts.put(f"{folder}-{name}", data)
                for name, data in zip(("hosts", "sessions", "identifiers"), reply.blobs, strict=True)
            ]
            ready = _ready(reply.body, hosts, sessions, identifiers, self._plan, requested)
            drafts.keep()
            if not await self._ledger.commit(requested.id, "outcome", ready):
                drafts.drop()
                return
        CAPTURES.labels("ready").inc()
        PACKETS.inc(ready.packets)
        BYTES.inc(ready.bytes)

    async def _tell(self, capture: str, progress: Body, call: asyncio.Task[Reply]) -> None:
        """Tell progress while the call runs; end the call of a capture that was deleted."""
        while "deleted" not in await self._ledger.names(capture):
            for _ in range(LOOK // TELL):
                await self._bell.tell_progress(capture, progress)
                await asyncio.sleep(TELL / 10)
        call.cancel()


def _ready(
    body: Body, hosts: Blob, sessions: Blob, identifiers: Blob, plan: Plan, asked: CaptureRequested
) -> CaptureReady:
    return CaptureReady(
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
        plan_sha256=plan.sha256,
        at=stamp_after(asked.created_at),
    )
