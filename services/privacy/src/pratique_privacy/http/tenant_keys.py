"""Tenant keys over HTTP: which pseudonymisation keys there are, never the keys, and the beginning of a new epoch."""

from fastapi import APIRouter, Response

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import After, Limit, answer, answers, one_page
from pratique_privacy.http.resources import PageOf
from pratique_privacy.tenant_keys import KeyAdded
from pratique_shared.contracts.model import Contract

router = APIRouter(prefix="/tenant-keys", tags=["keys"])


class TenantKeyResource(Contract):
    """A key that pseudonyms are made with; `current` is true of the newest alone.

    Releases whose postures name equal fingerprints can be joined by their pseudonyms of one scope and domain.
    `created_at` is null for a key from before there were epochs.
    """

    epoch: int
    fingerprint: str
    created_at: str | None
    current: bool


@router.get("", operation_id="listTenantKeys", response_model=PageOf[TenantKeyResource], responses=answers(507))
async def list_tenant_keys(caller: Called, services: Reach, limit: Limit = 100, after: After = None) -> Response:
    """List the pseudonymisation keys of the tenant by epoch and fingerprint, newest first."""
    keys = await services.keys.tenant_keys.every(caller.tenant)
    page, following = one_page(keys, after, limit)
    data = tuple(_resource(key, current=key is keys[0]) for key in page)
    return answer(PageOf[TenantKeyResource](data=data, next=following))


@router.post(
    "",
    operation_id="addTenantKey",
    status_code=201,
    response_model=TenantKeyResource,
    summary="Pseudonymise with a new key from now on",
    responses=answers(507),
)
async def add_tenant_key(caller: Called, services: Reach) -> Response:
    """Begin an epoch: what is asked for from now on has pseudonyms that join with none of an earlier epoch.

    A release that was asked for before keeps its epoch, and every certificate stays valid.
    """
    added = await services.keys.tenant_keys.add(caller.tenant)
    return answer(_resource(added, current=True), 201, {"Location": "/tenant-keys"})


def _resource(key: KeyAdded, *, current: bool) -> TenantKeyResource:
    return TenantKeyResource(**dict(key), current=current)
