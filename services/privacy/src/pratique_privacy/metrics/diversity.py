"""Diversity: how many sensitive values a class leaves open (Machanavajjhala et al. 2007)."""

import numpy as np

from pratique_privacy.metrics.cells import Cells
from pratique_shared.frames.partition import Counts


def distinct_l(cells: Cells, empty: int | None) -> int:
    """Return the least number of distinct non-empty values over the classes; a class with none: 0."""
    owners = cells.owners if empty is None else cells.owners[cells.values != empty]
    return int(np.bincount(owners, minlength=cells.sizes.size).min())


def entropy_l(cells: Cells, empty: int | None, least: int) -> float:
    """Return exp of the least Shannon entropy (nats) of the non-empty values over the classes; a class with none: 0.

    `least` is `distinct_l`: a class of one value has entropy 0, and none can have less.
    """
    if least <= 1:
        return float(least)
    owners, counts = cells.owners, cells.counts
    if empty is not None:
        full = cells.values != empty
        owners, counts = owners[full], counts[full]
    return _least_effective(owners, counts)


def _least_effective(owners: Counts, counts: Counts) -> float:
    # Within a class the terms are added by size: the sum must not depend on how the values are named.
    widest = int(counts.max()) + 1
    keys = owners * widest + counts
    keys.sort()
    owners, counts = np.divmod(keys, widest)
    sizes = np.bincount(owners, weights=counts)
    terms = np.bincount(owners, weights=counts * np.log(counts))
    effective = np.exp(np.log(sizes) - terms / sizes)
    # Where all counts of a class are equal the figure is a whole number, and a gate may ask for just that.
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ends = np.append(starts[1:], owners.size)
    uniform = counts[starts] == counts[ends - 1]
    return float(np.where(uniform, ends - starts, effective).min())
