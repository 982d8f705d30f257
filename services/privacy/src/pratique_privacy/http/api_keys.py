"""API keys: made, listed and revoked by an admin; the secret is shown once."""

from datetime import UTC
from typing import Self

from fastapi import APIRouter, Request, Response
from pydantic import AwareDatetime, Field, model_validator

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import After, Limit, answer, answers, offset_cursor, takes
from pratique_privacy.http.body import read_body
from pratique_privacy.http.resources import PageOf
from pratique_privacy.keys import ApiKey, Caller, Role
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Conflict, no_such
from pratique_shared.contracts.releases import Name, Text
from pratique_shared.runtime.clock import text_of

router = APIRouter(tags=["keys"])


class KeyRequest(Contract):
    """The body of `POST /api-keys`. A recipient's key is bound to one recipient name."""

    role: Role
    recipient: Name | None = None
    name: Text = ""
    expires_at: AwareDatetime | None = None

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


@router.get("/me", operation_id="whoAmI", response_model=CallerResource, responses=answers())
async def who_am_i(caller: Called) -> Response:
    """Say what the key of this request may do."""
    return answer(caller_resource(caller))


@router.get("/api-keys", operation_id="listApiKeys", response_model=PageOf[KeyResource], responses=answers())
async def list_api_keys(caller: Called, services: Reach, limit: Limit = 100, after: After = None) -> Response:
    """List the keys of the tenant, newest first, revoked ones included."""
    found = sorted(await services.keys.api_keys(caller.tenant), key=lambda entry: entry[0].id, reverse=True)
    first = offset_cursor(after)
    data = tuple(_resource(key, revoked=revoked) for key, revoked in found[first : first + limit])
    following = str(first + limit) if first + limit < len(found) else None
    return answer(PageOf[KeyResource](data=data, next=following))


@router.post(
    "/api-keys",
    operation_id="createApiKey",
    status_code=201,
    response_model=NewKey,
    responses=answers(400, 413, 415, 507),
    openapi_extra=takes(KeyRequest, recipient={"role": "recipient", "recipient": "fl-aggregator-1"}),
)
async def create_api_key(request: Request, caller: Called, services: Reach) -> Response:
    """Make a key of this tenant."""
    asked = await read_body(request, KeyRequest, services.limits.json_bytes)
    expires = None if asked.expires_at is None else text_of(asked.expires_at.astimezone(UTC))
    key, text = await services.keys.new_api_key(
        caller.tenant, asked.role, recipient=asked.recipient, name=asked.name, expires_at=expires
    )
    made = NewKey(**_resource(key, revoked=False).model_dump(), key=text)
    return answer(made, 201, {"Location": f"/api-keys/{key.id}", "Cache-Control": "no-store"})


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


def _resource(key: ApiKey, *, revoked: bool) -> KeyResource:
    kept = key.model_dump(include={"id", "role", "recipient", "name", "created_at", "expires_at"})
    return KeyResource(**kept, revoked=revoked)


def caller_resource(caller: Caller) -> CallerResource:
    """Say who calls."""
    return CallerResource(key=caller.key_id, tenant=caller.tenant, role=caller.role, recipient=caller.recipient)
