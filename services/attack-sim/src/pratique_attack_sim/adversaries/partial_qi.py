"""The partial-QI adversary: knows the target's quasi-identifiers, and has forgotten some of them."""

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.credit import batches, score, stream
from pratique_attack_sim.adversaries.matrix import Codes, Counts, Matrix
from pratique_attack_sim.adversaries.projections import Projections, Sizes
from pratique_attack_sim.adversaries.subsets import Exposure
from pratique_shared.frames.estimates import Score

Masks: TypeAlias = npt.NDArray[np.uint16]


def exact_partial_qi(exposed: Exposure, rows: int, *, forget: float) -> float | None:
    """Return the expected credit: sum over subsets S of (1-p)^|S| p^(d-|S|) D_S / rows; None for an empty release.

    Each QI is forgotten with probability `forget` (Kekatos et al. 2026, §V-A). The rows that share a projection earn
    one credit between them, hence the number of distinct projections D_S.
    """
    if rows == 0:
        return None
    width = max(map(len, exposed))
    distinct = [0] * (width + 1)
    for subset, found in exposed.items():
        distinct[len(subset)] += found
    chances = ((1 - forget) ** size * forget ** (width - size) for size in range(width + 1))
    return min(math.fsum(chance * found / rows for chance, found in zip(chances, distinct, strict=True)), 1.0)


def simulate_partial_qi(
    codes: Codes, *, forget: float, seed: int, first: int, last: int, known: Codes | None = None
) -> Score:
    """Run the repetitions first..last-1 with every row as a target.

    `codes` (rows, columns) is the release. `known` is what the adversary believes when that is not the release: row i
    about released row i, -1 for a value that the release does not have.
    """
    matrix = Matrix.of(codes)
    if matrix.rows == 0:
        return score(first, 0, [np.zeros(0, dtype=np.int64)] * (last - first))
    projections = Projections(matrix)
    truth = None if known is None else _mask(matrix.known(known) == matrix.columns)
    outcomes: list[Counts] = []
    for batch in batches(first, last, matrix.rows):
        masks = [_remembered(stream("partial_qi", seed, number), matrix, forget) for number in batch]
        found = _candidates(projections, np.concatenate(masks)).reshape(len(batch), matrix.rows)
        for mask, candidates in zip(masks, found, strict=True):
            # A remembered value that is not the released one leaves the target out of its own candidates.
            outcomes.append(candidates if truth is None else np.where(mask & ~truth, 0, candidates))
    return score(first, matrix.rows, outcomes)


def _remembered(chance: np.random.Generator, matrix: Matrix, forget: float) -> Masks:
    """Draw which columns are remembered of each target, column by column: bit a stands for column a."""
    return _mask(np.array([chance.random(matrix.rows) >= forget for _ in range(matrix.width)]), matrix.rows)


def _mask(flags: npt.NDArray[np.bool_], rows: int = 0) -> Masks:
    mask = np.zeros(flags.shape[1] if flags.ndim == 2 else rows, dtype=np.uint16)
    for column, flag in enumerate(flags):
        mask |= flag.astype(np.uint16) << np.uint16(column)
    return mask


def _candidates(projections: Projections, masks: Masks) -> Counts:
    """Return for each target how many rows share what is remembered of it; `masks` hold whole repetitions."""
    matrix = projections.matrix
    candidates = np.empty(masks.size, dtype=np.int64)
    order = np.argsort(masks, kind="stable")
    ends = np.cumsum(np.bincount(masks, minlength=2**matrix.width))
    for mask, end in enumerate(ends.tolist()):
        targets = order[ends[mask - 1] if mask else 0 : end]
        if not targets.size:
            continue
        subset = tuple(column for column in range(matrix.width) if mask >> column & 1)
        candidates[targets] = _sizes(projections, subset, targets % matrix.rows)
    return candidates


def _sizes(projections: Projections, subset: tuple[int, ...], rows: npt.NDArray[np.int64]) -> Counts | Sizes:
    if not subset:
        return np.full(rows.size, projections.matrix.rows, dtype=np.int64)
    columns = projections.matrix.columns
    unread = columns[0, :0]
    values = [columns[a].take(rows) if a in subset else unread for a in range(projections.matrix.width)]
    return projections.count(subset, values)
