"""Sources: the tables of records that a release is made of, by blob and digest."""

from collections.abc import Sequence

from pratique_privacy.archive import Archive
from pratique_privacy.tables import SourceBytes
from pratique_shared.contracts.facts import (
    CaptureFailed,
    CaptureReady,
    ReleaseRequested,
    SourceTable,
)
from pratique_shared.contracts.media import Media
from pratique_shared.contracts.posture import Unit
from pratique_shared.contracts.problems import Conflict, Gone
from pratique_shared.contracts.releases import Source
from pratique_shared.runtime.sealing import BrokenSeal


class Sources:
    """Finds and reads the sources of releases."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def resolve(self, requested: ReleaseRequested) -> tuple[SourceTable, ...] | None:
        """Return the tables of a release, or None while one of its captures is still being profiled.

        Raises `Gone` for a source that was deleted, `Conflict` for a capture that failed.
        """
        if requested.inline is not None:
            return (SourceTable(origin="inline", pilot=requested.pilot, blob=requested.inline),)
        return await self.tables(requested.tenant, requested.source)

    async def tables(self, tenant: str, source: Source) -> tuple[SourceTable, ...] | None:
        """Return the tables of captures or of a dataset; raises as `resolve`."""
        if source.dataset is not None:
            ready, deleted = await self._archive.dataset(tenant, source.dataset)
            if deleted:
                raise _gone()
            return (SourceTable(origin=source.dataset, pilot=ready.pilot, blob=ready.table),)
        tables = []
        for capture_id in source.capture_ids:
            capture = await self._archive.capture(tenant, capture_id)
            match capture.outcome:
                case _ if capture.deleted:
                    raise _gone()
                case CaptureFailed():
                    raise Conflict("source-failed", "The capture could not be profiled: its own error says why.")
                case CaptureReady(host_records=hosts, session_records=sessions):
                    blob = hosts if source.unit == "host" else sessions
                    tables.append(SourceTable(origin=capture_id, pilot=capture.requested.pilot, blob=blob))
                case None:
                    return None
        return tuple(tables)

    async def read(self, tables: Sequence[SourceTable], unit: Unit) -> list[SourceBytes]:
        """Read the bytes of tables, held against their digests; raises `Gone` where a source was deleted meanwhile."""
        found = []
        for table in tables:
            room = self._archive.releases_room if table.origin == "inline" else self._archive.captures_room
            if table.origin != "inline" and "deleted" in await self._archive.captures.names(table.origin):
                raise _gone()
            try:
                data = await room.blob_bytes(table.blob)
            except BrokenSeal:
                if table.origin != "inline" and "deleted" in await self._archive.captures.names(table.origin):
                    raise _gone() from None  # deleted between the look and the reading
                raise
            found.append(SourceBytes(_media(table.origin), data, table.pilot, _unit(table.origin, unit)))
        return found


def _gone() -> Gone:
    return Gone("source-gone", "A source of this release was deleted: take it in again.")


def _media(origin: str) -> Media:
    if origin == "inline":
        return "json"
    return "parquet" if origin.startswith("dst_") else "ndjson"


def _unit(origin: str, unit: Unit) -> Unit:
    return unit if origin.startswith("cap_") else "row"
