"""Correlation: how far an index of privacy goes along with resistance to disclosure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_privacy.sweeps.figures import INDEXES, MEASURES, Index, Measure, ReleaseFigures, Scope, scopes

Values: TypeAlias = npt.NDArray[np.float64]
Interval: TypeAlias = tuple[float, float]

RESAMPLES: Final = 2000  # Table III
_AT_ONCE: Final = 2**22  # draws that are held together


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of an index with 1 - re-identification, and its bootstrap interval.

    `r` is None where one of the two does not vary. `degenerate` counts the resamples in which that was so; they are
    left out of the interval, which is None when they are more than half.
    """

    group: str | None
    index: Index
    measure: Measure
    releases: int
    r: float | None
    ci95: Interval | None
    degenerate: int


@dataclass(frozen=True)
class Lead:
    """How much stronger PPI' correlates than PPI, r' - r, over the same resamples."""

    group: str | None
    measure: Measure
    difference: float | None
    ci95: Interval | None
    degenerate: int


@dataclass(frozen=True)
class Correlations:
    """All correlations of a sweep, pooled first, then by group."""

    correlations: tuple[Correlation, ...]
    leads: tuple[Lead, ...]
    resamples: int


def correlate(
    releases: Sequence[ReleaseFigures], chance: np.random.Generator, resamples: int = RESAMPLES
) -> Correlations:
    """Correlate PPI and PPI' with 1 - re-identification for the three measures (Kekatos et al. 2026, Table III).

    Intervals are percentiles (2.5 and 97.5) of a bootstrap over releases. Releases without an index, or without a
    measure that others of the scope have, are left out.
    """
    correlations: list[Correlation] = []
    leads: list[Lead] = []
    for scope in scopes(releases):
        own, ahead = _of_scope(scope, chance, resamples)
        correlations += own
        leads += ahead
    return Correlations(tuple(correlations), tuple(leads), resamples)


def pearson(left: Values, right: Values) -> Values:
    """Return r of each row of two tables of one shape; NaN where a row of either does not vary."""
    flat = (np.ptp(left, axis=1) == 0) | (np.ptp(right, axis=1) == 0)
    left = left - left.mean(axis=1, keepdims=True)
    right = right - right.mean(axis=1, keepdims=True)
    scale = np.sqrt((left * left).sum(axis=1) * (right * right).sum(axis=1))
    flat |= scale == 0
    r = (left * right).sum(axis=1) / np.where(flat, 1.0, scale)
    return np.where(flat, np.nan, np.clip(r, -1.0, 1.0))


def _of_scope(scope: Scope, chance: np.random.Generator, resamples: int) -> tuple[list[Correlation], list[Lead]]:
    known = [m for m in MEASURES if any(release.figure(m) is not None for release in scope.releases)]
    columns = _complete(scope.releases, known)
    count = len(columns["ppi"])
    r = {(index, measure): np.full(1, np.nan) for index in INDEXES for measure in MEASURES}
    drawn = {pair: np.full(0, np.nan) for pair in r}
    if count:
        everything = np.arange(count)[None, :]
        r |= _all_pairs(columns, known, everything)
        parts = [_all_pairs(columns, known, rows) for rows in _resampled(chance, count, resamples)]
        drawn |= {pair: np.concatenate([part[pair] for part in parts]) for pair in parts[0]}
    correlations = [
        Correlation(
            scope.group,
            index,
            measure,
            count if measure in known else 0,
            _number(r[index, measure][0]),
            _interval(drawn[index, measure]),
            _degenerate(drawn[index, measure]),
        )
        for measure in MEASURES
        for index in INDEXES
    ]
    leads = []
    for measure in MEASURES:
        difference = drawn["ppi_prime", measure] - drawn["ppi", measure]
        at = _number(r["ppi_prime", measure][0] - r["ppi", measure][0])
        leads.append(Lead(scope.group, measure, at, _interval(difference), _degenerate(difference)))
    return correlations, leads


def _complete(releases: Sequence[ReleaseFigures], measures: Sequence[Measure]) -> Mapping[Index | Measure, Values]:
    names: tuple[Index | Measure, ...] = (*INDEXES, *measures)
    rows = [[release.figure(name) for name in names] for release in releases]
    table = np.array([row for row in rows if None not in row], dtype=np.float64).reshape(-1, len(names))
    return {name: table[:, position] for position, name in enumerate(names)}


def _all_pairs(
    columns: Mapping[Index | Measure, Values], measures: Sequence[Measure], rows: npt.NDArray[np.int64]
) -> dict[tuple[Index, Measure], Values]:
    return {
        (index, measure): pearson(columns[index][rows], 1.0 - columns[measure][rows])
        for index in INDEXES
        for measure in measures
    }


def _resampled(chance: np.random.Generator, count: int, resamples: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the rows of each resample, as many resamples at once as memory should hold."""
    step = max(_AT_ONCE // count, 1)
    for start in range(0, resamples, step):
        yield chance.integers(count, size=(min(step, resamples - start), count))


def _interval(drawn: Values) -> Interval | None:
    there = drawn[~np.isnan(drawn)]
    if not drawn.size or 2 * there.size < drawn.size:
        return None
    low, high = np.quantile(there, [0.025, 0.975]).tolist()
    return low, high


def _degenerate(drawn: Values) -> int:
    return int(np.isnan(drawn).sum())


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
