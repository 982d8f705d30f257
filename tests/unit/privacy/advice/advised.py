"""A release with its figures, and what advice says about it, in one call."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from pratique_privacy.advice import Predicted, Suggestion, suggest
from pratique_privacy.advice.patches import apply_patch
from pratique_privacy.metrics.measure import measure
from pratique_privacy.policy.apply import Transformed, apply_policy
from pratique_privacy.policy.keys import Keys
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import Metrics, PpiParameters
from pratique_shared.frames.records import table_of

KEYS = Keys(bytes(range(32)), b"run-secret-of-the-test-run-nr-01")
Step = Mapping[str, object]


def entropy(size: int) -> bytes:
    """Return bytes that look fresh and are the same in every run."""
    return hashlib.shake_256(b"fresh").digest(size)


@dataclass(frozen=True)
class Release:
    """A source, what was asked of it, and a pilot for all of its rows."""

    source: pl.DataFrame
    attributes: Attributes
    policy: Policy
    pilot: str | None = "lab"

    def transformed(self, attributes: Attributes, policy: Policy) -> Transformed:
        """Apply a policy to the source; refuses what `check_policy` refuses."""
        return apply_policy(self.source, policy, attributes, keys=KEYS, pilot=self.pilot, entropy=entropy)

    def measured(self, table: pl.DataFrame, attributes: Attributes) -> Metrics:
        """Return the figures of a table."""
        return measure(table, attributes.quasi_identifiers, attributes.sensitive, ppi=PpiParameters())

    def predict(self, attributes: Attributes, policy: Policy) -> Predicted:
        """Return the figures under other attributes and another policy."""
        table = self.transformed(attributes, policy).table
        figures = self.measured(table, attributes)
        survival = table.height / self.source.height if table.height else None
        return Predicted(figures.k, figures.l, figures.t, survival, figures.uniques)

    def suggestions(self) -> list[Suggestion]:
        """Return what advice says, after making each change: what it suggests must be accepted and must come true."""
        released = self.transformed(self.attributes, self.policy).table
        before, after = self.measured(self.source, self.attributes), self.measured(released, self.attributes)
        found = suggest(self.source, self.attributes, self.policy, before, after, self.predict, released=released)
        for suggestion in found:
            assert self.predict(*apply_patch(self.attributes, self.policy, suggestion.patch)) == suggestion.predicted
            assert "safe" not in suggestion.reason.lower()
        return found

    def suggestion(self, rule: str) -> Suggestion:
        """Return the first suggestion of a rule."""
        return next(found for found in self.suggestions() if found.rule == rule)

    def rules(self) -> list[str]:
        """Return the rules that speak, the most useful first."""
        return [found.rule for found in self.suggestions()]

    def follow(self, rule: str) -> "Release":
        """Return the release after the first suggestion of a rule."""
        attributes, policy = apply_patch(self.attributes, self.policy, self.suggestion(rule).patch)
        return Release(self.source, attributes, policy, self.pilot)


def release(
    rows: Sequence[Mapping[str, object]] | pl.DataFrame,
    *steps: Step,
    qi: Sequence[str],
    pilot: str | None = "lab",
    **lists: object,
) -> Release:
    """Return a release; columns that stand in no list are dropped."""
    table = rows if isinstance(rows, pl.DataFrame) else table_of(rows)
    given = Attributes.model_validate({"quasi_identifiers": qi, **lists})
    listed = {*qi, *given.identifiers, *given.sensitive, *given.insensitive, *given.drop}
    drop = (*given.drop, *(name for name in table.columns if name not in listed))
    attributes = given.model_copy(update={"drop": drop})
    return Release(table, attributes, Policy.model_validate({"steps": steps}), pilot)
