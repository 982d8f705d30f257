"""Bundles: the evidence of a release as one file, as far as its reader may see."""

from functools import cache
from importlib.resources import files as resources
from typing import Final, assert_never

from fastapi import APIRouter, Request, Response

from pratique_privacy.evidence.bundle import Parts, Reader, bundle_of
from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import answers, files
from pratique_privacy.http.downloads import made, served
from pratique_privacy.http.results import leaving
from pratique_privacy.keys import Role

router = APIRouter(prefix="/releases/{release_id}", tags=["evidence"])

ZIP: Final = "application/zip"


@router.get(
    "/bundle",
    operation_id="getBundle",
    response_class=Response,
    summary="The evidence of a release in one file",
    responses={**files(ZIP), **answers(404, 409, 410, 416)},
)
async def get_bundle(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Give certificate, posture, policy, Croissant metadata, datasheet and verifier; records for who may read them."""
    facts = await present_release(services, caller, release_id)
    outcome, certificate = await leaving(services, facts)
    reader, room = reader_of(caller.role), services.archive.releases_room
    shown = outcome.disclosures if reader.before else None
    parts = Parts(
        certificate=certificate,
        verifier=verifier(),
        disclosures=None if shown is None else await room.blob_bytes(shown),
        records=await room.blob_bytes(outcome.files["parquet"]) if reader.records else None,
    )
    return await served(request, made(bundle_of(facts, reader, parts), ZIP, f"{release_id}-evidence.zip"))


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
