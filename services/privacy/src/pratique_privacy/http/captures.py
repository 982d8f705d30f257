"""Captures: taken in, listed, looked into, deleted."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from pratique_privacy.archive import Archive, Capture
from pratique_privacy.http.access import Called, Reach, is_id
from pratique_privacy.http.answers import (
    UNCHANGED,
    UNKEPT,
    After,
    Limit,
    Prefer,
    accepted,
    after_id,
    answer,
    answers,
    asked_to_wait,
    files,
    finished,
    id_cursor,
    offset_cursor,
    tagged,
    takes_bytes,
)
from pratique_privacy.http.downloads import made, served
from pratique_privacy.http.formats import MEDIA_TYPES, form_asked
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.intake import Labels, labels, store_capture
from pratique_privacy.http.resources import CaptureResource, PageOf, capture_resource
from pratique_privacy.http.services import Services
from pratique_privacy.keys import Caller
from pratique_privacy.tables import Row, SourceBytes
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.facts import Blob, CaptureReady, CaptureRequested
from pratique_shared.contracts.media import Form, file_name
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Conflict, Gone, Unprocessable, no_such
from pratique_shared.runtime.clock import new_id, stamp
from pratique_shared.runtime.traces import here

router = APIRouter(prefix="/captures", tags=["captures"])
MaxPackets = Annotated[
    int | None,
    Query(ge=1, le=1 << 53, description="Profile the first so many frames; cut elsewhere it is another capture."),
]


class Sighted(Contract):
    """A subscriber identifier, in how many frames it stood, and the hosts that exchanged them."""

    value: str
    packets: int
    hosts: tuple[str, ...]


class IdentifiersResource(Contract):
    """The subscriber identifiers of a capture, by kind."""

    imsi: tuple[Sighted, ...] = ()
    suci: tuple[Sighted, ...] = ()
    guti: tuple[Sighted, ...] = ()
    guti_4g: tuple[Sighted, ...] = ()
    s_tmsi: tuple[Sighted, ...] = ()
    msisdn: tuple[Sighted, ...] = ()
    imei: tuple[Sighted, ...] = ()


@router.post(
    "",
    operation_id="addCapture",
    status_code=202,
    response_model=CaptureResource,
    summary="Send a pcap or pcapng file (plain, gzip or zstd)",
    responses={
        200: {"model": CaptureResource, "description": "These bytes are here already, for this pilot."},
        201: {"model": CaptureResource, "description": "Profiled within the time of `Prefer: wait`."},
        **answers(400, 413, 415, 507),
    },
    openapi_extra=takes_bytes("application/octet-stream", "application/vnd.tcpdump.pcap"),
)
async def add_capture(
    request: Request,
    caller: Called,
    services: Reach,
    said: Annotated[Labels, Depends(labels)],
    max_packets: MaxPackets = None,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Take a capture in: it is durable when this answers, and profiled soon after."""
    archive, fresh = services.archive, new_id("cap")
    room = archive.captures_room
    raw = await store_capture(room, f"blobs/{fresh}/raw", request, services.limits.capture_bytes)
    described = repr((said.name, said.pilot, said.open_to, max_packets)).encode()
    wait = asked_to_wait(prefer, services.limits.wait_seconds)
    slot = slot_of(archive, caller, "capture", idempotency_key, described, raw.sha256.encode())
    try:
        claimed = await slot.claim(fresh)
    except Unprocessable:
        await room.shred(raw)
        raise
    if (known := await _known(archive, caller, said, raw, max_packets, claimed)) is not None:
        await room.shred(raw)
        replayed = claimed != fresh
        if not replayed:
            known = await _relabelled(archive, known, said)
        return await _taken(services, known, 202 if replayed else 200, wait, replayed=replayed)
    standing = await _take_in(archive, caller, said, raw, max_packets, fresh)
    capture = await archive.capture(caller.tenant, standing)
    if standing != fresh:
        capture = await _relabelled(archive, capture, said)
    return await _taken(services, capture, 202 if standing == fresh else 200, wait)


async def _known(
    archive: Archive, caller: Caller, said: Labels, raw: Blob, max_packets: int | None, claimed: str
) -> Capture | None:
    """Return the capture that an earlier request of this key made, or that holds the same bytes for the same pilot."""
    earlier = await archive.any_capture(claimed)
    if earlier is not None and not earlier.deleted:
        return earlier
    return await archive.same_capture(caller.tenant, said.pilot, raw.sha256, max_packets)


async def _relabelled(archive: Archive, capture: Capture, said: Labels) -> Capture:
    """Let what is said of bytes that are here already count from now on; what is not said stays."""
    requested = capture.requested
    name = said.name if "name" in said.given else requested.name
    open_to = said.open_to if "open_to" in said.given else requested.open_to
    return await archive.relabel(capture, name, open_to)


async def _take_in(
    archive: Archive, caller: Caller, said: Labels, raw: Blob, max_packets: int | None, identity: str
) -> str:
    """Write the facts of a capture; return the id that stands for its bytes.

    The capture comes first and its digest second: a crash between the two costs a second profile of the same bytes,
    while a digest never names a capture that was not taken in. Who loses the race for the digest deletes its own.
    """
    requested = CaptureRequested(
        id=identity,
        tenant=caller.tenant,
        name=said.name,
        pilot=said.pilot,
        open_to=said.open_to,
        raw=raw,
        max_packets=max_packets,
        created_at=stamp(),
        traceparent=here(),
    )
    await archive.add_capture(requested)
    standing = await archive.name_digest(requested)
    if standing != identity:
        await archive.delete_source(identity)
    return standing


