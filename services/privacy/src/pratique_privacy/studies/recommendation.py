"""Recommendations: the tables of a question, searched in a child for the policy that passes at the least loss."""

import json
from typing import Any

from pratique_privacy.archive import Archive
from pratique_privacy.sources import Sources
from pratique_privacy.tables import Tables
from pratique_shared.contracts.facts import SourceTable
from pratique_shared.contracts.studies import RecommendationWork, TablesRead


async def resolve(archive: Archive, tenant: str, work: RecommendationWork) -> tuple[SourceTable, ...] | None:
    """Return the tables of the source, or None while one is still being made; raises `Gone`, `Conflict`."""
    if work.inline is not None:
        return (SourceTable(origin="inline", pilot=work.pilot, blob=work.inline),)
    return await Sources(archive).tables(tenant, work.source)


async def answer(
    archive: Archive, tables: Tables, work: RecommendationWork, read: TablesRead, tenant_key: bytes
) -> dict[str, Any]:
    """Return the policy of least loss, the front of risk against loss, and how far the search came."""
    sources = await Sources(archive).read(read.tables, work.source.unit)
    found: dict[str, Any] = json.loads(await tables.recommend(work.asked, sources, work.pilot, tenant_key))
    return found
