"""Suggestions: changes of a request that would help, each with its rule, its reason and what it is expected to do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import polars as pl
from pydantic import JsonValue, ValidationError

from pratique_privacy.advice.gains import one_class, worth
from pratique_privacy.advice.patches import Patch, apply_patch
from pratique_privacy.advice.rules import RULES, Rule
from pratique_privacy.advice.situation import Group, Predicted, Situation
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import Metrics
from pratique_shared.contracts.problems import Unprocessable

MOST = 8
MOST_OF_A_RULE = 2
MOST_GROUPS = 16  # each prediction applies a whole policy: a table of many columns must not take minutes

Predict: TypeAlias = Callable[[Attributes, Policy], Predicted]


@dataclass(frozen=True)
class Suggestion:
    """A change, as operations of JSON Patch on attributes and policy, and the figures with this change alone."""

    rule: str
    reason: str
    patch: Patch
    predicted: Predicted

    def document(self) -> dict[str, JsonValue]:
        """Return the suggestion as `GET /releases/{id}/suggestions` answers it."""
        figures = self.predicted
        return {
            "rule": self.rule,
            "reason": self.reason,
            "patch": [change.document() for change in self.patch],
            "predicted": {
                "k": figures.k,
                "l": figures.l,
                "t": figures.t,
                "survival": figures.survival,
                "uniques": figures.uniques,
            },
        }


def suggest(
    source: pl.DataFrame,
    attributes: Attributes,
    policy: Policy,
    before: Metrics,
    after: Metrics,
    predict: Predict,
    *,
    released: pl.DataFrame,
) -> list[Suggestion]:
    """Return up to eight changes that apply to a release and help it, the best first (Kekatos et al. 2026, §IV-A).

    `released` is the table after the policy, with the columns that it publishes. `predict` gives the figures of the
    source under other attributes and another policy; where it raises `Unprocessable` the change is left out. Each
    change is judged alone: two together may do more or less than either.
    """
    situation = Situation(source, released, attributes, policy, before, after)
    groups = ((rule, group) for rule in RULES for group in rule.proposals(situation))
    found = [made for rule, group in islice(groups, MOST_GROUPS) if (made := _made(rule, group, situation, predict))]
    found.sort(key=lambda made: made.order)
    return list(islice(_few_of_each(made.suggestion for made in found), MOST))


@dataclass(frozen=True)
class _Made:
    """A suggestion and its place: by urgency, then those that help by themselves, then by what they are worth."""

    suggestion: Suggestion
    order: tuple[int, bool, float]


def _made(rule: Rule, group: Group, situation: Situation, predict: Predict) -> _Made | None:
    """Return the first change of a group that helps, else the first that passes the rule's second judge."""
    rows, second_best = situation.source.height, None
    for proposal in group:
        try:
            attributes, policy = apply_patch(situation.attributes, situation.policy, proposal.patch)
            figures = predict(attributes, policy)
        except (Unprocessable, ValidationError):
            continue  # a change that would be refused, such as a pseudonym without a pilot, is no suggestion
        helps = rule.helps(situation.now, figures, rows)
        if not helps and (second_best is not None or not rule.otherwise(situation.now, figures, rows)):
            continue
        merged = one_class(figures, rows) and situation.after.classes > 1
        reason = proposal.reason + (" It puts all records that are left into one class." if merged else "")
        suggestion = Suggestion(rule.name, reason, proposal.patch, figures)
        made = _Made(suggestion, (rule.urgency, not helps, -worth(figures, rows)))
        if helps:
            return made
        second_best = made
    return second_best


def _few_of_each(suggestions: Iterator[Suggestion]) -> Iterator[Suggestion]:
    seen: dict[str, int] = {}
    for suggestion in suggestions:
        seen[suggestion.rule] = seen.get(suggestion.rule, 0) + 1
        if seen[suggestion.rule] <= MOST_OF_A_RULE:
            yield suggestion
