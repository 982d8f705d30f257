"""The courier: delivers what is owed, and tries again when it is due, for as long as the worker lives."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.facts import Tried
from pratique_privacy.notices.flow import Delivery, bundles, ripe_at, standing
from pratique_privacy.notices.lines import Line, Lines
from pratique_privacy.outbound.post import Answered
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.clock import now, text_of
from pratique_shared.runtime.damage import DAMAGE, one_round, passed_over
from pratique_shared.runtime.meters import DELIVERIES
from pratique_shared.runtime.queues import Doorbell

AT_ONCE = 16  # addresses that are delivered to together; each gets one message at a time, so a slow one waits alone
PAUSE = 1.0  # seconds between two looks
RECHECK = timedelta(minutes=1)  # how long a delivery that is not due is left unread
TAKEN = timedelta(seconds=5)  # the same, of an address whose lease another worker has, or had when it was killed
PORTION = 100  # deliveries of one visit

_log = logging.getLogger("pratique.notices")


class Courier:
    """Looks at what is owed. Everything that it remembers it could read again."""

    def __init__(
        self, notices: NoticeArchive, lines: Lines, bell: Doorbell, clock: Callable[[], datetime] = now
    ) -> None:
        self._notices, self._lines, self._bell, self._clock = notices, lines, bell, clock
        self._woken, self._places = asyncio.Event(), asyncio.Semaphore(AT_ONCE)
        self._visits: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[tuple[str, str], datetime] = {}

    def wake(self, endpoint: str | None = None) -> None:
        """Look again at once; at an address of which something was asked for again, whatever is known of it."""
        for known in [known for known in self._not_before if known[0] == endpoint]:
            del self._not_before[known]
        self._woken.set()

    async def run(self) -> None:
        """Deliver until cancelled; a try that is cut short was not made, and will be."""
        try:
            while True:
                with one_round("deliveries"):
                    await self.look()
                try:
                    await asyncio.wait_for(self._woken.wait(), PAUSE)
                except TimeoutError:
                    continue
                self._woken.clear()
        finally:
            for visit in self._visits.values():
                visit.cancel()

    async def look(self) -> None:
        """Begin a visit to every address for which something is due and that is not being visited."""
        moment = self._clock()
        owed = await self._notices.owed()
        kept = {(endpoint, delivery) for endpoint, all_of_it in owed.items() for delivery in all_of_it}
        self._not_before = {known: due for known, due in self._not_before.items() if known in kept}
        for endpoint, deliveries in owed.items():
            due = [one for one in deliveries if self._not_before.get((endpoint, one), moment) <= moment]
            if due and endpoint not in self._visits:
                visit = asyncio.create_task(self._visit_alone(endpoint, deliveries, due))
                self._visits[endpoint] = visit
                visit.add_done_callback(partial(self._visited, endpoint))

    async def idle(self) -> None:
        """Wait until nobody is being visited."""
        while self._visits:
            await asyncio.wait(list(self._visits.values()))
            await asyncio.sleep(0)

    def _visited(self, endpoint: str, visit: asyncio.Task[None]) -> None:
        self._visits.pop(endpoint, None)
        if visit.cancelled():
            return
        if (error := visit.exception()) is not None:
            _log.error("a delivery ended in an error; it is still owed", exc_info=error, extra={"endpoint": endpoint})
        self._woken.set()  # for what came in meanwhile

    async def _visit_alone(self, endpoint: str, deliveries: Sequence[str], due: Sequence[str]) -> None:
        """Visit an address under its lease, so that of several workers one delivers."""
        for one in due:
            self._not_before[endpoint, one] = self._clock() + TAKEN  # until the visit knows better
        async with self._places:
            message = Message(task="deliver", id=endpoint)
            await self._bell.answer(message, lambda: self._visit(endpoint, deliveries, due))

    async def _visit(self, endpoint: str, deliveries: Sequence[str], due: Sequence[str]) -> None:
        line = await self._lines.open(endpoint)
        # Where deliveries wait for each other, all of them count.
        chosen = due if line is None or line.buffer is None else deliveries
        known = await self._known(endpoint, sorted(chosen)[:PORTION])
        for identity in sorted(chosen)[PORTION:]:
            self._not_before[endpoint, identity] = self._clock()
        ready = []
        for delivery in known:
            stands = standing(delivery, () if line is None else line.schedule)
            if line is None and stands.status == "failed":
                await self._note(delivery, None, "dropped", line)
            elif stands.status != "pending" or stands.due is None:
                await self._settle(delivery)
            elif stands.due <= self._clock():
                ready.append(delivery)
            else:
                self._later(delivery, stands.due)
        if line is not None:
            await self._send(line, ready)

    async def _known(self, endpoint: str, chosen: Sequence[str]) -> list[Delivery]:
        """Return deliveries as they stand; what cannot be read stays owed and is looked at again later."""
        known = []
        for identity in chosen:
            with passed_over(identity):
                delivery = await self._notices.delivery(endpoint, identity)
                if delivery is None:
                    await self._notices.settle(endpoint, identity)  # a marker of a crash: nothing is owed
                else:
                    known.append(delivery)
                continue
            self._not_before[endpoint, identity] = self._clock() + RECHECK
        return known

    async def _send(self, line: Line, ready: Sequence[Delivery]) -> None:
        sent: set[str] = set()
        for bundle in bundles(ready, line.buffer, self._clock()):
            sent |= {delivery.owed.id for delivery in bundle}
            await self._send_bundle(line, bundle)
        waiting = [delivery for delivery in ready if delivery.owed.id not in sent]
        for delivery in waiting:
            if line.buffer is not None:
                self._later(delivery, ripe_at(waiting, line.buffer))

    async def _send_bundle(self, line: Line, bundle: Sequence[Delivery]) -> None:
        """Send a bundle; where something that it tells of cannot be read, each alone: that one stays owed."""
        try:
            answered = await line.send(bundle)
        except DAMAGE:
            if len(bundle) > 1:
                for delivery in bundle:
                    await self._send_bundle(line, (delivery,))
                return
            self._later(bundle[0], self._clock() + RECHECK)
            with passed_over(bundle[0].owed.event.subject):
                raise
            return
        for delivery in bundle:
            result = "dropped" if answered is None else "delivered" if answered.accepted else "failed"
            await self._note(delivery, answered, result, line)

    async def _note(self, delivery: Delivery, answered: Answered | None, result: str, line: Line | None) -> None:
        tried = Tried.model_validate(
            {
                "round": len(delivery.again),
                "result": result,
                "status": None if answered is None else answered.status,
                "error": None if answered is None else answered.error,
                "milliseconds": 0 if answered is None else answered.milliseconds,
                "at": text_of(self._clock()),
            }
        )
        channel = "subscription" if delivery.owed.endpoint.startswith("job_") else "webhook"
        DELIVERIES.labels(channel, tried.result).inc()
        delivery = await self._notices.note(delivery, tried)
        stands = standing(delivery, () if line is None else line.schedule)
        if stands.due is None:
            await self._settle(delivery)
        else:
            self._later(delivery, stands.due)

    def _later(self, delivery: Delivery, due: datetime) -> None:
        self._not_before[delivery.owed.endpoint, delivery.owed.id] = min(due, self._clock() + RECHECK)

    async def _settle(self, delivery: Delivery) -> None:
        """Remove the marker, then look once more: somebody may have asked for the delivery again in between."""
        endpoint, identity = delivery.owed.endpoint, delivery.owed.id
        await self._notices.settle(endpoint, identity)
        self._not_before.pop((endpoint, identity), None)
        after = await self._notices.delivery(endpoint, identity)
        if after is not None and len(after.again) > len(delivery.again):
            await self._notices.mark(endpoint, identity)
