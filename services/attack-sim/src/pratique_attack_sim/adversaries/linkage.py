"""The linkage adversary: sees every quasi-identifier through a noisy channel and picks among the best matches."""

from typing import Final

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.credit import batches, score, stream
from pratique_attack_sim.adversaries.matrix import Codes, Counts, Matrix, subsets
from pratique_attack_sim.adversaries.projections import Projections
from pratique_shared.frames.estimates import Score
from pratique_shared.frames.linkage import WrongValue

# Look-ups of a stretch stay in the processor's cache; without room for all tables the passes must be few instead.
STRETCH: Final = 2**15


def simulate_linkage(
    codes: Codes,
    *,
    accuracy: float,
    wrong_value: WrongValue,
    seed: int,
    first: int,
    last: int,
    known: Codes | None = None,
) -> Score:
    """Run the repetitions first..last-1 with every row as a target (Kekatos et al. 2026, §V-A).

    Each value is observed right with probability `accuracy`, else drawn evenly from the column's released values, the
    true one included or excluded; the best matches are told apart by a fair pick. `known` as for the partial-QI one.
    """
    matrix = Matrix.of(codes, foreign=known is not None)
    if matrix.rows == 0:
        return score(first, 0, [np.zeros(0, dtype=np.int64)] * (last - first))
    projections = Projections(matrix)
    believed = matrix.columns if known is None else matrix.known(known)
    outcomes: list[Counts] = []
    for batch in batches(first, last, matrix.rows):
        seen = [_observed(stream("linkage", seed, number), believed, matrix, accuracy, wrong_value) for number in batch]
        truth = np.tile(matrix.columns, len(batch)) if len(batch) > 1 else matrix.columns
        found = top_scorers(projections, np.concatenate(seen, axis=1), truth)
        outcomes.extend(found.reshape(len(batch), matrix.rows))
    return score(first, matrix.rows, outcomes)


def top_scorers(projections: Projections, queries: Codes, truth: Codes) -> Counts:
    """Return how many rows share the top score with the target, 0 where the target is not among them.

    `queries` and `truth` have the shape (columns, queries). No row matches more attributes than the top score s, so
    the top scorers are counted by the sum over subsets of s columns of the rows that agree on them.
    """
    total = queries.shape[1]
    matches = np.zeros(total, dtype=np.int8)
    for seen, true in zip(queries, truth, strict=True):
        matches += seen == true
    candidates = np.zeros(total, dtype=np.int64)
    stretch = STRETCH if projections.all_fit else max(total, 1)
    for start in range(0, total, stretch):
        part = slice(start, start + stretch)
        _descend(projections, list(queries[:, part]), matches[part], candidates[part])
    return candidates


def _descend(projections: Projections, queries: list[Codes], matches: npt.NDArray[np.int8], candidates: Counts) -> None:
    """Fill `candidates`, going down from all columns to none; only queries without a match yet go on.

    The target itself scores its own `matches`, so a query is settled at that level at the latest: above it any match
    beats the target, and whether there is one is all that matters.
    """
    still = np.arange(matches.size)
    for size in range(projections.matrix.width, -1, -1):
        own = matches == size
        mine = np.flatnonzero(own)
        if mine.size:
            candidates[still.take(mine)] = _agreeing(projections, _pick(queries, mine), size, mine.size)
        onward = np.flatnonzero(~own)
        for subset in subsets(projections.matrix.width, size):
            still, matches, queries = still.take(onward), matches.take(onward), _pick(queries, onward)
            if not still.size:
                return
            onward = np.flatnonzero(~projections.present(subset, queries))
        still, matches, queries = still.take(onward), matches.take(onward), _pick(queries, onward)


def _pick(queries: list[Codes], which: npt.NDArray[np.intp]) -> list[Codes]:
    return [column.take(which) for column in queries]


def _agreeing(projections: Projections, queries: list[Codes], size: int, number: int) -> Counts:
    """Return the sum over subsets of `size` columns of the rows that agree there with each of `number` queries."""
    total = np.zeros(number, dtype=np.int64)
    for subset in subsets(projections.matrix.width, size):
        total += projections.count(subset, queries) if subset else projections.matrix.rows
    return total


def _observed(
    chance: np.random.Generator, believed: Codes, matrix: Matrix, accuracy: float, wrong_value: WrongValue
) -> Codes:
    """Draw what is seen of each target, column by column: first which values are wrong, then the wrong values."""
    seen = believed.copy()
    for column, domain in enumerate(matrix.domains):
        wrong = np.flatnonzero(chance.random(matrix.rows) >= accuracy)
        if wrong_value == "uniform":
            seen[column, wrong] = chance.integers(domain, size=wrong.size, dtype=np.int32)
            continue
        # A value that the release has not leaves all released ones to draw from; a lone value leaves none but itself.
        true = believed[column, wrong]
        others = np.maximum(domain - (true < domain), 1)
        drawn = chance.integers(others, dtype=np.int32)
        seen[column, wrong] = np.where(domain > 1, drawn + (drawn >= true), drawn)
    return seen
