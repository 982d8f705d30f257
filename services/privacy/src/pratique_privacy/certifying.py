"""Certifying: the certificate of a release that is about to be published, signed once and never changed.

A fact is not sealed: whoever writes to the store could call any blob a released file. What he cannot make is a
signature, since the seeds of signing keys are wrapped by the master key. So nothing leaves unless the certificate of
its release holds and names it.
"""

import secrets
from dataclasses import dataclass, field
from typing import Any

from pratique_privacy.archive import Archive
from pratique_privacy.evidence.disclosures import Disclosures
from pratique_privacy.evidence.envelope import sealed
from pratique_privacy.evidence.statement import Issuer, statement_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.keys import KeyRoom
from pratique_privacy.shipped.verify import Rejected, open_certificate
from pratique_shared.contracts.facts import Published, SourceTable, epoch_of
from pratique_shared.contracts.media import file_name
from pratique_shared.contracts.problems import Conflict
from pratique_shared.runtime.sealing import BrokenSeal

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


async def certificate_of(archive: Archive, keys: KeyRoom, facts: ReleaseFacts, outcome: Published) -> bytes:
    """Return the certificate of a published release, once it holds under a key of the tenant and names its files.

    Raises `Conflict` (`not-certified`) for one of before there were certificates, and `BrokenSeal` where release,
    tenant, recipient or files are others than those that were signed for.
    """
    requested = facts.requested
    if outcome.certificate is None:
        raise Conflict("not-certified", "This release was published without a certificate: ask for a new release.")
    certificate = await archive.releases_room.blob_bytes(outcome.certificate)
    own = {key.kid: key.raw for key in await keys.signing.own(requested.tenant)}
    try:
        opened = open_certificate(certificate, own)
        predicate = opened.predicate
        stated = predicate["issuer"]["tenant"], predicate["release"], predicate["recipient"], opened.subjects
    except (Rejected, KeyError, TypeError):
        raise BrokenSeal(outcome.certificate.key) from None
    files = {blob.sha256: file_name(requested.id, form) for form, blob in outcome.files.items()}
    if stated != (requested.tenant, requested.id, requested.recipient, files):
        raise BrokenSeal(outcome.certificate.key)
    return certificate


async def _digests(archive: Archive, table: SourceTable) -> dict[str, str | None]:
    """Name the bytes of a source: of the records that were read, and of the capture that they came from."""
    capture = await archive.any_capture(table.origin) if table.origin.startswith("cap_") else None
    raw = None if capture is None else capture.requested.raw.sha256
    return {"id": table.origin, "records_sha256": table.blob.sha256, "capture_sha256": raw}
