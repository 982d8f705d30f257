"""The rules of advice, one line each: what sets it off, how urgent it is, and when its change counts as help."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from pratique_privacy.advice import coarsening, protection, sensitivity, suppression
from pratique_privacy.advice.gains import better, fuller, gathering, harmless, never, standing
from pratique_privacy.advice.situation import Groups, Predicted, Situation


class Urgency(IntEnum):
    """What is looked at first: a name in clear before any figure, and figures before how to read them."""

    NAMES = 0
    FIGURES = 1
    READING = 2


Helps: TypeAlias = Callable[[Predicted, Predicted, int], bool]


@dataclass(frozen=True)
class Rule:
    """A rule: `proposals` is empty where it does not apply; `helps` judges predicted figures against present ones.

    Where none of its proposals helps, the first that passes `otherwise` is made.
    """

    name: str
    urgency: Urgency
    proposals: Callable[[Situation], Groups]
    helps: Helps
    otherwise: Helps = never


RULES = (
    # A direct identifier stands in another class, or in clear.
    Rule("pseudonymise-identifier", Urgency.NAMES, protection.identifiers, standing),
    # A salted hash on values that can all be tried.
    Rule("hmac-instead-of-salted-hash", Urgency.NAMES, protection.salted_hashes, standing),
    # IPv4-shaped tokens: they collide and keep every address apart.
    Rule("ipv4-shaped-tokens", Urgency.NAMES, protection.shaped_tokens, standing),
    # An insensitive column is a fingerprint.
    Rule("fingerprint-column", Urgency.NAMES, protection.fingerprints, standing),
    # A quasi-identifier holds whole addresses, in clear or under pseudonyms.
    Rule("subnet-aggregation", Urgency.FIGURES, coarsening.networks, better, harmless),
    # A quasi-identifier holds exact times.
    Rule("time-bucket", Urgency.FIGURES, coarsening.times, better, harmless),
    # A numeric quasi-identifier has more than five distinct values.
    Rule("bin-numbers", Urgency.FIGURES, coarsening.numbers, better, harmless),
    # t > 0.5, or k = 1 by a tail of rare values.
    Rule("threshold-suppression", Urgency.FIGURES, suppression.rare_values, better, gathering),
    # Records are alone in their class.
    Rule("class-support", Urgency.FIGURES, suppression.small_classes, better, gathering),
    # Generalised already, and k is below 5, t above 0.5, or fewer than 30 % of the records are left.
    Rule("coarser-generalisation", Urgency.FIGURES, coarsening.coarser_steps, better),
    # Four or more quasi-identifiers leave records alone.
    Rule("fewer-quasi-identifiers", Urgency.FIGURES, coarsening.fewer_columns, better),
    # Nothing left, fewer than 30 % left, or one class.
    Rule("milder-suppression", Urgency.FIGURES, suppression.milder_suppression, fuller),
    # Class support took a label out of the release.
    Rule("exempt-rare-labels", Urgency.READING, suppression.rare_labels, fuller),
    # A sensitive attribute is constant.
    Rule("another-sensitive-attribute", Urgency.READING, sensitivity.constant_attributes, standing),
)
