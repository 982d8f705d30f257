"""The statement of a certificate: which files, how they were made, and what was measured of them (in-toto v1)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pratique_privacy.evidence.limits import INFERENCE, LIMITATIONS, LINKABILITY, SINGLING_OUT
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.key_marks import pseudonyms_of
from pratique_privacy.posture import posture_of, shown_to_all
from pratique_shared.contracts.facts import KeyMark, Published
from pratique_shared.contracts.media import file_name
from pratique_shared.contracts.posture import AttackFigures, Metrics, Posture

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:x-pratique:release-certificate:1"
VALID_FOR: Final = timedelta(days=365)  # what others know grows, and the figures age with it


@dataclass(frozen=True)
class Issuer:
    """Who certifies, and with which key the pseudonyms were made."""

    tenant: str
    mark: KeyMark


def statement_of(facts: ReleaseFacts, issuer: Issuer, withheld: dict[str, str]) -> dict[str, Any]:
    """Return the statement of a published release; it follows from its facts alone.

    The certificate is one document for every reader. What a recipient may not see, the figures before and the digests
    of the sources, is bound by the salted digests in `withheld` and shown by nobody but the operator and the auditor.
    """
    posture, outcome = posture_of(facts), facts.outcome
    if posture is None or not isinstance(outcome, Published):
        raise ValueError("only a published release has a certificate")
    release = facts.requested.id
    subjects = [
        {"name": file_name(release, form), "digest": {"sha256": blob.sha256}}
        for form, blob in sorted(outcome.files.items())
    ]
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": _predicate(facts, posture, issuer, withheld),
    }


def _predicate(facts: ReleaseFacts, posture: Posture, issuer: Issuer, withheld: dict[str, str]) -> dict[str, Any]:
    requested, told = facts.requested, shown_to_all(posture)
    pseudonyms = pseudonyms_of(requested.policy, issuer.mark)
    tables = () if facts.records is None else facts.records.tables
    issued = datetime.fromisoformat(posture.computed_at)
    return {
        "issuer": {"service": "pratique", "tenant": issuer.tenant, "versions": told["versions"]},
        "release": requested.id,
        "issued_at": posture.computed_at,
        "valid_until": (issued + VALID_FOR).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "recipient": requested.recipient,
        "purpose": requested.purpose,
        "unit": posture.unit,
        "sources": [{"id": table.origin, "pilot": table.pilot} for table in tables],
        "policy": {"sha256": posture.policy_sha256, "built_in": posture.built_in, "steps": told["steps"]},
        "attributes": told["attributes"],
        "pseudonymisation": pseudonyms,
        "records": told["records"],
        "metrics": {"after": told["after"], "all_columns": told["all_columns"], "ppi": told["ppi_parameters"]},
        "attacks": told["attacks"],
        "attackers": attackers(posture.after),
        "gate": told["gate"],
        "wp29": wp29(posture, [one["column"] for one in pseudonyms if one["key_fingerprint"] is not None]),
        "flags": told["flags"],
        "findings": told["findings"],
        "prior_releases": told["prior_releases"],
        "composition": told["composition"],
        "withheld": {"algorithm": "sha-256", "digests": withheld},
        "limitations": list(LIMITATIONS),
    }


def attackers(after: Metrics) -> dict[str, Any]:
    """Say which of the three attackers of the disclosure-control literature each figure belongs to."""
    return {
        "prosecutor": {"figure": "max_risk", "value": after.max_risk, "knows": "that the target is in the release"},
        "marketer": {"figure": "exact_reid", "value": after.exact_reid, "knows": "everybody, and counts the successes"},
        "journalist": {
            "figure": None,
            "value": None,
            "knows": "a larger population, which was not given: not computed",
        },
    }


def wp29(posture: Posture, joinable: list[str]) -> dict[str, Any]:
    """Answer the three questions of the Article 29 Working Party (Opinion 05/2014) by figures."""
    after, attacks = posture.after, posture.attacks
    return {
        "singling_out": {
            "question": SINGLING_OUT,
            "figures": {
                **_figures(after, "k", "uniques", "share_below_k", "max_risk", "exact_reid"),
                "exact_qi": None if attacks is None else attacks.exact_qi,
                "all_columns.uniques": posture.all_columns.uniques,
            },
        },
        "linkability": {
            "question": LINKABILITY,
            "figures": {**_adversaries(attacks), "prior_releases": len(posture.prior_releases)},
            "pseudonyms_that_join": joinable,
        },
        "inference": {"question": INFERENCE, "figures": _figures(after, "l", "l_entropy", "t", "t_ordered")},
    }


def _figures(after: Metrics, *names: str) -> dict[str, Any]:
    return {name: getattr(after, name) for name in names}


def _adversaries(attacks: AttackFigures | None) -> dict[str, float | None]:
    """Return each adversary's exact value, or the upper end of its interval, which the gate is held against."""
    found: dict[str, float | None] = {"partial_qi": None, "linkage": None}
    for name in found:
        result = None if attacks is None else getattr(attacks, name)
        if result is not None and result.error is None:
            upper = None if result.ci95 is None else result.ci95[1]
            found[name] = upper if result.exact is None else result.exact
    return found
