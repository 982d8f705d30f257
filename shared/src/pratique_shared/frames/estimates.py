"""Estimates: what an adversary's repetitions say together, with their uncertainty."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

# Two-sided 95 % points of Student's t for 1..30 degrees of freedom (NIST/SEMATECH e-Handbook, table 1.3.6.7.2).
# fmt: off
_T95: Final = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)
# fmt: on
_Z95: Final = 1.959964
# One run in a million may be called a disagreement by chance alone.
_LOG_ODDS: Final = math.log(2e6)


@dataclass(frozen=True)
class Score:
    """A shard's outcome: for each repetition from `first` on, the sums over targets of credit and of squared credit."""

    first: int
    targets: int
    sums: tuple[float, ...]
    squares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.sums) != len(self.squares) or self.first < 0 or self.targets < 0:
            raise ValueError("a score holds one sum and one sum of squares for each repetition")


@dataclass(frozen=True)
class Estimate:
    """The plain simulation: mean credit, its standard error over repetitions and over targets, a 95 % interval.

    `se` is the spread of the repetitions' means over sqrt(repetitions), None for a single one. `se_targets` is the
    spread of the credits of one repetition over sqrt(targets), None for a single target: how far one repetition
    would move had other targets of the same kind been there.
    """

    estimate: float
    se: float | None
    se_targets: float | None
    ci95: tuple[float, float]
    repetitions: int
    targets: int


def combine(scores: Iterable[Score]) -> Estimate | None:
    """Put shards together, in the order of their repetitions whatever order they come in; None for an empty release.

    The interval is Student's over repetitions, which are independent and alike given the release; a single one falls
    back on the spread over its targets. It is cut to [0, 1]. Raises ValueError for shards that leave a gap, overlap or
    disagree on the number of targets: those are not the repetitions of one attack.
    """
    shards = sorted(scores, key=lambda score: score.first)
    sums = _joined(shards)
    targets = shards[0].targets
    if targets == 0:
        return None
    squares = [square for shard in shards for square in shard.squares]
    means = [total / targets for total in sums]
    estimate = min(math.fsum(sums) / (targets * len(sums)), 1.0)
    se = _standard_error(means, estimate)
    se_targets = _error_over_targets(sums, squares, targets)
    reach = _reach(se, se_targets, len(means))
    ci95 = (max(estimate - reach, 0.0), min(estimate + reach, 1.0))
    return Estimate(estimate, se, se_targets, ci95, len(means), targets)


def disagrees(estimate: Estimate, exact: float | None) -> bool:
    """Tell whether the exact expectation lies further off than chance explains (Maurer and Pontil 2009, Theorem 4).

    The empirical Bernstein bound for n = targets x repetitions independent credits in [0, 1] of sample variance V:
    |mean - expectation| <= sqrt(2 V L / n) + 7 L / (3 (n - 1)), L = ln(2 / 1e-6). That is 5.4 standard errors plus a
    floor of 34 / (n - 1), which a few lucky repetitions of a tiny release cannot cross, unlike a 95 % interval.
    """
    drawn = estimate.targets * estimate.repetitions
    if exact is None or drawn < 2:
        return False
    if estimate.se_targets is not None:
        variance = estimate.se_targets**2 * estimate.targets
    else:
        variance = (estimate.se or 0.0) ** 2 * estimate.repetitions
    allowed = math.sqrt(2 * variance * _LOG_ODDS / drawn) + 7 * _LOG_ODDS / (3 * (drawn - 1))
    return abs(estimate.estimate - exact) > allowed


def _joined(shards: Sequence[Score]) -> list[float]:
    """Return the sums of all repetitions in order, having checked that the shards follow each other."""
    if not shards or not shards[0].sums:
        raise ValueError("no repetition to combine")
    sums: list[float] = []
    for shard in shards:
        if shard.first != shards[0].first + len(sums) or shard.targets != shards[0].targets:
            raise ValueError("the shards are not one run of repetitions over the same targets")
        sums.extend(shard.sums)
    return sums


def _standard_error(means: Sequence[float], mean: float) -> float | None:
    if len(means) < 2:
        return None
    variance = math.fsum((value - mean) ** 2 for value in means) / (len(means) - 1)
    return math.sqrt(variance / len(means))


def _error_over_targets(sums: Sequence[float], squares: Sequence[float], targets: int) -> float | None:
    """Return the pooled standard deviation of the credits inside a repetition, over sqrt(targets)."""
    if targets < 2:
        return None
    inside = [max(square - total * total / targets, 0.0) for total, square in zip(sums, squares, strict=True)]
    variance = math.fsum(inside) / (len(inside) * (targets - 1))
    return math.sqrt(variance / targets)


def _reach(se: float | None, se_targets: float | None, repetitions: int) -> float:
    """Return half the width of the interval; the whole of [0, 1] where a single credit is all there is."""
    if se is not None:
        return t95(repetitions - 1) * se
    return 1.0 if se_targets is None else _Z95 * se_targets


def t95(freedom: int) -> float:
    """Return Student's two-sided 95 % point; beyond the table by its expansion (Abramowitz and Stegun, 26.7.5)."""
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
