"""The release: profiled, transformed, measured, attacked and held, through the machinery of the services."""

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pratique_attack_sim.shard_child import scored
from pratique_ingest.jobs import CHILD
from pratique_local.alone.policy_file import policy_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.policy.digest import policy_sha256
from pratique_privacy.posture import posture_of
from pratique_privacy.tables import LIMITS, TABLE_CHILD, MeasuredTable, SourceBytes, Tables
from pratique_privacy.verdict import attack_figures, judge, plan_shards
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.facts import (
    AttackPlan,
    Blob,
    Measured,
    Published,
    RecordsResolved,
    ReleaseRequested,
    ShardScored,
    SourceTable,
    Withheld,
)
from pratique_shared.contracts.gate import DEFAULT_GATE, Gate, GateResult
from pratique_shared.contracts.media import Format, Upload
from pratique_shared.contracts.posture import AttackFigures, Posture, PpiParameters
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.releases import Source, StoredPolicy
from pratique_shared.runtime.child_process import Body
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.clock import new_id, stamp

PIECE = 1 << 20
TABLES: dict[str, Upload] = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json"}
Told = Callable[[str, int, int], None]  # the stage, what is done, and of how much (0: nobody knows)


@dataclass(frozen=True)
class Wanted:
    """What is asked of a release on this machine."""

    path: Path
    policy: StoredPolicy
    built_in: str | None
    unit: RecordUnit
    pilot: str | None
    secret: bytes = field(repr=False)
    attributes: Attributes | None = None
    gate: Gate | None = None
    max_packets: int | None = None
    network_plan: str = ""


@dataclass(frozen=True)
class Made:
    """The posture, and the files of a release that passed; there are none of one that did not."""

    posture: Posture
    files: dict[Format, bytes] = field(repr=False)
    warnings: Sequence[Body]


async def release(wanted: Wanted, told: Told) -> Made:
    """Make a release. Raises the `Problem` of whatever cannot stand, `ChildDied` where a limit was reached."""
    children = Children(TABLE_CHILD, LIMITS, 1)
    tables = Tables(children)
    try:
        source, warnings = await _read(wanted, tables, told)
        return await _made(wanted, tables, source, warnings, told)
    finally:
        tables.close()


async def _read(wanted: Wanted, tables: Tables, told: Told) -> tuple[SourceBytes, Sequence[Body]]:
    media = TABLES.get(wanted.path.suffix.lower())
    if media is not None:
        told("reading", 0, 0)
        table = await tables.dataset(media, wanted.path.read_bytes())
        return SourceBytes("parquet", table.parquet, wanted.pilot, "row"), ()
    size = wanted.path.stat().st_size
    captures = Children("pratique_ingest.capture_child:profile_in_child", CHILD, 1)
    try:
        asked = {"pilot": wanted.pilot, "max_packets": wanted.max_packets, "plan": wanted.network_plan}
        reply = await captures.call(
            asked, _pieces(wanted.path), lambda seen: told("profiling", int(seen.get("bytes", 0)), size)
        )
    finally:
        captures.close()
    hosts, sessions, _identifiers = reply.blobs
    rows = hosts if wanted.unit == "host" else sessions
    if not rows:
        raise Unprocessable("source-empty", f"The capture holds no {wanted.unit} record: there is nothing to release.")
    return SourceBytes("ndjson", rows, wanted.pilot, wanted.unit), reply.body["warnings"]


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


async def _made(wanted: Wanted, tables: Tables, source: SourceBytes, warnings: Sequence[Body], told: Told) -> Made:
    told("measuring", 0, 0)
    stored, policy = wanted.policy, policy_of(wanted.policy)
    admitted = await tables.admit(
        source,
        None,
        policy=policy,
        attributes=wanted.attributes or stored.attributes,
        built_in=wanted.built_in,
        pilot=wanted.pilot,
    )
    requested = _requested(wanted, admitted.attributes, source)
    made = await tables.measure(requested, [source], wanted.secret)
    measured, codes = _measured(requested, made, source)
    attacks = attack_figures(measured.plan, _attacked(measured.plan, codes, told))
    gate = judge(requested, measured, attacks, None)
    told("publishing", 0, 0)
    files: dict[Format, bytes] = {}
    if gate.verdict == "pass":
        files = (await tables.publish(requested, measured, made.table, [source])).files
    posture = posture_of(
        ReleaseFacts(
            requested=requested,
            records=RecordsResolved(tables=(_origin(wanted, source),), at=measured.at),
            measured=measured,
            outcome=_outcome(requested, measured, gate, attacks, files),
        )
    )
    assert posture is not None
    return Made(posture, files, warnings)


def _requested(wanted: Wanted, attributes: Attributes, source: SourceBytes) -> ReleaseRequested:
    stored, policy = wanted.policy, policy_of(wanted.policy)
    digest = policy_sha256(policy)
    own = stored.gate if stored.gate is not None else DEFAULT_GATE
    return ReleaseRequested(
        id=new_id("rel"),
        tenant="local",
        name=wanted.path.name,
        recipient=None,
        purpose=None,
        pilot=wanted.pilot,
        # The rows are given beside the request, as those of an inline source are.
        source=Source(records=(), unit=wanted.unit),
        inline=None,
        attributes=attributes,
        built_in=wanted.built_in,
        policy=policy,
        policy_sha256=digest,
        ppi=stored.ppi or PpiParameters(),
        attacks=stored.attacks or Attacks(),
        gate=own if wanted.gate is None else wanted.gate,
        digest=hashlib.sha256(f"{digest} {_digest(source.data)}".encode()).hexdigest(),
        created_at=stamp(),
    )


def _measured(
    requested: ReleaseRequested, made: MeasuredTable, source: SourceBytes
) -> tuple[Measured, np.ndarray[tuple[int, int], np.dtype[np.int32]]]:
    plan = plan_shards(requested.attacks, _blob(made.matrix), made.matrix_rows, made.matrix_columns)
    known = {**dict(made.figures), "read": (_digest(source.data),), "table": _blob(made.table)}
    measured = Measured.model_validate({**known, "plan": plan, "at": stamp()})
    codes = np.frombuffer(made.matrix, dtype="<i4").reshape(made.matrix_rows, made.matrix_columns)
    return measured, codes


def _attacked(
    plan: AttackPlan, codes: np.ndarray[tuple[int, int], np.dtype[np.int32]], told: Told
) -> dict[str, ShardScored]:
    scores = {}
    for done, shard in enumerate(plan.shards):
        told("attacking", done, len(plan.shards))
        scores[shard.task] = scored(plan, shard, codes)
    return scores


def _outcome(
    requested: ReleaseRequested,
    measured: Measured,
    gate: GateResult,
    attacks: AttackFigures | None,
    files: dict[Format, bytes],
) -> Published | Withheld:
    held = {
        "read": (measured.table.sha256,),
        "verdict": gate.verdict,
        "gate": gate,
        "attacks": attacks,
        "prior_releases": (),
        "policy_sha256": requested.policy_sha256,
        "at": stamp(),
    }
    if gate.verdict != "pass":
        return Withheld.model_validate(held)
    blobs = {form: _blob(data) for form, data in files.items()}
    return Published.model_validate({**held, "files": blobs, "schema_types": {}})


def _origin(wanted: Wanted, source: SourceBytes) -> SourceTable:
    return SourceTable(origin="inline", pilot=wanted.pilot, blob=_blob(source.data))


def _blob(data: bytes) -> Blob:
    """Name bytes that are in memory and in no store."""
    return Blob(key="", sha256=_digest(data), bytes=len(data))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
