"""Policies: a found choice of levels and threshold as a document that can be sent, with what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from pratique_privacy.recommendation.appraisal import Appraisal
from pratique_privacy.recommendation.ladder import Ladder
from pratique_privacy.recommendation.search import Found
from pratique_shared.contracts.policy import ClassSupport, Exemption, Hierarchy, Policy, Step

MOST_SHOWN = 50
MOST_ENTRIES = 200  # of a hierarchy that every policy of the front repeats; the request has the whole


@dataclass(frozen=True)
class Recipe:
    """How appraisals become policies: steps that come first in each, the ladders, what suppression spares."""

    first: tuple[Step, ...]
    ladders: tuple[Ladder, ...]
    exempt: Exemption | None

    def policy(self, appraisal: Appraisal) -> Policy:
        """Return the policy of an appraisal."""
        steps: list[Step] = list(self.first)
        for ladder, level in zip(self.ladders, appraisal.node, strict=True):
            steps.extend(ladder.levels[level].steps)
        if appraisal.tau:
            steps.append(ClassSupport(op="class_support", tau=appraisal.tau, exempt=self.exempt))
        return Policy(steps=tuple(steps))

    def document(self, appraisal: Appraisal, most_entries: int | None = None) -> dict[str, JsonValue]:
        """Return policy, predicted figures and losses; tables of more than `most_entries` are left out of the steps."""
        steps: list[JsonValue] = [_step(step, most_entries) for step in self.policy(appraisal).steps]
        return {
            "policy": {"steps": steps},
            "predicted": dict(appraisal.figures),
            "loss": {
                "entropy": appraisal.entropy_loss,
                "granularity": appraisal.granularity_loss,
                "survival": appraisal.survival,
                "label_survival": appraisal.label_survival,
            },
        }


def _step(step: Step, most_entries: int | None) -> dict[str, JsonValue]:
    large = isinstance(step, Hierarchy) and most_entries is not None and len(step.table) > most_entries
    return step.model_dump(mode="json", exclude_none=True, exclude={"table"} if large else None)


def thinned(front: Sequence[Appraisal], most: int = MOST_SHOWN) -> list[Appraisal]:
    """Return at most `most` of a front, evenly along it, the ends among them."""
    if len(front) <= most:
        return list(front)
    return [front[round(place * (len(front) - 1) / (most - 1))] for place in range(most)]


def found_document(found: Found, recipe: Recipe) -> dict[str, JsonValue]:
    """Return what a search found: the best policy, the front, and how far the search came."""
    shown: list[JsonValue] = [recipe.document(each, MOST_ENTRIES) for each in thinned(found.front)]
    levels: dict[str, JsonValue] = {
        ladder.column: [
            [step.model_dump(mode="json", exclude_none=True, exclude={"table"}) for step in level.steps]
            for level in ladder.levels
        ]
        for ladder in recipe.ladders
    }
    return {
        "recommended": None if found.best is None else recipe.document(found.best),
        "proved": found.proved,
        "front": shown,
        "front_size": len(found.front),
        "search": {
            "nodes": found.nodes,
            "evaluated": found.evaluated,
            "ruled_out": found.ruled_out,
            "cut": found.cut,
        },
        "levels": levels,
    }
