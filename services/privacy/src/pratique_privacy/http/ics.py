"""ICS callbacks: jobs as the coordinator starts and stops them, and its supervision. Answered at once, worked on later.

With a token of the coordinator's, a callback is believed and audited. Without one anybody could send it: it is only a
reason to ask the coordinator itself which jobs it has for us.
"""

import hmac
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from pratique_privacy.http.access import Reach
from pratique_privacy.http.answers import answer, answers, takes
from pratique_privacy.http.auditing import about, begin, changes
from pratique_privacy.http.body import read_body
from pratique_privacy.http.health import Alive
from pratique_privacy.http.services import Services
from pratique_privacy.ics.bodies import POSTURE, PostedJob
from pratique_privacy.ics.jobs import subscription_of
from pratique_privacy.ics.terms import COORDINATOR, IcsTerms
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.notices.subscription import subscription_id
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import NotFound, Unauthorized
from pratique_shared.runtime.clock import stamp

router = APIRouter(prefix="/ics", tags=["ics"])

EXAMPLE = {
    "info_job_identity": "posture-watch-1",
    "info_type_identity": POSTURE,
    "info_job_data": {"verdicts": ["fail", "indeterminate"]},
    "target_uri": "https://rapp.example.com/postures",
    "owner": "posture-watch",
}


class Taken(Contract):
    """The callback was heard."""

    status: str = "taken"


async def from_ics(request: Request, services: Reach) -> IcsTerms:
    """Return the terms with the coordinator; raises `NotFound` without one, `Unauthorized` for a stranger."""
    if services.ics is None:
        raise NotFound("ics-not-configured", "This service works with no coordinator: set PRATIQUE_ICS_URL.")
    expected = services.ics.token
    sent = request.headers.get("authorization", "")
    if expected is not None and not hmac.compare_digest(sent.encode(), f"Bearer {expected}".encode()):
        services.reception.check_patience(request)
        services.reception.note_failure(request)
        raise Unauthorized("key-unknown", "Send `Authorization: Bearer <token>` with the coordinator's token.")
    route: APIRoute = request.scope["route"]
    if expected is not None and changes(route):
        trail = begin(request, services.ics.tenant, COORDINATOR)
        await services.audit.record(trail.tenant, trail.event)
    return services.ics


Agreed = Annotated[IcsTerms, Depends(from_ics)]


@router.get("/health", operation_id="icsHealth", response_model=Alive, responses=answers(401, 404, 429, anonymous=True))
async def ics_health(terms: Agreed, services: Reach) -> Response:  # noqa: ARG001 - whoever asks must be known
    """Answer the supervision of the coordinator, once the store does."""
    await services.archive.releases_room.read("readyz")
    return answer(Alive())


@router.post(
    "/info-jobs",
    operation_id="putInfoJob",
    response_model=Taken,
    responses=answers(400, 401, 404, 413, 415, 422, 429, 507, anonymous=True),
    openapi_extra=takes(PostedJob, posture=EXAMPLE),
)
async def put_info_job(request: Request, terms: Agreed, services: Reach) -> Response:
    """Start a job, or give it new terms: the same job may come again and again."""
    job = await read_body(request, PostedJob, services.limits.json_bytes)
    subscription = subscription_of(job, terms, stamp())
    about(request, subscription.id)
    if terms.token is not None:
        await Subscribers(services.archive).put(subscription)
    await _look(services, subscription.id)
    return answer(Taken())


@router.delete(
    "/info-jobs/{job_id}",
    operation_id="deleteInfoJob",
    response_model=Taken,
    responses=answers(401, 404, 422, 429, 507, anonymous=True),
)
async def delete_info_job(request: Request, job_id: str, terms: Agreed, services: Reach) -> Response:
    """Stop a job; one that is not known is stopped already."""
    identity = subscription_id(terms.tenant, job_id)
    about(request, identity)
    subscribers = Subscribers(services.archive)
    if terms.token is not None and (known := await subscribers.get(identity)) is not None:
        await subscribers.end(known)
    await _look(services, identity)
    return answer(Taken())


async def _look(services: Services, subscription: str) -> None:
    await services.bell.ring("privacy", Message(task="reconcile", id=subscription))
