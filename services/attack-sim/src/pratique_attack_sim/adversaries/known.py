"""Exact expectations when the adversary's table is not the release: row i believes something about released row i.

Held against the worked cases of such an adversary; no request offers it yet.
"""

import math
from itertools import combinations
from math import prod
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.linkage_exact import EXACT_LINKAGE_QUERIES
from pratique_attack_sim.adversaries.matrix import Codes, Matrix
from pratique_attack_sim.adversaries.projections import Projections
from pratique_shared.frames.linkage import WrongValue, best_matches, channel, grid_of, rows_by_matches

Chances: TypeAlias = npt.NDArray[np.float64]

EXACT_KNOWN_WORK: Final = 50_000_000  # (released row, believed row) pairs times queries


def exact_qi_of(codes: Codes, known: Codes) -> float | None:
    """Return the mean credit of an adversary who matches every believed value; None for an empty release."""
    return exact_partial_qi_of(codes, known, forget=0.0)


def exact_partial_qi_of(codes: Codes, known: Codes, *, forget: float) -> float | None:
    """Return the expected credit with each believed value forgotten with probability `forget` (§V-A).

    A set of remembered values that match the released row earns one over the rows that share them; a wrong one earns
    nothing. `known` holds -1 for values that the release does not have.
    """
    matrix = Matrix.of(codes)
    if matrix.rows == 0:
        return None
    right = matrix.known(known) == matrix.columns
    projections = Projections(matrix)
    parts = [forget**matrix.width]  # all forgotten: each of the rows earns one over their number
    for size in range(1, matrix.width + 1):
        chance = (1 - forget) ** size * forget ** (matrix.width - size)
        for subset in combinations(range(matrix.width), size):
            hit = right[list(subset)].all(axis=0)
            sizes = projections.count(subset, matrix.columns[:, hit])
            parts.append(chance * float(np.sum(1 / sizes)))
    return min(math.fsum(parts) / matrix.rows, 1.0)


def exact_linkage_of(codes: Codes, known: Codes, *, accuracy: float, wrong_value: WrongValue) -> float | None:
    """Return the expected credit of linkage by the believed values; None if empty or beyond `EXACT_KNOWN_WORK`."""
    matrix = Matrix.of(codes, foreign=True)
    if matrix.rows == 0:
        return None
    believed = matrix.known(known)
    pairs, often = np.unique(np.concatenate((matrix.columns, believed)), axis=1, return_counts=True)
    queries = prod(matrix.radices)
    if queries > EXACT_LINKAGE_QUERIES or queries * pairs.shape[1] > EXACT_KNOWN_WORK:
        return None
    best, number = best_matches(rows_by_matches(grid_of(matrix.columns, matrix.radices)))
    parts = []
    for pair, count in zip(pairs.T, often.tolist(), strict=True):
        released, belief = pair[: matrix.width].tolist(), pair[matrix.width :].tolist()
        scores, chances = np.zeros(matrix.radices, dtype=np.int8), np.ones(matrix.radices)
        for match in np.ix_(*map(_same_as, released, matrix.radices)):
            scores += match
        seen = [_seen_as(*values, accuracy, wrong_value) for values in zip(belief, matrix.domains, strict=True)]
        for chance in np.ix_(*seen):
            chances *= chance
        parts.append(count * float(np.sum(np.where(scores == best, chances / number, 0.0))))
    return min(math.fsum(parts) / matrix.rows, 1.0)


def _same_as(value: int, radix: int) -> npt.NDArray[np.int8]:
    """Return 1 at the code that is the released value, 0 elsewhere."""
    match = np.zeros(radix, dtype=np.int8)
    match[value] = 1
    return match


def _seen_as(value: int, domain: int, accuracy: float, wrong_value: WrongValue) -> Chances:
    """Return the chance of each code to be seen for `value`; the last code stands for values the release has not."""
    chances = np.empty(domain + 1)
    if value == domain:
        chances[:] = (1 - accuracy) / domain
        chances[domain] = accuracy
        return chances
    right, wrong = channel(domain, accuracy, wrong_value)
    chances[:] = wrong
    chances[value] = right
    chances[domain] = 0.0
    return chances
