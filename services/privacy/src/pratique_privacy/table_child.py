"""The table child: the operations of `pratique_privacy.tables`, run in a spawned process.

Everything that needs polars or holds many rows happens here; what comes in and goes out is JSON and bytes.
"""

import io
import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from pratique_privacy.advice import Predicted, classify, suggest
from pratique_privacy.composition import Part, compose, lasting_pseudonyms, source_ids
from pratique_privacy.files import ReleaseBlocked, read_file, verify_files, write_files
from pratique_privacy.generalisation.curve import Question, curve, document
from pratique_privacy.host_profiles import host_profiles
from pratique_privacy.identifiers import identifiers_in
from pratique_privacy.pipeline import Measurement, Request, code_matrix, fixed_bins, released_figures, run
from pratique_privacy.policy.apply import apply_policy, check_pilots
from pratique_privacy.policy.builtin import BUILT_IN, attributes_of
from pratique_privacy.policy.formulas import neutralised, restored_table
from pratique_privacy.policy.keys import Keys
from pratique_privacy.policy.validity import check_policy
from pratique_privacy.recommendation import recommend, wish_of
from pratique_privacy.risk_document import risk_document
from pratique_privacy.sweeps.figures import release_figures
from pratique_privacy.sweeps.results import Section, part_rows, summarise
from pratique_privacy.trial import class_size_of_each, trial_document
from pratique_privacy.utility.ranks import ranked
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.facts import Measured, ReleaseRequested
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import MeasuredFigures, Metrics, PpiParameters
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.studies import Recommendation
from pratique_shared.frames.datasets import read_dataset
from pratique_shared.frames.partition import with_dropped
from pratique_shared.frames.records import column_types, rows_of, table_of
from pratique_shared.runtime.child_process import Body, Call, Reply

PREVIEW_ROWS = 10_000


def answer(call: Call) -> Reply:
    """Answer one call. Runs in the child."""
    return OPERATIONS[call.body["op"]](call.body, list(call.blobs()))


def _admit(body: Body, blobs: list[bytes]) -> Reply:
    source = _source(body, blobs) if blobs else None
    if source is not None and not source.height:
        raise Unprocessable("source-empty", "The source holds no record: there is nothing to release.")
    columns = body["columns"] if source is None else dict(column_types(source))
    attributes = _attributes(body, columns)
    policy = Policy.model_validate(body["policy"])
    check_policy(attributes, policy, columns, sample=source)
    if source is not None:
        check_pilots(source, policy, _pilot(body, body["pilot"]))
        fixed_bins(source, attributes)
    return Reply({"attributes": attributes.model_dump(mode="json"), "columns": columns}, ())


def _dataset(body: Body, blobs: list[bytes]) -> Reply:
    table = read_dataset(blobs[0], body["sources"][0]["media"])
    return Reply({"rows": table.height, "columns": dict(column_types(table))}, (_parquet(table),))


def _measure(body: Body, blobs: list[bytes]) -> Reply:
    requested = ReleaseRequested.model_validate(body["requested"])
    source = _source(body, blobs)
    attributes = _attributes({**body["requested"], "built_in": requested.built_in}, dict(column_types(source)))
    tenant_key = bytes.fromhex(body["tenant_key"])
    request = _request(requested, attributes, _pilot(body, requested.pilot))
    made = run(source, request, _keys(tenant_key), secrets.token_bytes)
    codes = code_matrix(made.table, attributes, tenant_key, requested.digest)
    found = MeasuredFigures(
        attributes=attributes,
        unit=body["sources"][0]["unit"],
        records=made.records,
        before=made.before,
        after=made.after,
        all_columns=made.all_columns,
        flags=made.flags,
        findings=made.findings,
        versions={"polars": pl.__version__, "numpy": np.__version__},
        source_rows=(source.height,) if len(blobs) == 1 else tuple(len(blob.splitlines()) for blob in blobs),
    )
    table = made.table.with_columns(pl.Series(_KEPT, made.transformed.kept))
    reply = {"figures": found.model_dump(mode="json"), "matrix_rows": codes.shape[0], "matrix_columns": codes.shape[1]}
    return Reply(reply, (_parquet(table), np.ascontiguousarray(codes, dtype="<i4").tobytes()))


