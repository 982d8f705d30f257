"""Exposure: how many distinct projections a release has on every subset of its quasi-identifiers."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from pratique_attack_sim.adversaries.matrix import Codes, Matrix, Subset, subsets
from pratique_attack_sim.adversaries.projections import Projections

Exposure: TypeAlias = Mapping[Subset, int]


def exposure(codes: Codes) -> dict[Subset, int]:
    """Count the distinct projections of `codes` (rows, columns) on every subset of columns; 1 on the empty one.

    Divided by the number of rows it is the chance of an adversary who knows just those columns (Kekatos et al. 2026,
    §IV-B). At most 2^columns sorts of the distinct rows, none above a subset that tells all classes apart already.
    """
    matrix = Matrix.of(codes)
    projections = Projections(matrix)
    width = matrix.width
    everything = _distinct(projections, tuple(range(width)))
    found: dict[Subset, int] = {(): 1}
    for size in range(1, width + 1):
        for subset in subsets(width, size):
            # A column more never merges classes, so a subset is full as soon as one below it is.
            below = (found[subset[:left] + subset[left + 1 :]] for left in range(size))
            full = everything in below
            found[subset] = everything if full else _distinct(projections, subset)
    return found


def _distinct(projections: Projections, subset: Subset) -> int:
    rows = projections.rows
    if not subset or not rows.shape[1]:
        return 1 if not subset else 0
    numbering = projections.numbering(subset)
    keys = numbering.keys(rows)
    if numbering.dense(rows.shape[1]):
        seen = np.zeros(numbering.space, dtype=np.bool_)
        seen[keys] = True
        return int(np.count_nonzero(seen))
    keys.sort()
    return 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
