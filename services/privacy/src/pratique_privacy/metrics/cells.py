"""Cells: how often each sensitive value stands in each equivalence class."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pratique_privacy.metrics.sensitive import Categories
from pratique_shared.frames.partition import TABLE_FLOOR, Codes, Counts


@dataclass(frozen=True)
class Cells:
    """The non-empty cells of class x value, by class and then by value; `starts` is the first cell of each class."""

    owners: Counts
    values: Counts
    counts: Counts
    starts: npt.NDArray[np.intp]
    sizes: Counts
    totals: Counts

    @property
    def rows(self) -> int:
        """The rows of the table."""
        return int(self.sizes.sum())


def cells_of(labels: Codes, sizes: Counts, categories: Categories) -> Cells:
    """Count the cells: one pass over a table where it is small, one sort of the rows' keys otherwise."""
    width = categories.count
    keys = labels.astype(np.int64) * width + categories.codes
    if sizes.size * width <= max(4 * keys.size, TABLE_FLOOR):
        table = np.bincount(keys)
        present = np.flatnonzero(table)
        counts = table[present]
    else:
        keys.sort()
        edges = np.flatnonzero(np.diff(keys, prepend=-1))
        present = keys[edges]
        counts = np.diff(edges, append=keys.size)
    owners, values = np.divmod(present, width)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    totals = np.bincount(categories.codes, minlength=width)
    return Cells(owners, values, counts.astype(np.int64), starts, sizes, totals.astype(np.int64))


def largest(numerators: npt.NDArray[np.int64] | npt.NDArray[np.float64], denominators: Counts) -> Fraction:
    """Return the largest of many fractions >= 0, exactly where the numerators are integers.

    For each denominator only the largest numerator can win; floats choose among those, fractions decide. The result
    depends on no order and is not rounded.
    """
    best = np.full(int(denominators.max()) + 1, -1, numerators.dtype)
    np.maximum.at(best, denominators, numerators)
    below = np.flatnonzero(best >= 0)
    above = best[below]
    quotients = above / below
    near = quotients >= quotients.max() * (1 - 1e-12)
    return max(map(_fraction, above[near].tolist(), below[near].tolist()))


def _fraction(numerator: float, denominator: int) -> Fraction:
    return Fraction(numerator) / denominator
