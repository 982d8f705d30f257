"""Public keys: what certificates are verified with, for anybody who asks."""

import json
import re
from typing import Final

from fastapi import APIRouter, Request, Response

from pratique_privacy.http.access import Reach
from pratique_privacy.http.answers import UNCHANGED, answers, tagged
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import no_such

router = APIRouter(prefix="/keys", tags=["keys"])

PEM: Final = "application/x-pem-file"
_KID: Final = re.compile(r"[0-9a-f]{64}")
# A key never changes; the set grows with a rotation, and a verifier that meets an unknown `kid` asks anew.
_KEPT: Final = {"Cache-Control": "public, max-age=86400, immutable"}
_SET: Final = {"Cache-Control": "public, max-age=300"}


class Jwk(Contract):
    """An Ed25519 public key (RFC 8037)."""

    kty: str
    crv: str
    use: str
    alg: str
    kid: str
    x: str


class JwkSet(Contract):
    """All public keys (RFC 7517)."""

    keys: tuple[Jwk, ...]


@router.get(
    "/jwks.json",
    operation_id="getJwks",
    response_model=JwkSet,
    responses={**UNCHANGED, **answers(anonymous=True)},
)
async def get_jwks(request: Request, services: Reach) -> Response:
    """Give the public keys of every signing key there is or was, newest first, without a tenant's name."""
    found = [half.public.jwk() for half in await services.keys.signing.every()]
    return tagged(request, json.dumps({"keys": found}).encode(), "application/json", _SET)


@router.get(
    "/{kid}.pem",
    operation_id="getPublicKey",
    response_class=Response,
    responses={
        200: {"description": "The key.", "content": {PEM: {"schema": {"type": "string"}}}},
        **UNCHANGED,
        **answers(404, anonymous=True),
    },
)
async def get_public_key(request: Request, kid: str, services: Reach) -> Response:
    """Give a public key as `openssl` reads it."""
    half = await services.keys.signing.public(kid) if _KID.fullmatch(kid) else None
    if half is None:
        raise no_such("key")
    return tagged(request, half.public.pem().encode(), PEM, _KEPT)
