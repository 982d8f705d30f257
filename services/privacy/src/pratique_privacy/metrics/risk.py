"""Risk by class and by record: how many records share a class, and what the worst and the typical one risk."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from pratique_shared.frames.partition import Codes, Counts, class_sizes, coded

TARGETS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100)
SHARES = tuple(Fraction(part, 100) for part in (0, 5, 25, 50, 75, 95, 99, 100))


@dataclass(frozen=True)
class SizeBar:
    """How many classes have this size, and the rows in them."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Below:
    """The rows in classes of fewer than k."""

    k: int
    rows: int
    share: float


@dataclass(frozen=True)
class RiskQuantile:
    """The risk 1 / class size that a share of the records does not exceed, and that class size."""

    share: float
    size: int
    risk: float


@dataclass(frozen=True)
class Side:
    """A record to look at: its class size, its risk, and how many rows stand in classes of just that size."""

    size: int
    risk: float
    rows: int


@dataclass(frozen=True)
class SmallClass:
    """A class and its rows."""

    label: int
    size: int
    first_row: int


def size_histogram(sizes: Counts) -> list[SizeBar]:
    """Return the classes by size, smallest first."""
    values, classes = np.unique(sizes, return_counts=True)
    pairs = zip(values.tolist(), classes.tolist(), strict=True)
    return [SizeBar(size, count, size * count) for size, count in pairs]


def smallest_classes(labels: Codes, most: int) -> list[SmallClass]:
    """Return up to `most` classes, smallest first; ties by label."""
    if not labels.size:
        return []
    sizes = class_sizes(labels)
    first = np.full(sizes.size, labels.size, np.intp)
    first[labels[::-1]] = np.arange(labels.size)[::-1]  # the last assignment wins: the first row of each class
    chosen = np.argsort(sizes, kind="stable")[:most].tolist()
    return [SmallClass(label, int(sizes[label]), int(first[label])) for label in chosen]


def distinct_counts(table: pl.DataFrame) -> dict[str, int]:
    """Return the number of distinct values of every column; null is one."""
    return {name: len(coded(table[name]).first_rows) for name in table.columns}


def share_below(sizes: Counts, targets: Sequence[int] = TARGETS) -> list[Below]:
    """Return the rows in classes strictly smaller than each target, targets ascending."""
    rows = int(sizes.sum())
    ordered = np.sort(sizes)
    reached = np.concatenate([[0], np.cumsum(ordered)])
    ascending = sorted(set(targets))
    found = reached[np.searchsorted(ordered, ascending)].tolist()
    return [Below(k, count, count / rows if rows else 0.0) for k, count in zip(ascending, found, strict=True)]


def risk_quantiles(sizes: Counts, shares: Sequence[Fraction] = SHARES) -> list[RiskQuantile]:
    """Return quantiles over records of 1 / class size: the least risk that the share of records does not exceed."""
    if not sizes.size:
        return []
    falling = np.sort(sizes)[::-1]
    reached = np.cumsum(falling)
    ranks = [max(-(-share.numerator * int(reached[-1]) // share.denominator), 1) for share in shares]
    found = falling[np.searchsorted(reached, ranks)].tolist()
    return [RiskQuantile(float(share), size, 1 / size) for share, size in zip(shares, found, strict=True)]


def worst_record(sizes: Counts) -> Side | None:
    """Return the record in the smallest class, whose risk is 1 / k."""
    return _side(sizes, int(sizes.min())) if sizes.size else None


def typical_record(sizes: Counts) -> Side | None:
    """Return the median record by risk: half of the records have no greater one."""
    return _side(sizes, risk_quantiles(sizes, [Fraction(1, 2)])[0].size) if sizes.size else None


def _side(sizes: Counts, size: int) -> Side:
    return Side(size, 1 / size, int((sizes == size).sum()) * size)