def _publish(body: Body, blobs: list[bytes]) -> Reply:
    requested = ReleaseRequested.model_validate(body["requested"])
    measured = Measured.model_validate(body["measured"])
    table = _kept_table(blobs[0])[0]
    source = _source(body, blobs[1:])
    bins = fixed_bins(source, measured.attributes)
    request = _request(requested, measured.attributes, None)
    unclassified = set(table.columns).difference(measured.attributes.published)
    if unclassified:
        raise ReleaseBlocked("columns-differ", "The table holds a column that the request does not publish.")
    files = write_files(table)
    read_back = verify_files(files, table, measured.after, lambda found: released_figures(found, request, bins))
    decoded = map(restored_table, read_back.values())  # an apostrophe must not hide an identifier from the scan
    if found := identifiers_in(decoded, source, measured.attributes):
        raise ReleaseBlocked(
            "identifier-found",
            f"{found} released cells hold a direct identifier of the source: suppress or drop the columns they are in.",
        )
    reply = {"formats": list(files), "schema_types": dict(column_types(table))}
    return Reply(reply, tuple(files.values()))


def _preview(body: Body, blobs: list[bytes]) -> Reply:
    source = _source(body, blobs)
    if source.height > PREVIEW_ROWS:
        raise Unprocessable(
            "preview-too-large", f"A preview takes at most {PREVIEW_ROWS} rows: post a release instead."
        )
    attributes = _attributes(body, dict(column_types(source)))
    policy, ppi = Policy.model_validate(body["policy"]), PpiParameters.model_validate(body["ppi"])
    request = Request(attributes, policy, ppi, _pilot(body, body["pilot"]))
    keys = _keys(bytes.fromhex(body["tenant_key"]))
    made = run(source, request, keys, secrets.token_bytes)
    document = trial_document(source, made, attributes, body["rows"])
    document["suggestions"] = _suggestions(source, request, made, keys) if body["suggest"] else []
    return Reply(document, ())


def _classify(body: Body, blobs: list[bytes]) -> Reply:
    source = _source(body, blobs)
    kinds = dict(column_types(source))
    return Reply({"columns": [{**found.document(), "type": kinds[found.column]} for found in classify(source)]}, ())


def _page(body: Body, blobs: list[bytes]) -> Reply:
    described = body["sources"][0]
    offset, limit = body["offset"], body["limit"]
    if described["media"] == "ndjson":  # records of a capture keep their objects; only the page is parsed
        lines = blobs[0].splitlines()[offset : offset + limit]
        return Reply({"rows": [json.loads(line) for line in lines]}, ())
    return Reply({"rows": rows_of(_table(described["media"], blobs[0]).slice(offset, limit))}, ())


def _export(body: Body, blobs: list[bytes]) -> Reply:
    table = _source(body, blobs)
    if body["format"] == "csv":  # the one form that spreadsheets run
        table = neutralised(table).table
    return Reply({}, (write_files(table)[body["format"]],))


def _risk(body: Body, blobs: list[bytes]) -> Reply:
    measured = Measured.model_validate(body["measured"])
    table, _ = _kept_table(blobs[0])
    names = measured.attributes.quasi_identifiers
    return Reply(risk_document(with_dropped(table, names), names, body["by"], body["k_target"]), ())


def _compose(body: Body, blobs: list[bytes]) -> Reply:
    places: dict[tuple[str, int], int] = {}
    parts = []
    for described, blob in zip(body["parts"], blobs, strict=True):
        table, kept = _kept_table(blob)
        pseudonyms = lasting_pseudonyms(Policy.model_validate(described["policy"]), described["key_epoch"])
        ids = source_ids(kept, described["read"], described["source_rows"], places)
        parts.append(Part(table, tuple(described["quasi_identifiers"]), ids, pseudonyms))
    return Reply(asdict(compose(parts[0], parts[1:], body["forget"])), ())


