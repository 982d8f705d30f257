"""The session of a browser: opened with a key or a one-time link, asked for, ended."""

from typing import Self

from fastapi import APIRouter, Request, Response
from pydantic import Field, model_validator

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNKEPT, answer, answers, takes
from pratique_privacy.http.api_keys import CallerResource, caller_resource
from pratique_privacy.http.auditing import begin
from pratique_privacy.http.body import read_body
from pratique_privacy.http.cookies import check_origin, hand_out, session_of, take_back
from pratique_privacy.http.services import Services
from pratique_privacy.keys import KEY_ID, Caller
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Forbidden, Unauthorized

open_router = APIRouter(prefix="/session", tags=["session"])
router = APIRouter(prefix="/session", tags=["session"])


class SessionRequest(Contract):
    """The body of `POST /session`: an API key, or the ticket of a one-time link."""

    key: str | None = Field(default=None, max_length=500, repr=False)
    ticket: str | None = Field(default=None, max_length=500, repr=False)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.key is None) == (self.ticket is None):
            raise ValueError("give either key or ticket")
        return self


class SessionResource(Contract):
    """Who is signed in with this browser; null for nobody."""

    caller: CallerResource | None = None


class TicketResource(Contract):
    """A ticket just made: `/#ticket=<ticket>` signs a browser in, once, until `expires_at`."""

    ticket: str = Field(repr=False)
    expires_at: str


@open_router.get(
    "", operation_id="getSession", response_model=SessionResource, responses=answers(anonymous=True), summary="Who am I"
)
async def get_session(request: Request, services: Reach) -> Response:
    """Say who is signed in with this browser, without refusing whoever is not."""
    session = session_of(request)
    try:
        caller = None if session is None else await services.keys.caller_of_session(session)
    except Unauthorized:
        caller = None
    found = None if caller is None else caller_resource(caller)
    return answer(SessionResource(caller=found), 200, UNKEPT)


@open_router.post(
    "",
    operation_id="createSession",
    response_model=CallerResource,
    responses=answers(400, 401, 403, 413, 415, 422, 429, 507, anonymous=True),
    openapi_extra=takes(SessionRequest, key={"key": "key_..."}),
)
async def create_session(request: Request, services: Reach) -> Response:
    """Sign a browser in: the answer is that of `/me`, and a cookie that lasts twelve hours."""
    if request.headers.get("sec-fetch-site") or request.headers.get("origin"):
        check_origin(request)  # a page elsewhere must not sign its visitor in as somebody of its own
    asked = await read_body(request, SessionRequest, services.limits.json_bytes)
    caller = await _signing_in(request, services, asked)
    begin(request, caller.tenant, caller.role, caller.key_id)
    issued = await services.keys.sessions.open(_key_of(caller))
    made = answer(caller_resource(caller), 200, UNKEPT)
    hand_out(request, made, issued.text)
    return made


@open_router.delete(
    "",
    operation_id="endSession",
    status_code=204,
    response_class=Response,
    responses=answers(403, 507, anonymous=True),
)
async def end_session(request: Request, services: Reach) -> Response:
    """Sign a browser out; one that is not signed in is left as it is."""
    session = session_of(request)
    if session is not None:
        check_origin(request)
        await services.keys.sessions.close(session)
    gone = Response(status_code=204)
    take_back(request, gone)
    return gone


@router.post(
    "/tickets",
    operation_id="createTicket",
    status_code=201,
    response_model=TicketResource,
    responses=answers(507),
)
async def create_ticket(caller: Called, services: Reach) -> Response:
    """Make a one-time link for the holder of this key: it signs one browser in within ten minutes."""
    issued = await services.keys.sessions.ticket(_key_of(caller))
    return answer(TicketResource(ticket=issued.text, expires_at=issued.kept.expires_at), 201, UNKEPT)


async def _signing_in(request: Request, services: Services, asked: SessionRequest) -> Caller:
    """Return who signs in. A ticket that is not good counts against the address that it came from, as a key does."""
    if asked.key is not None:
        return await services.reception.caller(request, asked.key)
    services.reception.check_patience(request)
    try:
        key_id = await services.keys.sessions.redeem(asked.ticket or "")
    except Unauthorized:
        services.reception.note_failure(request)
        raise
    return services.reception.counted(request, await services.keys.caller_of_key(key_id))


def _key_of(caller: Caller) -> str:
    """Return the key that a session acts for. A token has none, and its end is its issuer's business."""
    if not KEY_ID.fullmatch(caller.key_id):
        raise Forbidden("key-needed", "A session acts for an API key: sign in with one instead of a token.")
    return caller.key_id
