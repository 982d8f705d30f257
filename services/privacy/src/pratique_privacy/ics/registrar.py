"""The registrar: keeps us known to the coordinator, which forgets producers when it restarts, and our jobs its jobs."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from secrets import SystemRandom
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import Event
from pratique_privacy.ics.bodies import ABOUT, SCHEMAS, PostedJob
from pratique_privacy.ics.jobs import subscription_of
from pratique_privacy.ics.terms import COORDINATOR, IcsTerms
from pratique_privacy.notices.subscribers import Subscribers
from pratique_shared.contracts.problems import Problem, Unprocessable
from pratique_shared.runtime.clock import now, stamp
from pratique_shared.runtime.damage import one_round, passed_over
from pratique_shared.runtime.queues import Doorbell

EVERY = 15.0  # seconds between two looks; spread by a tenth, so that workers do not come together
SOON = 1.0  # seconds after a callback: the coordinator lists a job only once its callbacks were answered
# A job that was posted just now may not be listed yet: the coordinator waits up to 30 s for every producer first.
GRACE = timedelta(seconds=30)
TIMEOUT = httpx.Timeout(10.0, connect=5.0)

_LISTED: TypeAdapter[list[PostedJob]] = TypeAdapter(list[PostedJob])
_log = logging.getLogger("pratique.ics")


class OtherAnswer(Exception):
    """The coordinator answered otherwise than its interface says."""


def told_as(tenant: str) -> str:
    """Return under which name the registrar tells how it stands."""
    return f"ics:{tenant}"


class Registrar:
    """Looks every 15 s whether the coordinator knows us as we are, and which jobs it has for us."""

    def __init__(
        self,
        terms: IcsTerms,
        subscribers: Subscribers,
        bell: Doorbell,
        audit: AuditLog,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        share: Callable[[], float] | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._terms, self._subscribers, self._bell, self._clock = terms, subscribers, bell, clock
        self._audit = audit
        self._share = share or SystemRandom().random
        self._http = httpx.AsyncClient(transport=transport, timeout=TIMEOUT, trust_env=False)
        self._base = f"{terms.url}/data-producer/v1"
        self._producer = f"{self._base}/info-producers/{quote(terms.producer, safe='')}"
        self._woken = asyncio.Event()
        self._registrations, self._refused = 0, 0

    def wake(self) -> None:
        """Look soon: the coordinator called."""
        self._woken.set()

    async def run(self) -> None:
        """Look again and again until cancelled. We stay registered: the next worker goes on where this one ends."""
        async with self._http:
            while True:
                with one_round("coordinator"):
                    await self.turn()
                try:
                    await asyncio.wait_for(self._woken.wait(), EVERY * (0.9 + self._share() / 5))
                except TimeoutError:
                    continue
                self._woken.clear()
                await asyncio.sleep(SOON)

    async def turn(self) -> None:
        """Register where that is needed, then hold our jobs against the coordinator's; tell how it went."""
        error = None
        try:
            await self._register()
            await self._reconcile()
        except (httpx.HTTPError, httpx.InvalidURL):
            error = "no-answer"
        except OtherAnswer:
            error = "not-ics"
        except Problem as problem:
            if not problem.retryable:
                raise
            error = problem.code
        if error is not None:
            _log.warning("the coordinator could not be served", extra={"code": error})
        told = {"registered": error is None, "error": error, "checked_at": stamp()}
        counts = {"registrations": self._registrations, "refused_jobs": self._refused}
        await self._bell.tell_progress(told_as(self._terms.tenant), told | counts)

    async def _register(self) -> None:
        wanted: dict[str, Any] = {"supported_info_types": sorted(SCHEMAS), **self._terms.registration}
        answer = await self._http.get(self._producer)
        if answer.status_code == HTTPStatus.OK:
            known = _json(answer)
            if isinstance(known, dict) and _same(known, wanted):
                return
        elif answer.status_code != HTTPStatus.NOT_FOUND:
            raise OtherAnswer
        for kind, schema in SCHEMAS.items():  # the types first: a producer of an unknown one is refused
            body = {"info_job_data_schema": schema, "info_type_information": {"description": ABOUT[kind]}}
            _accepted(await self._http.put(f"{self._base}/info-types/{kind}", json=body))
        _accepted(await self._http.put(self._producer, json=wanted))
        self._registrations += 1

    async def _reconcile(self) -> None:
        """Take in the jobs that the coordinator has for us, and end those that it has no more: a DELETE may be lost."""
        begun = self._clock()
        answer = await self._http.get(f"{self._producer}/info-jobs")
        _accepted(answer)
        try:
            listed = _LISTED.validate_python(_json(answer))
        except ValidationError:
            raise OtherAnswer from None
        kept, refused = set(), 0
        for job in listed:
            try:
                subscription = subscription_of(job, self._terms, stamp())
            except Unprocessable:
                refused += 1
                continue
            kept.add(subscription.id)
            with passed_over(subscription.id):
                if await self._subscribers.fresh(subscription) is not None:
                    await self._note("putInfoJob", subscription.id)
                await self._subscribers.put(subscription)
        self._refused = refused
        for known in await self._subscribers.of_tenant(self._terms.tenant):
            if known.id not in kept and datetime.fromisoformat(known.at) < begun - GRACE:
                await self._note("deleteInfoJob", known.id)
                await self._subscribers.end(known)

    async def _note(self, operation: str, job: str) -> None:
        """Write down what the coordinator wants before it is done, as its callback would be."""
        event = Event("asked", role=COORDINATOR, operation=operation, object=job)
        await self._audit.record(self._terms.tenant, event)


def _same(known: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a registration says what ours would; the order of the types says nothing."""
    types = known.get("supported_info_types")
    listed = sorted(map(str, types)) if isinstance(types, list) else None
    return {**{name: known.get(name) for name in wanted}, "supported_info_types": listed} == wanted


def _accepted(answer: httpx.Response) -> None:
    if not answer.is_success:
        raise OtherAnswer


def _json(answer: httpx.Response) -> object:
    try:
        found: object = answer.json()
    except ValueError:
        raise OtherAnswer from None
    return found
