"""Signing keys of a tenant: which there are, and a new one."""

from fastapi import APIRouter, Response

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import After, Limit, answer, answers, one_page
from pratique_privacy.http.forwarding import linked
from pratique_privacy.http.resources import PageOf
from pratique_privacy.signing import PublicHalf
from pratique_shared.contracts.model import Contract

router = APIRouter(prefix="/signing-keys", tags=["keys"])


class SigningKeyResource(Contract):
    """A key that signs certificates of this tenant, or did; `signing` is true of the newest alone."""

    kid: str
    number: int
    created_at: str
    signing: bool
    links: dict[str, str]


@router.get("", operation_id="listSigningKeys", response_model=PageOf[SigningKeyResource], responses=answers(507))
async def list_signing_keys(caller: Called, services: Reach, limit: Limit = 100, after: After = None) -> Response:
    """List the keys that certificates of this tenant are signed with, newest first."""
    halves = sorted((await services.keys.signing.of(caller.tenant)), key=lambda half: -half.number)
    page, following = one_page(halves, after, limit)
    data = tuple(_resource(half, signing=half is halves[0]) for half in page)
    return answer(PageOf[SigningKeyResource](data=data, next=following))


@router.post(
    "",
    operation_id="addSigningKey",
    status_code=201,
    response_model=SigningKeyResource,
    summary="Sign with a new key from now on",
    responses=answers(507),
)
async def add_signing_key(caller: Called, services: Reach) -> Response:
    """Add a key that signs from now on; certificates of earlier keys stay valid, and those keys stay readable."""
    half = await services.keys.signing.rotate(caller.tenant)
    return answer(_resource(half, signing=True), 201, {"Location": f"/keys/{half.public.kid}.pem"})


def _resource(half: PublicHalf, *, signing: bool) -> SigningKeyResource:
    kid = half.public.kid
    links = {"pem": linked(f"/keys/{kid}.pem"), "jwks": linked("/keys/jwks.json")}
    return SigningKeyResource(kid=kid, number=half.number, created_at=half.created_at, signing=signing, links=links)
