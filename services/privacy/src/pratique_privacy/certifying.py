"""Certifying: the certificate of a release that is about to be published, signed once and never changed."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from pratique_privacy.archive import Archive
from pratique_privacy.evidence.disclosures import Disclosures
from pratique_privacy.evidence.envelope import sealed
from pratique_privacy.evidence.statement import Issuer, statement_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.keys import KeyRoom
from pratique_shared.contracts.facts import SourceTable, epoch_of

SALT_BYTES = 16


@dataclass(frozen=True)
class Proof:
    """A certificate as it is given out, and what it binds without showing it."""

    certificate: bytes
    disclosures: bytes = field(repr=False)


async def certified(archive: Archive, keys: KeyRoom, facts: ReleaseFacts) -> Proof:
    """Sign for a release whose outcome is settled in `facts` and not written yet."""
    assert facts.measured is not None
    assert facts.records is not None
    tenant = facts.requested.tenant
    hidden: dict[str, Any] = {
        "before": facts.measured.before.model_dump(mode="json"),
        "sources": [await _digests(archive, table) for table in facts.records.tables],
    }
    disclosures = Disclosures.of(hidden, {name: secrets.token_hex(SALT_BYTES) for name in hidden})
    key = await keys.tenant_keys.of(tenant, epoch_of(facts.requested.key))
    issuer = Issuer(tenant, key.mark)
    statement = statement_of(facts, issuer, disclosures.digests())
    return Proof(sealed(statement, await keys.signing.current(tenant)), disclosures.document())


async def _digests(archive: Archive, table: SourceTable) -> dict[str, str | None]:
    """Name the bytes of a source: of the records that were read, and of the capture that they came from."""
    capture = await archive.any_capture(table.origin) if table.origin.startswith("cap_") else None
    raw = None if capture is None else capture.requested.raw.sha256
    return {"id": table.origin, "records_sha256": table.blob.sha256, "capture_sha256": raw}
