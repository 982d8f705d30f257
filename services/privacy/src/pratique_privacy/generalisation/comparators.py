"""What the mechanism is held against: forgery and suppression, both by water-filling (Gil et al. 2025)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

import numpy as np

from pratique_privacy.generalisation.taxonomy import Floats

Comparator: TypeAlias = Literal["forgery", "forgery2", "suppression"]
COMPARATORS: tuple[Comparator, ...] = ("forgery", "forgery2", "suppression")


@dataclass(frozen=True)
class Compared:
    """The best profile that a comparator shows at a rate, and the rate from which on it is uniform."""

    apparent: Floats = field(repr=False)
    critical: float


def compare(kind: Comparator, profile: Floats, rate: float) -> Compared:
    """Return what a comparator makes of a profile at a rate; from its critical rate on that is the uniform profile."""
    leaves = len(profile)
    match kind:
        case "forgery":
            critical = 1 - 1 / (leaves * float(profile.max()))
            shown = _shown(profile, rate, critical, lambda: filled((1 - rate) * profile, rate))
        case "forgery2":
            critical = leaves * float(profile.max()) - 1
            shown = _shown(profile, rate, critical, lambda: filled(profile, rate) / (1 + rate))
        case "suppression":
            critical = 1 - leaves * float(profile.min())
            shown = _shown(profile, rate, critical, lambda: levelled(profile, rate) / (1 - rate))
        case _:
            assert_never(kind)
    return Compared(shown, max(critical, 0.0))


def _shown(profile: Floats, rate: float, critical: float, best: Callable[[], Floats]) -> Floats:
    return np.full(len(profile), 1 / len(profile)) if rate >= critical else best()


def filled(profile: Floats, amount: float) -> Floats:
    """Return the profile with `amount` poured into its lowest places: the level is the same wherever it rose."""
    ordered = np.sort(profile)
    levels = (np.cumsum(ordered) + amount) / np.arange(1, len(ordered) + 1)
    # The level over the m lowest places holds if the next place is not below it.
    holds = levels <= np.append(ordered[1:], np.inf)
    poured: Floats = np.maximum(profile, levels[np.argmax(holds)])
    return poured


def levelled(profile: Floats, amount: float) -> Floats:
    """Return the profile with `amount` cut from its highest places: what is cut ends at one level."""
    ordered = np.sort(profile)[::-1]
    levels = (np.cumsum(ordered) - amount) / np.arange(1, len(ordered) + 1)
    holds = levels >= np.append(ordered[1:], -np.inf)
    cut: Floats = np.minimum(profile, levels[np.argmax(holds)])
    return cut
