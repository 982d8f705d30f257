"""What the API and the worker ask of the table children: whatever takes a core or holds many rows in memory.

Each method is one call to a spawned child (`pratique_privacy.table_child`), so that neither the API's loop nor the
worker's heartbeat waits for polars.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pratique_privacy.composition import Composition, Joined, Said
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import ColumnKind
from pratique_shared.contracts.facts import Measured, ReleaseRequested
from pratique_shared.contracts.media import Format, Media, Upload
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import MeasuredFigures, PpiParameters, Unit
from pratique_shared.contracts.studies import ProfilesWork, Recommendation
from pratique_shared.runtime.child_process import Limits, Reply
from pratique_shared.runtime.children import Children, these

Row = dict[str, Any]

TABLE_CHILD = "pratique_privacy.table_child:answer"
LIMITS = Limits(memory=6 << 30, seconds=1800)


@dataclass(frozen=True)
class SourceBytes:
    """One table of a source as it is kept: `json` (an array or {rows}), `ndjson`, `csv` or `parquet`.

    `pilot` is that of the capture or dataset, for rows that name none.
    """

    media: Media
    data: bytes = field(repr=False)
    pilot: str | None = None
    unit: Unit = "row"


@dataclass(frozen=True)
class Admitted:
    """A request whose attributes and policy stand on its columns."""

    attributes: Attributes
    columns: dict[str, ColumnKind]


@dataclass(frozen=True)
class DatasetTable:
    """A dataset read and typed: Parquet bytes and columns."""

    parquet: bytes = field(repr=False)
    rows: int
    columns: dict[str, ColumnKind]


@dataclass(frozen=True)
class MeasuredTable:
    """What a policy made of a source: its figures, the table, and the code matrix."""

    figures: MeasuredFigures
    table: bytes = field(repr=False)
    matrix: bytes = field(repr=False)
    matrix_rows: int
    matrix_columns: int


@dataclass(frozen=True)
class RankedTable:
    """What a utility study is told of a table, and what belongs into its answer (label names are values)."""

    matrix: bytes = field(repr=False)
    rows: int
    columns: int
    about: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class ReleasedFiles:
    """The files of a release, built anew and read back; the types of the columns."""

    files: dict[Format, bytes] = field(repr=False)
    schema_types: dict[str, str]


class Tables:
    """The calls."""

    def __init__(self, children: Children) -> None:
        self._children = children

    async def ready(self) -> None:
        """Wait until the children can work."""
        await self._children.ready()

    async def admit(
        self,
        source: SourceBytes | None,
        columns: dict[str, ColumnKind] | None,
        *,
        policy: Policy,
        attributes: Attributes | None,
        built_in: str | None,
        pilot: str | None,
    ) -> Admitted:
        """Hold attributes and policy against the source's columns; raises the `Problem` of what cannot stand.

        Give the rows, or only the `columns` where the source is still being made.
        """
        body = {
            "op": "admit",
            "columns": columns,
            "policy": policy.model_dump(),
            "attributes": None if attributes is None else attributes.model_dump(),
            "built_in": built_in,
            "pilot": pilot,
        }
        reply = await self._call(body, [] if source is None else [source])
        return Admitted(Attributes.model_validate(reply.body["attributes"]), reply.body["columns"])

    async def dataset(self, media: Upload, data: bytes) -> DatasetTable:
        """Read and type an uploaded table; raises the `Problem` of what cannot be read."""
        reply = await self._call({"op": "dataset"}, [SourceBytes(media, data)])
        return DatasetTable(reply.blobs[0], reply.body["rows"], reply.body["columns"])

    async def measure(
        self, requested: ReleaseRequested, sources: Sequence[SourceBytes], tenant_key: bytes
    ) -> MeasuredTable:
        """Apply the policy and compute every figure before and after."""
        body = {"op": "measure", "requested": requested.model_dump(mode="json"), "tenant_key": tenant_key.hex()}
        reply = await self._call(body, sources)
        return MeasuredTable(
            MeasuredFigures.model_validate(reply.body["figures"]),
            reply.blobs[0],
            reply.blobs[1],
            reply.body["matrix_rows"],
            reply.body["matrix_columns"],
        )

    async def publish(
        self, requested: ReleaseRequested, measured: Measured, table: bytes, sources: Sequence[SourceBytes]
    ) -> ReleasedFiles:
        """Make the files of a passing release; raises `Conflict` where what would leave is not what was measured."""
        body = {
            "op": "publish",
            "requested": requested.model_dump(mode="json"),
            "measured": measured.model_dump(mode="json"),
        }
        reply = await self._call(body, sources, table)
        return ReleasedFiles(dict(zip(reply.body["formats"], reply.blobs, strict=True)), reply.body["schema_types"])

    async def preview(
        self,
        sources: Sequence[SourceBytes],
        *,
        policy: Policy,
        attributes: Attributes | None,
        built_in: str | None,
        ppi: PpiParameters,
        pilot: str | None,
        tenant_key: bytes,
        rows: int,
        suggest: bool,
    ) -> dict[str, Any]:
        """Return `{before: {metrics, rows}, after: {metrics, rows}, suggestions, flags, findings}`; nothing is kept."""
        body = {
            "op": "preview",
            "policy": policy.model_dump(),
            "attributes": None if attributes is None else attributes.model_dump(),
            "built_in": built_in,
            "ppi": ppi.model_dump(),
            "pilot": pilot,
            "tenant_key": tenant_key.hex(),
            "rows": rows,
            "suggest": suggest,
        }
        return (await self._call(body, sources)).body

    async def classify(self, sources: Sequence[SourceBytes]) -> list[dict[str, Any]]:
        """Suggest a class for every column, with the reason."""
        found: list[dict[str, Any]] = (await self._call({"op": "classify"}, sources)).body["columns"]
        return found

    async def page(self, source: SourceBytes, offset: int, limit: int) -> list[Row]:
        """Return rows offset .. offset + limit of a table as plain JSON."""
        reply = await self._call({"op": "page", "offset": offset, "limit": limit}, [source])
        rows: list[Row] = reply.body["rows"]
        return rows

    async def export(self, source: SourceBytes, form: Format) -> bytes:
        """Return a whole table in another format."""
        return (await self._call({"op": "export", "format": form}, [source])).blobs[0]

    async def generalise(self, question: dict[str, Any]) -> bytes:
        """Return the JSON of `{results: [..]}` for profiles, taxonomy, gamma (a list) and what else bears on them."""
        return (await self._call({"op": "generalise", "question": question}, [])).blobs[0]

    async def risk(self, measured: Measured, table: bytes, by: Sequence[str], k_target: int) -> dict[str, Any]:
        """Return class sizes, subset exposure, attributes and smallest classes of a release, as asked for in `by`."""
        body = {"op": "risk", "measured": measured.model_dump(mode="json"), "by": list(by), "k_target": k_target}
        return (await self._call(body, [], table)).body

    async def ranks(
        self, sources: Sequence[SourceBytes], released: bytes | None, features: Sequence[str], label: str
    ) -> RankedTable:
        """Return features as ranks and labels as codes, of sources or of the table of a release."""
        body = {"op": "ranks", "features": list(features), "label": label}
        reply = await self._call(body, sources, released)
        return RankedTable(reply.blobs[0], reply.body["rows"], reply.body["columns"], reply.body["about"])

    async def sweep(self, rows: Sequence[Row], *, seed: int) -> dict[str, Any]:
        """Return means and deviations, correlations and findings over the releases of a sweep."""
        data = json.dumps(list(rows)).encode()
        return (await self._call({"op": "sweep", "seed": seed}, [], data)).body

    async def compose(self, parts: Sequence[Said], tables: Sequence[bytes], forget: float) -> Composition:
        """Join the first of these releases with the others; `tables` are theirs, in the same order."""
        described = [
            {
                "policy": said.policy.model_dump(mode="json"),
                "key_epoch": said.key_epoch,
                "quasi_identifiers": said.quasi_identifiers,
                "read": said.read,
                "source_rows": said.source_rows,
            }
            for said in parts
        ]
        reply = await self._children.call({"op": "compose", "parts": described, "forget": forget}, these(*tables))
        joined = tuple(Joined(**each) for each in reply.body.pop("joined"))
        return Composition(joined=joined, **reply.body)

    async def recommend(
        self, asked: Recommendation, sources: Sequence[SourceBytes], pilot: str | None, tenant_key: bytes
    ) -> bytes:
        """Return, as JSON, the policy of least loss that passes the gate, and the front of risk against loss."""
        body = {
            "op": "recommend",
            "asked": asked.model_dump(mode="json"),
            "pilot": pilot,
            "tenant_key": tenant_key.hex(),
        }
        return (await self._call(body, sources)).blobs[0]

    async def generalise_hosts(self, work: ProfilesWork, sources: Sequence[SourceBytes]) -> dict[str, Any]:
        """Return the optimal strategies of every distinct host profile of a capture, and whose it is."""
        body = {"op": "generalise_hosts", "gammas": list(work.gammas), "compare": list(work.compare), "seed": work.seed}
        found: dict[str, Any] = json.loads((await self._call(body, sources)).blobs[0])
        return found

    async def suggestions(
        self, requested: ReleaseRequested, measured: Measured, table: bytes, sources: Sequence[SourceBytes], key: bytes
    ) -> list[dict[str, Any]]:
        """Return what would help, each with its reason, its patch and its predicted effect."""
        body = {
            "op": "suggestions",
            "requested": requested.model_dump(mode="json"),
            "measured": measured.model_dump(mode="json"),
            "tenant_key": key.hex(),
        }
        found: list[dict[str, Any]] = (await self._call(body, sources, table)).body["suggestions"]
        return found

    async def release_preview(
        self, measured: Measured, table: bytes, sources: Sequence[SourceBytes], rows: int
    ) -> list[dict[str, Any]]:
        """Return the first rows before and after, with class sizes and the columns that changed."""
        body = {"op": "release_preview", "measured": measured.model_dump(mode="json"), "rows": rows}
        found: list[dict[str, Any]] = (await self._call(body, sources, table)).body["rows"]
        return found

    async def _call(self, body: dict[str, Any], sources: Sequence[SourceBytes], table: bytes | None = None) -> Reply:
        described = [{"media": s.media, "pilot": s.pilot, "unit": s.unit} for s in sources]
        blobs = ([] if table is None else [table]) + [s.data for s in sources]
        return await self._children.call({**body, "sources": described}, these(*blobs))

    def close(self) -> None:
        """End the children."""
        self._children.close()
