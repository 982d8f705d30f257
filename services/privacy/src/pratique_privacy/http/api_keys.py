"""API keys: made, listed and revoked by an admin; the secret is shown once."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Final, Self

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, StringConstraints, model_validator

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNKEPT, After, Limit, answer, answers, one_page, takes
from pratique_privacy.http.body import read_body
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.scopes import GROUPS, known_scopes, reach
from pratique_privacy.keys import ApiKey, Caller, Role
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Conflict, FieldError, Forbidden, Unprocessable, no_such, pointer
from pratique_shared.contracts.releases import Name, Text
from pratique_shared.runtime.clock import text_of

router = APIRouter(tags=["keys"])


SCOPES: Final = (
    "What the key is held to within its role: operationIds, and groups such as `releases` or `releases:read`. "
    f"The groups are {', '.join(f'`{name}`' for name in sorted(set(GROUPS.values())))}. Null: whatever the role may."
)
Scope = Annotated[str, StringConstraints(max_length=60, pattern=r"^[A-Za-z]+(:read)?$")]


def _universal(moment: datetime) -> datetime:
    """Return a moment in UTC; the first and last hours of the calendar have none there."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be a moment of the years 1 to 9999 in UTC") from None


class KeyRequest(Contract):
    """The body of `POST /api-keys`. A recipient's key is bound to one recipient name."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {
                    "required": ["recipient"],
                    "properties": {"role": {"const": "recipient"}, "recipient": {"type": "string"}},
                },
                {
                    "properties": {
                        "role": {"enum": ["operator", "auditor", "admin"]},
                        "recipient": {"type": "null"},
                    }
                },
            ]
        }
    )

    role: Role
    recipient: Name | None = None
    name: Text = ""
    expires_at: Annotated[AwareDatetime, AfterValidator(_universal)] | None = None
    scopes: tuple[Scope, ...] | None = Field(default=None, min_length=1, max_length=100, description=SCOPES)

    @model_validator(mode="after")
    def _bound(self) -> Self:
        if (self.role == "recipient") != (self.recipient is not None):
            raise ValueError("give recipient with the role recipient, and with no other")
        return self


class KeyResource(Contract):
    """An API key, without its secret."""

    id: str
    role: Role
    recipient: str | None
    name: str
    created_at: str
    expires_at: str | None
    scopes: tuple[str, ...] | None
    last_used: str | None = Field(description="The last day (UTC) on which it was used.")
    revoked: bool


class NewKey(KeyResource):
    """An API key just made: `key` is what to send, and is shown this once."""

    key: str = Field(repr=False)


class CallerResource(Contract):
    """Who calls."""

    key: str
    tenant: str
    role: Role
    recipient: str | None
    scopes: tuple[str, ...] | None


@router.get("/me", operation_id="whoAmI", response_model=CallerResource, responses=answers())
async def who_am_i(caller: Called) -> Response:
    """Say what the key of this request may do."""
    return answer(caller_resource(caller))


@router.get("/api-keys", operation_id="listApiKeys", response_model=PageOf[KeyResource], responses=answers())
async def list_api_keys(caller: Called, services: Reach, limit: Limit = 100, after: After = None) -> Response:
    """List the keys of the tenant, newest first, revoked ones included."""
    found = sorted(await services.keys.api_keys(caller.tenant), key=lambda entry: entry[0].id, reverse=True)
    page, following = one_page(found, after, limit)
    days = await asyncio.gather(*(services.keys.last_used(key.id) for key, _ in page))
    data = tuple(_resource(key, day, revoked=gone) for (key, gone), day in zip(page, days, strict=True))
    return answer(PageOf[KeyResource](data=data, next=following))


@router.post(
    "/api-keys",
    operation_id="createApiKey",
    status_code=201,
    response_model=NewKey,
    responses=answers(400, 413, 415, 507),
    openapi_extra=takes(
        KeyRequest, recipient={"role": "recipient", "recipient": "fl-aggregator-1", "scopes": ["releases:read"]}
    ),
)
async def create_api_key(request: Request, caller: Called, services: Reach) -> Response:
    """Make a key of this tenant."""
    asked = await read_body(request, KeyRequest, services.limits.json_bytes)
    _check_scopes(request, caller, asked.scopes)
    expires = None if asked.expires_at is None else text_of(asked.expires_at)
    key, text = await services.keys.new_api_key(
        caller.tenant,
        asked.role,
        recipient=asked.recipient,
        name=asked.name,
        expires_at=expires,
        scopes=asked.scopes,
    )
    made = NewKey(**_resource(key, None, revoked=False).model_dump(), key=text)
    return answer(made, 201, {"Location": f"/api-keys/{key.id}", **UNKEPT})


@router.delete(
    "/api-keys/{key_id}",
    operation_id="revokeApiKey",
    status_code=204,
    response_class=Response,
    responses=answers(404, 409, 507),
)
async def revoke_api_key(key_id: str, caller: Called, services: Reach) -> Response:
    """Revoke a key of this tenant: it ends within seconds."""
    if key_id not in {key.id for key, _ in await services.keys.api_keys(caller.tenant)}:
        raise no_such("key")
    if key_id == caller.key_id:
        raise Conflict("own-key", "A key does not revoke itself, lest nobody be left: use another admin key.")
    await services.keys.revoke(key_id)
    return Response(status_code=204)


def _check_scopes(request: Request, caller: Caller, asked: tuple[str, ...] | None) -> None:
    """Refuse scopes that nobody knows, and a key that would reach further than the one that makes it."""
    routes: tuple[APIRoute, ...] = request.app.state.operations
    known = known_scopes(routes)
    unknown = [
        FieldError(pointer("scopes", at), "is no scope") for at, one in enumerate(asked or ()) if one not in known
    ]
    if unknown:
        raise Unprocessable("scope-unknown", "A scope is an operationId or a group: see /openapi.json.", unknown)
    if caller.scopes is not None and (asked is None or not reach(routes, asked) <= reach(routes, caller.scopes)):
        detail = "A key with scopes makes keys within its own scopes only: give `scopes` that it has."
        raise Forbidden("scope-exceeded", detail)


def _resource(key: ApiKey, last_used: str | None, *, revoked: bool) -> KeyResource:
    kept = key.model_dump(include={"id", "role", "recipient", "name", "created_at", "expires_at", "scopes"})
    return KeyResource(**kept, last_used=last_used, revoked=revoked)


def caller_resource(caller: Caller) -> CallerResource:
    """Say who calls."""
    told = {"tenant": caller.tenant, "role": caller.role, "recipient": caller.recipient, "scopes": caller.scopes}
    return CallerResource.model_validate({"key": caller.key_id, **told})
