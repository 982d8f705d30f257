"""The bundle: the evidence of a release in one zip file whose bytes follow from the release and the reader alone."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pratique_privacy.evidence.croissant import RECORDS, croissant_of
from pratique_privacy.evidence.datasheet import datasheet_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.posture import posture_of, shown_to_all
from pratique_shared.contracts.facts import Published

_MOMENT: Final = (1980, 1, 1, 0, 0, 0)  # the first that zip knows; the certificate says when
_MODE: Final = 0o644 << 16


@dataclass(frozen=True)
class Reader:
    """What a reader may see: released records, what was before, the tables of hierarchies (which are values)."""

    records: bool
    before: bool
    tables: bool


@dataclass(frozen=True)
class Parts:
    """What is read from the store for a bundle; records and disclosures only for a reader who may see them."""

    certificate: bytes
    verifier: bytes
    disclosures: bytes | None
    records: bytes | None


def bundle_of(facts: ReleaseFacts, reader: Reader, parts: Parts) -> bytes:
    """Return the bundle of a published release."""
    posture, outcome = posture_of(facts), facts.outcome
    if posture is None or facts.measured is None or not isinstance(outcome, Published):
        raise ValueError("only a published release has a bundle")
    told = posture.model_dump(mode="json", by_alias=True) if reader.before else shown_to_all(posture)
    members = {
        "certificate.json": parts.certificate,
        "posture.json": _json(told),
        "policy.json": _json(_policy(facts, reader)),
        "croissant.json": _json(croissant_of(facts.requested, facts.measured, outcome)),
        "datasheet.md": datasheet_of(facts).encode(),
        "verify.py": parts.verifier,
    }
    further = {"disclosures.json": parts.disclosures, RECORDS: parts.records}
    return zipped({**members, **{name: data for name, data in further.items() if data is not None}})


def _policy(facts: ReleaseFacts, reader: Reader) -> dict[str, Any]:
    requested = facts.requested
    hidden = None if reader.tables else {"steps": {"__all__": {"table"}}}
    steps = requested.policy.model_dump(mode="json", exclude=hidden)["steps"]
    return {"sha256": requested.policy_sha256, "built_in": requested.built_in, "steps": steps}


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return a zip file of these members in this order: stored, since what zlib writes depends on its version."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as bundle:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.external_attr, entry.create_system = _MODE, 3
            bundle.writestr(entry, data)
    return out.getvalue()


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