def _ranks(body: Body, blobs: list[bytes]) -> Reply:
    table = _source(body, blobs) if body["sources"] else _kept_table(blobs[0])[0]
    found = ranked(table, body["features"], body["label"])
    counts = np.bincount(found.codes[:, -1], minlength=len(found.labels)).tolist()
    about = {
        "records": found.codes.shape[0],
        "unlabelled": found.unlabelled,
        "label": body["label"],
        "features": body["features"],
        "labels": dict(zip(found.labels, counts, strict=True)),
    }
    rows, columns = found.codes.shape
    codes = np.ascontiguousarray(found.codes, dtype="<i4").tobytes()
    return Reply({"rows": rows, "columns": columns, "about": about}, (codes,))


def _sweep(body: Body, blobs: list[bytes]) -> Reply:
    rows = json.loads(blobs[0])
    whole = [release_figures(row) for row in rows if row["error"] is None]
    results = summarise(whole, np.random.default_rng(body["seed"]))
    sections: tuple[Section, ...] = ("averages", "correlations", "leads", "findings")
    return Reply({section: part_rows(results, section) for section in sections} | {"releases": rows}, ())


def _recommend(body: Body, blobs: list[bytes]) -> Reply:
    asked = Recommendation.model_validate(body["asked"])
    source = _source(body, blobs)
    pilot, keys = _pilot(body, body["pilot"]), _keys(bytes.fromhex(body["tenant_key"]))
    bins = fixed_bins(source, asked.attributes)
    first = Policy(steps=asked.first)
    made = apply_policy(source, first, asked.attributes, keys=keys, pilot=pilot, entropy=secrets.token_bytes)
    found = recommend(made.table, wish_of(asked), bins, asked.budget.evaluations, asked.budget.seconds, monotonic)
    return Reply({}, (json.dumps(found).encode(),))


def _generalise(body: Body, blobs: list[bytes]) -> Reply:  # noqa: ARG001 - profiles come in the body
    asked = body["question"]
    question = Question(
        profiles=asked["profiles"],
        levels=asked["taxonomy"],
        gammas=asked["gamma"],
        costs=asked["costs"],
        target=asked["target"],
        compare=asked["compare"],
        seed=asked["seed"],
    )
    return Reply({}, (json.dumps({"results": [document(point) for point in curve(question)]}).encode(),))


def _generalise_hosts(body: Body, blobs: list[bytes]) -> Reply:
    table = _source(body, blobs)
    cells = zip(table["ip"].to_list(), table["protocol_packets"].to_list(), strict=True)
    found = host_profiles(
        {host: json.loads(text) for host, text in cells}, body["gammas"], body["compare"], body["seed"]
    )
    return Reply({}, (json.dumps(found).encode(),))


def _suggestions_of_release(body: Body, blobs: list[bytes]) -> Reply:
    requested = ReleaseRequested.model_validate(body["requested"])
    measured = Measured.model_validate(body["measured"])
    request = _request(requested, measured.attributes, _pilot(body, requested.pilot))
    source = _source(body, blobs[1:])
    keys = _keys(bytes.fromhex(body["tenant_key"]))
    released = _Released(measured.before, measured.after, _kept_table(blobs[0])[0])
    found = _suggestions(source, request, released, keys)
    return Reply({"suggestions": found}, ())


def _release_preview(body: Body, blobs: list[bytes]) -> Reply:
    measured = Measured.model_validate(body["measured"])
    table, kept = _kept_table(blobs[0])
    source = _source(body, blobs[1:]) if len(blobs) > 1 else None
    head = table.head(body["rows"])
    sizes = class_size_of_each(table, measured.attributes)[: head.height]
    rows = []
    for after, place, size in zip(rows_of(head), kept.tolist(), sizes, strict=False):
        before = None if source is None else rows_of(source.select(head.columns).slice(place, 1))[0]
        changed = [] if before is None else [name for name in after if after[name] != before[name]]
        rows.append({"before": before, "after": after, "class_size": size, "changed": changed})
    return Reply({"rows": rows}, ())


