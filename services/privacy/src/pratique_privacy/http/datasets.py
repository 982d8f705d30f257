"""Datasets: tables of the user's own, read and typed in a child."""

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from pratique_privacy.http.access import Called, Reach, is_id
from pratique_privacy.http.answers import Limit, accepted, after_id, answer, answers, id_cursor, takes_bytes
from pratique_privacy.http.body import read_bytes
from pratique_privacy.http.examples import TABLES
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.intake import Labels, labels, sha256_of
from pratique_privacy.http.resources import DatasetResource, PageOf, dataset_resource
from pratique_privacy.http.services import Services
from pratique_privacy.keys import Caller
from pratique_privacy.tables import DatasetTable
from pratique_shared.contracts.facts import ColumnType, DatasetReady
from pratique_shared.contracts.media import Upload
from pratique_shared.contracts.problems import Gone, Unsupported, no_such
from pratique_shared.runtime.clock import fresh_name, new_id, stamp

router = APIRouter(prefix="/datasets", tags=["datasets"])

MEDIA: Final[dict[str, Upload]] = {
    "text/csv": "csv",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/json": "json",
}


@router.post(
    "",
    operation_id="addDataset",
    status_code=201,
    response_model=DatasetResource,
    summary="Send a table: CSV, NDJSON, or JSON `{rows}`",
    responses=answers(400, 413, 415, 507),
    openapi_extra=takes_bytes("text/csv", "application/x-ndjson", "application/json", examples=TABLES),
)
async def add_dataset(
    request: Request,
    caller: Called,
    services: Reach,
    said: Annotated[Labels, Depends(labels)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Take a table in; its columns have one type each when this answers."""
    media = _media(request)
    data = await read_bytes(request, services.limits.dataset_bytes)
    digest = sha256_of(data)
    described = repr((media, said.name, said.pilot, said.open_to)).encode()
    slot = slot_of(services.archive, caller, "dataset", idempotency_key, described, digest)
    if (held := await slot.held()) is not None and await _exists(services, held):
        return await _taken(services, caller, held, replayed=True)
    table = await services.tables.dataset(media, data)
    identity = await slot.claim(held or new_id("dst"))
    if not await _exists(services, identity):
        await _take_in(services, caller, said, table, identity)
    return await _taken(services, caller, identity)


def _media(request: Request) -> Upload:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent not in MEDIA:
        raise Unsupported("not-a-table", f"Say what it is by Content-Type: {', '.join(MEDIA)}.")
    return MEDIA[sent]


async def _exists(services: Services, identity: str) -> bool:
    return "requested" in await services.archive.captures.names(identity)


async def _take_in(services: Services, caller: Caller, said: Labels, table: DatasetTable, identity: str) -> None:
    room = services.archive.captures_room
    blob = await room.put_bytes(f"blobs/{identity}/{fresh_name()}-table", table.parquet)
    ready = DatasetReady(
        id=identity,
        tenant=caller.tenant,
        name=said.name,
        pilot=said.pilot,
        open_to=said.open_to,
        rows=table.rows,
        columns=tuple(ColumnType(name=name, type=kind) for name, kind in table.columns.items()),
        table=blob,
        created_at=stamp(),
    )
    await services.archive.add_dataset(ready)


async def _taken(services: Services, caller: Caller, identity: str, *, replayed: bool = False) -> Response:
    ready, _ = await services.archive.dataset(caller.tenant, identity)
    return answer(dataset_resource(ready), 201, accepted(f"/datasets/{identity}", 201, replayed=replayed))


@router.get("", operation_id="listDatasets", response_model=PageOf[DatasetResource], responses=answers())
async def list_datasets(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("dst")] = None
) -> Response:
    """List the datasets of the tenant, newest first; deleted ones are left out."""
    page = await services.archive.page("dst", caller.tenant, id_cursor("dst", after), limit)
    found = await asyncio.gather(*(services.archive.dataset(caller.tenant, identity) for identity in page.ids))
    data = tuple(dataset_resource(ready) for ready, deleted in found if not deleted)
    return answer(PageOf[DatasetResource](data=data, next=page.next))


@router.get("/{dataset_id}", operation_id="getDataset", response_model=DatasetResource, responses=answers(404, 410))
async def get_dataset(dataset_id: str, caller: Called, services: Reach) -> Response:
    """Describe a dataset."""
    ready, deleted = await _dataset(services, caller, dataset_id)
    if deleted:
        raise Gone("deleted", "This dataset was deleted and its rows are gone: send the table again.")
    return answer(dataset_resource(ready))


@router.delete(
    "/{dataset_id}", operation_id="deleteDataset", status_code=204, response_class=Response, responses=answers(404, 507)
)
async def delete_dataset(dataset_id: str, caller: Called, services: Reach) -> Response:
    """Shred the rows of a dataset; releases made of it keep their digests only."""
    await _dataset(services, caller, dataset_id)
    await services.archive.delete_source(dataset_id)
    return Response(status_code=204)


async def _dataset(services: Services, caller: Caller, dataset_id: str) -> tuple[DatasetReady, bool]:
    if not is_id("dst", dataset_id):
        raise no_such("dataset")
    return await services.archive.dataset(caller.tenant, dataset_id)
