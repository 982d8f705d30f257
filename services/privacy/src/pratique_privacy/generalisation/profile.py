"""A profile: how the mass of one host or user lies over the leaves, as counts or as shares."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np

from pratique_privacy.generalisation.taxonomy import Floats, Places
from pratique_shared.contracts.problems import FieldError, Unprocessable

SUMS_TO_ONE = 1e-9
MOST_COUNT = 2**53  # above it a float no longer holds every count


@dataclass(frozen=True)
class Profile:
    """Shares that sum to 1; `counts` is there where it was made of counts."""

    shares: Floats = field(repr=False)
    counts: Places | None = field(default=None, repr=False)


def profile_of(values: Sequence[int | float], where: str) -> Profile:
    """Read a profile: integers are counts and are normalised, anything else must sum to 1 within 1e-9.

    `where` is its JSON pointer. Raises `Unprocessable`: `profile-negative`, `profile-empty`, `profile-too-large`,
    `profile-sum`.
    """
    if any(value < 0 for value in values):
        _refuse("profile-negative", "A profile has no negative entries.", where, "give 0 or more in every place")
    total = fsum(values)
    if total == 0:
        _refuse("profile-empty", "A profile without any mass has nothing to hide.", where, "give one positive entry")
    if total > MOST_COUNT:
        _refuse("profile-too-large", "A profile counts too much.", where, f"let the counts sum to at most {MOST_COUNT}")
    if all(isinstance(value, int) for value in values):
        counts = np.array(values, dtype=np.int64)
        return Profile(counts / total, counts)
    if abs(total - 1) > SUMS_TO_ONE:
        advice = f"give shares that sum to 1 within {SUMS_TO_ONE:g}, or integers as counts"
        _refuse("profile-sum", "The shares of a profile sum to 1.", where, advice)
    return Profile(np.array(values, dtype=np.float64) / total)


def _refuse(code: str, detail: str, where: str, advice: str) -> None:
    raise Unprocessable(code, detail, [FieldError(where, advice)])
