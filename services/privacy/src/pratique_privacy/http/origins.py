"""Origins: the sources that a request names, looked up, held against who asks, kept and read."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pratique_privacy.admission import SourceDigest
from pratique_privacy.archive import Archive, Capture
from pratique_privacy.keys import Caller
from pratique_privacy.tables import Row, SourceBytes
from pratique_shared.contracts.captures import HOST_COLUMNS, SESSION_COLUMNS, ColumnKind
from pratique_shared.contracts.facts import Blob, CaptureFailed, CaptureReady, DatasetReady
from pratique_shared.contracts.posture import Unit
from pratique_shared.contracts.problems import (
    Conflict,
    FieldError,
    Gone,
    NotFound,
    Problem,
    Unprocessable,
    no_such,
    pointer,
)
from pratique_shared.contracts.releases import Source
from pratique_shared.runtime.clock import fresh_name


@dataclass(frozen=True)
class Origins:
    """The sources of a request: captures, a dataset, or rows of its own (as JSON bytes)."""

    unit: Unit
    captures: tuple[Capture, ...] = ()
    dataset: DatasetReady | None = None
    inline: bytes | None = field(default=None, repr=False)
    inline_rows: int = 0

    @property
    def columns(self) -> dict[str, ColumnKind]:
        """The columns of a capture's records, known before it is profiled."""
        return SESSION_COLUMNS if self.unit == "session" else HOST_COLUMNS

    def digests(self) -> tuple[SourceDigest, ...]:
        """Name the sources by their bytes."""
        if self.inline is not None:
            return (SourceDigest(hashlib.sha256(self.inline).hexdigest(), None),)
        if self.dataset is not None:
            return (SourceDigest(self.dataset.table.sha256, self.dataset.pilot),)
        return tuple(SourceDigest(c.requested.raw.sha256, c.requested.pilot) for c in self.captures)


async def find(archive: Archive, caller: Caller, source: Source) -> Origins:
    """Look the sources up. Raises `NotFound` for one that the caller may not know of, `Gone` for one that was deleted,
    `Conflict` for one that failed, `Unprocessable` for one without records."""
    if source.records is not None:
        return await _inline(source.records)
    if source.dataset is not None:
        return Origins("row", dataset=await _dataset(archive, caller, source.dataset))
    ids = source.capture_ids
    captures = [await _capture(archive, caller, identity, _at(source, place)) for place, identity in enumerate(ids)]
    _check_distinct(ids)
    sizes = [_rows(capture, source.unit) for capture in captures]
    if all(size == 0 for size in sizes):
        raise _empty("/source")
    return Origins(source.unit, tuple(captures))


async def find_at(where: str, archive: Archive, caller: Caller, source: Source) -> Origins:
    """Look up as `find` does what stands at `where` of a body that has no `source`: its errors point there."""
    try:
        return await find(archive, caller, source)
    except Problem as problem:
        problem.errors = tuple(replace(error, pointer=where) for error in problem.errors)
        raise


async def _inline(records: tuple[Row, ...]) -> Origins:
    if not records:
        raise _empty("/source/records")
    data = await asyncio.to_thread(lambda: json.dumps(records, separators=(",", ":")).encode())
    return Origins("row", inline=data, inline_rows=len(records))


async def _dataset(archive: Archive, caller: Caller, dataset_id: str) -> DatasetReady:
    missing = _missing("/source/dataset")
    try:
        ready, deleted = await archive.dataset(caller.tenant, dataset_id)
    except NotFound:
        raise missing from None
    _check_open(caller, ready.open_to, missing)
    if deleted:
        raise _gone("/source/dataset")
    if ready.rows == 0:
        raise _empty("/source/dataset")
    return ready


async def _capture(archive: Archive, caller: Caller, capture_id: str, where: str) -> Capture:
    missing = _missing(where)
    try:
        capture = await archive.capture(caller.tenant, capture_id)
    except NotFound:
        raise missing from None
    _check_open(caller, capture.requested.open_to, missing)
    if capture.deleted:
        raise _gone(where)
    if isinstance(capture.outcome, CaptureFailed):
        detail = "A source could not be profiled: its own error says why."
        raise Conflict("source-failed", detail, [FieldError(where, "has failed")])
    return capture


