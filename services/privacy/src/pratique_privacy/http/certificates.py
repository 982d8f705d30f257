"""Certificates: the signed statement of a release, for everyone who may see the release."""

from fastapi import APIRouter, Request, Response

from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import UNCHANGED, answers, unchanging
from pratique_privacy.http.results import released
from pratique_privacy.http.services import Services
from pratique_shared.contracts.facts import Published
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Conflict

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
    outcome = released(await present_release(services, caller, release_id))
    return unchanging(request, (await certificate_of(services, outcome)).decode())


async def certificate_of(services: Services, outcome: Published) -> bytes:
    """Return the certificate of a published release; raises `Conflict` for one of before there were certificates."""
    if outcome.certificate is None:
        raise Conflict("not-certified", "This release was published without a certificate: ask for a new release.")
    return await services.archive.releases_room.blob_bytes(outcome.certificate)
