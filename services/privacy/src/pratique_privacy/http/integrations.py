"""Integrations: how we stand with the coordinator, which jobs there are, and what was delivered."""

from typing import Any

from fastapi import APIRouter, Response

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import answer, answers
from pratique_privacy.ics.bodies import SCHEMAS
from pratique_privacy.ics.registrar import told_as
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.notices.subscription import Subscription
from pratique_shared.contracts.model import Contract

router = APIRouter(prefix="/integrations", tags=["ics"])


class Registration(Contract):
    """What the registrar told last; all null until it did."""

    registered: bool | None = None
    error: str | None = None
    checked_at: str | None = None
    registrations: int | None = None
    refused_jobs: int | None = None


class JobCounts(Contract):
    """Items that a job was owed, those that were delivered or dropped (withdrawn meanwhile), and tries that failed."""

    owed: int
    delivered: int
    failed_tries: int
    dropped: int


class JobResource(Contract):
    """A job of a consumer, by the coordinator's id."""

    id: str
    kind: str
    owner: str
    since: str
    counts: JobCounts


class IcsResource(Contract):
    """The integration of the tenant with a coordinator."""

    configured: bool
    producer: str | None = None
    types: tuple[str, ...] = ()
    callbacks: dict[str, str] = {}
    recipient: str | None = None
    registration: Registration = Registration()
    jobs: tuple[JobResource, ...] = ()


@router.get("/ics", operation_id="getIcs", response_model=IcsResource, responses=answers())
async def get_ics(caller: Called, services: Reach) -> Response:
    """Say how the integration with the coordinator stands."""
    terms = services.ics
    if terms is None or terms.tenant != caller.tenant:
        return answer(IcsResource(configured=False))
    told: dict[str, Any] = await services.bell.progress(told_as(caller.tenant))
    notices = NoticeArchive(services.archive)
    jobs = await Subscribers(services.archive).of_tenant(caller.tenant)
    found = IcsResource(
        configured=True,
        producer=terms.producer,
        types=tuple(sorted(SCHEMAS)),
        callbacks=terms.registration,
        recipient=terms.recipient,
        registration=Registration(**{name: told.get(name) for name in Registration.model_fields}),
        jobs=tuple([_job(one, await notices.counted(one.id)) for one in jobs]),
    )
    return answer(found)


def _job(subscription: Subscription, counts: dict[str, int]) -> JobResource:
    return JobResource(
        id=subscription.remote,
        kind=subscription.kind,
        owner=subscription.owner,
        since=subscription.since,
        counts=JobCounts(**counts),
    )
