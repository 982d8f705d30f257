"""Bundles: the evidence of a release as one file, as far as its reader may see."""

import hashlib
from functools import cache
from importlib.resources import files as resources
from typing import Final, assert_never

from fastapi import APIRouter, Request, Response

from pratique_privacy.evidence.bundle import Parts, Reader, bundle_of
from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import answers, is_known, private
from pratique_privacy.http.certificates import certificate_of
from pratique_privacy.http.formats import digest_header
from pratique_privacy.http.results import released
from pratique_privacy.keys import Role

router = APIRouter(prefix="/releases/{release_id}", tags=["evidence"])

ZIP: Final = "application/zip"


@router.get(
    "/bundle",
    operation_id="getBundle",
    response_class=Response,
    summary="The evidence of a release in one file",
    responses={
        200: {
            "description": "The bundle.",
            "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
        },
        **answers(404, 409, 410),
    },
)
async def get_bundle(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give certificate, posture, policy, Croissant metadata, datasheet and verifier; records for who may read them."""
    facts = await present_release(services, caller, release_id)
    outcome, reader, room = released(facts), reader_of(caller.role), services.archive.releases_room
    certificate = await certificate_of(services, outcome)
    shown = outcome.disclosures if reader.before else None
    parts = Parts(
        certificate=certificate,
        verifier=verifier(),
        disclosures=None if shown is None else await room.blob_bytes(shown),
        records=await room.blob_bytes(outcome.files["parquet"]) if reader.records else None,
    )
    data = bundle_of(facts, reader, parts)
    digest = hashlib.sha256(data).hexdigest()
    headers = private(f'"{digest}"')
    if is_known(request, headers["ETag"]):
        return Response(None, 304, headers)
    headers |= {
        "Repr-Digest": digest_header(digest),
        "Content-Disposition": f'attachment; filename="{release_id}-evidence.zip"',
    }
    return Response(data, 200, headers, media_type=ZIP)


def reader_of(role: Role) -> Reader:
    """Return what a role may see of a release."""
    match role:
        case "operator" | "admin":
            return Reader(records=True, before=True, tables=True)
        case "auditor":
            return Reader(records=False, before=True, tables=False)
        case "recipient":
            return Reader(records=True, before=False, tables=False)
        case _:
            assert_never(role)


@cache
def verifier() -> bytes:
    """Return the script that verifies a certificate without this service."""
    return resources("pratique_privacy.shipped").joinpath("verify.py").read_bytes()
