"""Risk by class, by subset of quasi-identifiers and by attribute: where the exposure of a release comes from."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pratique_shared.contracts.attributes import MAX_QUASI_IDENTIFIERS
from pratique_shared.frames.partition import Codes, Counts, class_labels, class_sizes, coded


@dataclass(frozen=True)
class SizeBar:
    """How many classes have this size, and the rows in them."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Exposure:
    """What a set of quasi-identifiers, by position, gives away: distinct projections D_S, and the share D_S / N."""

    subset: tuple[int, ...]
    distinct: int
    share: float


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


def subset_exposure(codes: Codes) -> list[Exposure]:
    """Return D_S and D_S / N of every non-empty subset S of the columns, smaller subsets first.

    With d columns 2^d - 1 partitions are counted, over distinct tuples instead of rows; d is at most 12. Each subset's
    labels refine those of the subset without its last column.
    """
    rows, columns = codes.shape
    if not rows:
        return []
    if columns > MAX_QUASI_IDENTIFIERS:
        raise ValueError("too many quasi-identifiers")
    tuples = _distinct_rows(codes)
    found: list[Exposure] = []

    def descend(subset: tuple[int, ...], labels: Codes) -> None:
        for column in range(subset[-1] + 1 if subset else 0, columns):
            finer = class_labels(np.column_stack([labels, tuples[:, column]]))
            distinct = int(finer.max()) + 1
            found.append(Exposure((*subset, column), distinct, distinct / rows))
            descend((*subset, column), finer)

    descend((), np.zeros(len(tuples), np.int32))
    return sorted(found, key=lambda exposure: (len(exposure.subset), exposure.subset))


def _distinct_rows(codes: Codes) -> Codes:
    labels = class_labels(codes)
    first = np.zeros(int(labels.max()) + 1, np.intp)
    first[labels] = np.arange(labels.size)
    return codes[first]