def _check_open(caller: Caller, open_to: tuple[str, ...], missing: NotFound) -> None:
    """A recipient knows of the sources that are open to it, and of no others."""
    if caller.role == "recipient" and caller.recipient not in open_to:
        raise missing


def _check_distinct(ids: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for place, identity in enumerate(ids):
        if identity in seen:
            error = FieldError(pointer("source", "captures", place), "stands in the list already")
            raise Unprocessable("source-twice", "A capture would be counted twice: name each one once.", [error])
        seen.add(identity)


def _at(source: Source, place: int) -> str:
    return "/source/capture" if source.captures is None else pointer("source", "captures", place)


def _rows(capture: Capture, unit: Unit) -> int | None:
    """Return the records of a capture, None while it is being profiled."""
    if not isinstance(capture.outcome, CaptureReady):
        return None
    return capture.outcome.hosts if unit == "host" else capture.outcome.sessions


def _missing(where: str) -> NotFound:
    errors = [FieldError(where, "names nothing that you may see")]
    return NotFound("source-not-found", no_such("source").detail, errors)


def _gone(where: str) -> Gone:
    detail = "A source was deleted: take it in again."
    return Gone("source-gone", detail, [FieldError(where, "was deleted")])


def _empty(where: str) -> Unprocessable:
    return Unprocessable("source-empty", "The source has no records.", [FieldError(where, "has no records")])


# Keeping --------------------------------------------------------------------------------------------------------


async def kept(archive: Archive, origins: Origins, source: Source, identity: str) -> tuple[Source, Blob | None]:
    """Store the records of a request's own; return the source as a fact names it, which holds no value."""
    if origins.inline is None:
        return source, None
    blob = await archive.releases_room.put_bytes(f"blobs/{identity}/{fresh_name()}-inline", origins.inline)
    return Source(records=(), unit=source.unit), blob


# Reading --------------------------------------------------------------------------------------------------------


async def sample(archive: Archive, origins: Origins) -> SourceBytes | None:
    """Return the one table that a request is admitted by; None where its columns are known without it."""
    if len(origins.captures) > 1 or any(capture.outcome is None for capture in origins.captures):
        return None
    return (await _tables(archive, origins))[0]


async def tables(archive: Archive, origins: Origins, most_rows: int | None = None) -> list[SourceBytes]:
    """Read all sources. Raises `Conflict` (`not-finished`) and, beyond `most_rows`, `Unprocessable`."""
    if any(capture.outcome is None for capture in origins.captures):
        raise Conflict("not-finished", "A capture is still being profiled: ask again when it is ready.")
    if most_rows is not None and _total(origins) > most_rows:
        error = [FieldError("/source", f"may have at most {most_rows} records here")]
        raise Unprocessable("too-many-records", "Give a smaller source, or ask for a release.", error)
    return await _tables(archive, origins)


def _total(origins: Origins) -> int:
    if origins.dataset is not None:
        return origins.dataset.rows
    return origins.inline_rows + sum(_rows(capture, origins.unit) or 0 for capture in origins.captures)


async def _tables(archive: Archive, origins: Origins) -> list[SourceBytes]:
    if origins.inline is not None:
        return [SourceBytes("json", origins.inline)]
    room = archive.captures_room
    if (dataset := origins.dataset) is not None:
        return [SourceBytes("parquet", await room.blob_bytes(dataset.table), dataset.pilot)]
    blob_of: Callable[[CaptureReady], Blob] = (
        (lambda ready: ready.session_records) if origins.unit == "session" else (lambda ready: ready.host_records)
    )
    return [
        SourceBytes("ndjson", await room.blob_bytes(blob_of(capture.outcome)), capture.requested.pilot, origins.unit)
        for capture in origins.captures
        if isinstance(capture.outcome, CaptureReady)
    ]