async def _taken(services: Services, capture: Capture, status: int, wait: float, *, replayed: bool = False) -> Response:
    """Ring ingest and answer: 202, 201 if the profile was waited for, 200 for bytes that were here before."""
    identity, waited = capture.requested.id, False
    if capture.outcome is None:
        await services.bell.ring("ingest", Message(task="profile", id=identity))
        waited = await finished(_profiled(services.archive, identity), wait)
    if waited:
        capture = await services.archive.any_capture(identity) or capture
        status = 201 if status == 202 else status
    headers = accepted(f"/captures/{identity}", status, replayed=replayed, waited=waited)
    return answer(capture_resource(capture, {}), status, headers)


def _profiled(archive: Archive, identity: str) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return "outcome" in await archive.captures.names(identity)

    return look


@router.get("", operation_id="listCaptures", response_model=PageOf[CaptureResource], responses=answers())
async def list_captures(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("cap")] = None
) -> Response:
    """List the captures of the tenant, newest first; deleted ones are left out."""
    page = await services.archive.page("cap", caller.tenant, id_cursor("cap", after), limit)
    known = await asyncio.gather(*map(services.archive.any_capture, page.ids))
    found = [
        capture_resource(capture, await _progress(services, capture))
        for capture in known
        if capture is not None and not capture.deleted
    ]
    return answer(PageOf[CaptureResource](data=tuple(found), next=page.next))


@router.get("/{capture_id}", operation_id="getCapture", response_model=CaptureResource, responses=answers(404, 410))
async def get_capture(capture_id: str, caller: Called, services: Reach) -> Response:
    """Say where a capture stands, and what is in it once it is ready."""
    capture = await _capture(services, caller, capture_id)
    return answer(capture_resource(capture, await _progress(services, capture)))


@router.get(
    "/{capture_id}/records",
    operation_id="getCaptureRecords",
    response_model=PageOf[Row],
    responses={**files(*MEDIA_TYPES.values()), **answers(404, 406, 409, 410, 416)},
)
async def get_records(
    request: Request,
    capture_id: str,
    caller: Called,
    services: Reach,
    unit: RecordUnit = "host",
    form: Annotated[Form | None, Query(alias="format")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Give the raw records of a capture: a JSON page, or all of them as CSV, NDJSON, Parquet or an Arrow stream."""
    ready = _ready(await _capture(services, caller, capture_id))
    blob, rows = (ready.host_records, ready.hosts) if unit == "host" else (ready.session_records, ready.sessions)
    table = SourceBytes("ndjson", await services.archive.captures_room.blob_bytes(blob), unit=unit)
    asked, offset = form_asked(request, form, "json"), offset_cursor(after)
    if asked == "json":
        data = await services.tables.page(table, offset, limit) if offset < rows else []
        following = str(offset + limit) if offset + limit < rows else None
        return tagged(request, json.dumps({"data": data, "next": following}).encode(), MEDIA_TYPES["json"], UNKEPT)
    exported = await services.tables.export(table, asked)
    return await served(request, made(exported, MEDIA_TYPES[asked], file_name(f"{capture_id}-{unit}", asked)), UNKEPT)


@router.get(
    "/{capture_id}/identifiers",
    operation_id="getCaptureIdentifiers",
    response_model=IdentifiersResource,
    responses={**UNCHANGED, **answers(404, 409, 410)},
)
async def get_identifiers(request: Request, capture_id: str, caller: Called, services: Reach) -> Response:
    """Give the subscriber identifiers that were seen, each with its frames and hosts."""
    ready = _ready(await _capture(services, caller, capture_id))
    data = await services.archive.captures_room.blob_bytes(ready.identifiers)
    return tagged(request, data, MEDIA_TYPES["json"], UNKEPT)


@router.delete(
    "/{capture_id}", operation_id="deleteCapture", status_code=204, response_class=Response, responses=answers(404, 507)
)
async def delete_capture(capture_id: str, caller: Called, services: Reach) -> Response:
    """Shred the raw bytes and records of a capture; releases made of it keep their digests only."""
    if not is_id("cap", capture_id):
        raise no_such("capture")
    await services.archive.capture(caller.tenant, capture_id)
    await services.archive.delete_source(capture_id)
    return Response(status_code=204)


async def _capture(services: Services, caller: Caller, capture_id: str) -> Capture:
    if not is_id("cap", capture_id):
        raise no_such("capture")
    capture = await services.archive.capture(caller.tenant, capture_id)
    if capture.deleted:
        raise Gone("deleted", "This capture was deleted and its records are gone: send the file again.")
    return capture


def _ready(capture: Capture) -> CaptureReady:
    match capture.outcome:
        case CaptureReady() as ready:
            return ready
        case None:
            raise Conflict("not-finished", "The capture is still being profiled: ask again when it is ready.")
        case _:
            raise Conflict("source-failed", "The capture could not be profiled: its own error says why.")


async def _progress(services: Services, capture: Capture) -> dict[str, object]:
    """Return packets, bytes and the share of the file that were read, as far as the worker tells."""
    if capture.outcome is not None:
        return {}
    told = await services.bell.progress(capture.requested.id)
    if not told:
        return {}
    total, read = capture.requested.raw.bytes, told.get("bytes", 0)
    return {"packets": told.get("packets", 0), "bytes": read, "share": min(read / total, 1.0) if total else 1.0}
