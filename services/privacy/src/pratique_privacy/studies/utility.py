"""Utility studies: records become ranks, splits become scores, scores become rows (Kekatos et al. 2026, §V-G)."""

import json
from collections.abc import Mapping
from typing import Any

from pratique_privacy.archive import Archive
from pratique_privacy.sources import Sources
from pratique_privacy.tables import Tables
from pratique_privacy.utility.study import combine_units
from pratique_shared.contracts.facts import SourceTable
from pratique_shared.contracts.problems import Conflict, Gone
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import Shards, UtilityWork
from pratique_shared.contracts.utility import RepeatScored, UtilityPlan
from pratique_shared.runtime.clock import fresh_name, stamp


async def resolve(archive: Archive, tenant: str, work: UtilityWork) -> tuple[SourceTable, ...] | None:
    """Return the tables of the sources, or None while one is still being made; raises `Gone`, `Conflict`."""
    found: list[SourceTable] = []
    for identity in work.sources:
        if identity.startswith("rel_"):
            return await _released(archive, identity)
        named = {"capture": identity} if identity.startswith("cap_") else {"dataset": identity}
        tables = await Sources(archive).tables(tenant, Source(**named, unit=work.unit))
        if tables is None:
            return None
        found += tables
    return tuple(found)


async def _released(archive: Archive, identity: str) -> tuple[SourceTable, ...] | None:
    facts = await archive.any_release(identity)
    if facts is None or facts.withdrawn:
        raise Gone("withdrawn", "The release was withdrawn: name another.")
    if facts.measured is None:
        if facts.outcome is not None:
            raise Conflict("release-failed", "The release has no figures: its own error says why.")
        return None
    return (SourceTable(origin=identity, pilot=None, blob=facts.measured.table),)


async def plan(
    archive: Archive, tables: Tables, study: str, work: UtilityWork, found: tuple[SourceTable, ...]
) -> Shards:
    """Put the ranks where the attack workers read them."""
    released = found[0].origin.startswith("rel_")
    table = await archive.releases_room.blob_bytes(found[0].blob) if released else None
    sources = [] if released else await Sources(archive).read(found, work.unit)
    made = await tables.ranks(sources, table, work.features, work.label)
    run = fresh_name()
    async with archive.matrices_room.drafts() as codes, archive.releases_room.drafts() as kept:
        matrix = await codes.put(f"blobs/{study}/{run}-ranks", made.matrix)
        about = await kept.put(f"blobs/{study}/{run}-about", json.dumps(made.about).encode())
        codes.keep()
        kept.keep()
    task = UtilityPlan(matrix=matrix, rows=made.rows, columns=made.columns, task=work.task)
    return Shards(work=task, about=about, at=stamp())


def answer(plan: UtilityPlan, scores: Mapping[str, RepeatScored], about: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of Table V beside what they are about; raises `Conflict` where a split failed for good."""
    if any(score.matrix_sha256 != plan.matrix.sha256 for score in scores.values()):
        raise Conflict("score-differs", "A score was made on other ranks than those of this study.")
    failed = next((score.error for score in scores.values() if score.error is not None), None)
    if failed is not None:
        raise Conflict(failed.code, failed.detail)
    rows = combine_units(plan.task, [unit for task in plan.tasks for unit in scores[task].scores])
    shown = plan.task.model_dump(mode="json")
    return {**about, "parameters": shown, "rows": [row.model_dump(mode="json") for row in rows]}
