"""Certificates: the signed statement of a release, for everyone who may see the release."""

from fastapi import APIRouter, Request, Response

from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import UNCHANGED, answers, unchanging
from pratique_privacy.http.results import leaving
from pratique_shared.contracts.model import Contract

router = APIRouter(prefix="/releases/{release_id}", tags=["evidence"])


class Signature(Contract):
    """A signature and the name of its key."""

    keyid: str
    sig: str


class Envelope(Contract):
    """A signed statement (DSSE 1.0): `payload` is an in-toto statement in base64."""

    payload: str
    payloadType: str  # noqa: N815 - the name in DSSE
    signatures: tuple[Signature, ...]


@router.get(
    "/certificate",
    operation_id="getCertificate",
    response_model=Envelope,
    summary="The signed statement of a release",
    responses={**UNCHANGED, **answers(404, 409, 410)},
)
async def get_certificate(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give the certificate that was signed when the release was published; it is the same for every reader."""
    _, certificate = await leaving(services, await present_release(services, caller, release_id))
    return unchanging(request, certificate.decode())
