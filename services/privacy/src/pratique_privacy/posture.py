"""The posture of a release, put together from its facts."""

from typing import Any

from pratique_privacy.flow import ReleaseFacts, state
from pratique_privacy.gate import bounds_nothing
from pratique_privacy.key_marks import pseudonyms_of
from pratique_shared.contracts.facts import Published, Withheld
from pratique_shared.contracts.posture import Posture


def posture_of(facts: ReleaseFacts) -> Posture | None:
    """Return what is known of a release, or None before it is measured.

    Metrics are there before the adversaries; attacks, gate and verdict come with the outcome.
    """
    requested, measured, stands = facts.requested, facts.measured, state(facts)
    if measured is None:
        return None
    flags = measured.flags
    if bounds_nothing(requested.gate):
        flags = tuple(dict.fromkeys((*flags, "no_gate")))
    plain = Posture(
        release=requested.id,
        status=stands.status,
        verdict=stands.verdict,
        unit=measured.unit,
        sources=() if facts.records is None else tuple(table.origin for table in facts.records.tables),
        attributes=measured.attributes,
        built_in=requested.built_in,
        pseudonymisation=tuple(pseudonyms_of(requested.policy, requested.key)),
        steps=tuple(step.model_dump(mode="json", exclude={"table", "taxonomy"}) for step in requested.policy.steps),
        records=measured.records,
        before=measured.before,
        after=measured.after,
        all_columns=measured.all_columns,
        ppi_parameters=requested.ppi,
        flags=flags,
        findings=measured.findings,
        policy_sha256=requested.policy_sha256,
        computed_at=measured.at,
        versions=measured.versions,
    )
    if not isinstance(facts.outcome, Published | Withheld):
        return plain
    outcome = facts.outcome
    files = outcome.files if isinstance(outcome, Published) else {}
    return plain.model_copy(
        update={
            "attacks": outcome.attacks,
            "gate": outcome.gate,
            "prior_releases": outcome.prior_releases,
            "composition": outcome.composition,
            "files": {form: blob.sha256 for form, blob in files.items()},
            "computed_at": outcome.at,
        }
    )


def shown_to_all(posture: Posture) -> dict[str, Any]:
    """Return a posture as a recipient sees it: without the figures before, or a label that no released row has."""
    told = posture.model_dump(mode="json", by_alias=True)
    del told["before"]
    told["records"]["survival_by_label"] = released_labels(posture)
    return told


def released_labels(posture: Posture) -> dict[str, float]:
    """Return the survival of the labels that stand in the released files; every other label is a value of the source.

    Before there are files, and of a release that stays behind, that is none of them.
    """
    by_label = posture.records.survival_by_label
    return {label: share for label, share in by_label.items() if share} if posture.files else {}