OPERATIONS: dict[str, Callable[[Body, list[bytes]], Reply]] = {
    "admit": _admit,
    "dataset": _dataset,
    "measure": _measure,
    "publish": _publish,
    "preview": _preview,
    "classify": _classify,
    "page": _page,
    "export": _export,
    "risk": _risk,
    "compose": _compose,
    "recommend": _recommend,
    "generalise": _generalise,
    "generalise_hosts": _generalise_hosts,
    "suggestions": _suggestions_of_release,
    "ranks": _ranks,
    "sweep": _sweep,
    "release_preview": _release_preview,
}

_KEPT = "\x00kept"  # the source row of each row, inside the table blob; no column of a request can be called so


def _request(requested: ReleaseRequested, attributes: Attributes, pilot: str | None) -> Request:
    return Request(attributes, requested.policy, requested.ppi, pilot, no_gate=not requested.gate)


def _keys(tenant_key: bytes) -> Keys:
    """The run's key is made here, used by this call alone and written nowhere."""
    return Keys(tenant=tenant_key, run=secrets.token_bytes(32))


def _attributes(body: Body, columns: dict[str, Any]) -> Attributes:
    """The attributes that a request gives, else those of its built-in policy over these columns."""
    if body["attributes"] is not None:
        return Attributes.model_validate(body["attributes"])
    if body["built_in"] is None:
        raise Unprocessable("attributes-missing", "Say what every column is: this policy brings no attributes along.")
    return attributes_of(BUILT_IN[body["built_in"]], columns)


def _pilot(body: Body, released: str | None) -> str | None:
    """The pilot of rows that name none: that of the source where all have one, else of the release."""
    pilots = {source["pilot"] for source in body["sources"]}
    return next(iter(pilots)) or released if len(pilots) == 1 else released


def _source(body: Body, blobs: Sequence[bytes]) -> pl.DataFrame:
    """Read the sources of a call as one table; several are captures, whose rows have the same columns."""
    described = body["sources"]
    if len(described) == 1:
        return _table(described[0]["media"], blobs[0])
    rows = [json.loads(line) for blob in blobs for line in blob.splitlines()]
    return table_of(rows, at="/source")


def _table(media: str, data: bytes) -> pl.DataFrame:
    match media:
        case "parquet":
            return read_file("parquet", data, {})
        case "ndjson":
            return table_of([json.loads(line) for line in data.splitlines()], at="/source")
        case _:
            rows = json.loads(data)
            return table_of(rows if isinstance(rows, list) else rows["rows"], at="/source/records")


def _parquet(table: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    table.write_parquet(out, compression="zstd")
    return out.getvalue()


def _kept_table(data: bytes) -> tuple[pl.DataFrame, np.ndarray[Any, np.dtype[np.int64]]]:
    table = read_file("parquet", data, {})
    return table.drop(_KEPT), table[_KEPT].to_numpy()


@dataclass(frozen=True)
class _Released:
    """What suggestions look at: the figures on both sides and the table that a policy left."""

    before: Metrics
    after: Metrics
    table: pl.DataFrame


def _suggestions(
    source: pl.DataFrame, request: Request, released: _Released | Measurement, keys: Keys
) -> list[dict[str, Any]]:
    def predict(attributes: Attributes, policy: Policy) -> Predicted:
        made = run(source, Request(attributes, policy, request.ppi, request.pilot), keys, secrets.token_bytes)
        after = made.after
        return Predicted(k=after.k, l=after.l, t=after.t, survival=made.records.survival, uniques=after.uniques)

    found = suggest(
        source, request.attributes, request.policy, released.before, released.after, predict, released=released.table
    )
    return [suggestion.document() for suggestion in found]
