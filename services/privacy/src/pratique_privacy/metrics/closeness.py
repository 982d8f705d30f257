"""Closeness: how far the sensitive values of a class stray from those of the release.

Total variation as in Kekatos et al. 2026, §IV-B; the ordered distance as in Li et al. 2007.
"""

from fractions import Fraction

import numpy as np

from pratique_privacy.metrics.cells import Cells, largest
from pratique_shared.frames.partition import Counts

INT64_MAX = 2**63 - 1


def total_variation(cells: Cells) -> Fraction:
    """Return the largest distance over the classes, 1/2 sum over v of abs(p_E(v) - p_R(v)).

    That is the sum of its positive parts, which only values present in the class can have: with n_Ev rows of v in E,
    max(0, n_Ev N - n_v n_E) / (N n_E), in integers.
    """
    rows = cells.rows
    excess = cells.counts * rows - cells.totals[cells.values] * cells.sizes[cells.owners]
    return largest(np.add.reduceat(np.maximum(excess, 0), cells.starts), cells.sizes) / rows


def ordered_distance(cells: Cells) -> Fraction:
    """Return the largest ordered earth mover's distance: sum of abs cumulative differences / (m - 1).

    m counts the distinct values of the release, which are the codes 0 .. m-1 in order; m = 1 gives 0. Between two
    values of a class its cumulative share stands still while that of the release grows, so the sum over such a stretch
    splits at one point: no class is spread out over all m values.
    """
    values = cells.totals.size
    if values == 1:
        return Fraction(0)
    # In integers while they last; beyond, in floats, whose error is some 1e-16 of the result.
    exact = values * cells.rows * int(cells.sizes.max()) <= INT64_MAX
    kind: type[np.int64 | np.float64] = np.int64 if exact else np.float64
    cumulative = np.cumsum(cells.totals)
    prefix = np.concatenate([[0], np.cumsum(cumulative)]).astype(kind)
    owners, first, last, reached = _stretches(cells, values)
    sizes = cells.sizes[owners]
    crossing = np.searchsorted(cumulative, reached * cells.rows // sizes, "right").clip(first, last)
    below = (reached * cells.rows).astype(kind) * (2 * crossing - first - last)
    above = sizes.astype(kind) * (prefix[first] + prefix[last] - 2 * prefix[crossing])
    starts = cells.starts + np.arange(cells.starts.size)  # every class has one stretch more than cells
    return largest(np.add.reduceat(below + above, starts), cells.sizes) / (cells.rows * (values - 1))


def _stretches(cells: Cells, values: int) -> tuple[Counts, Counts, Counts, Counts]:
    """Return owner, first value, end (exclusive) and rows reached of each stretch between values of one class."""
    cumulative = np.cumsum(cells.counts)
    before = np.concatenate([[0], cumulative])[cells.starts]
    reached = cumulative - before[cells.owners]
    ends = np.append(cells.values[1:], values)
    ends[cells.starts[1:] - 1] = values  # the last value of a class lasts to the end
    owners = np.insert(cells.owners, cells.starts, cells.owners[cells.starts])
    first = np.insert(cells.values, cells.starts, 0)
    last = np.insert(ends, cells.starts, cells.values[cells.starts])
    return owners, first, last, np.insert(reached, cells.starts, 0)
