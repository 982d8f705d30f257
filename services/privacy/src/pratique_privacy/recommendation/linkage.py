"""The linkage adversary's exact expectation at a node of the lattice (Kekatos et al. 2026, §V-A)."""

from math import prod
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Grid: TypeAlias = npt.NDArray[np.float64]
MOST_QUERIES = 200_000  # of the product of the domains: a tenth of a second


def linkage(
    columns: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    accuracy: float,
    wrong_value: Literal["uniform", "exclude"],
) -> float | None:
    """Return the expected credit of an average row; None without rows or where the queries are too many.

    `columns` hold dense codes, one array a column, of tuples that `weights` rows have. A query q reaches each row with
    the product over columns of a right or a wrong observation, and the rows that match q on the most columns share
    the credit. Rows are spread over all queries one column after the other, apart by the number of their matches.
    """
    domains = tuple(int(codes.max(initial=-1)) + 1 for codes in columns)
    rows = int(weights.sum())
    if not rows or prod(domains) > MOST_QUERIES:
        return None
    places = np.ravel_multi_index(tuple(columns), domains)
    start = np.bincount(places, weights, prod(domains)).astype(np.float64).reshape(domains)
    counts: list[Grid] = [start]
    chances: list[Grid] = [start]
    for axis, domain in enumerate(domains):
        right, wrong = _channel(domain, accuracy, wrong_value)
        counts = _spread(counts, axis, 1.0, 1.0)
        chances = _spread(chances, axis, right, wrong)
    credit = np.zeros(domains)
    open_ = np.ones(domains, np.bool_)
    for count, chance in zip(reversed(counts), reversed(chances), strict=True):
        best = open_ & (count > 0)
        credit[best] = chance[best] / count[best]
        open_ &= ~best
    return min(float(credit.sum()) / rows, 1.0)


def _channel(domain: int, accuracy: float, wrong_value: Literal["uniform", "exclude"]) -> tuple[float, float]:
    if wrong_value == "uniform":
        return accuracy + (1 - accuracy) / domain, (1 - accuracy) / domain
    return (accuracy, (1 - accuracy) / (domain - 1)) if domain > 1 else (1.0, 0.0)


def _spread(grids: list[Grid], axis: int, agree: float, differ: float) -> list[Grid]:
    """Let the rows of each number of matches reach all values of one column: one match more at their own."""
    found = [np.zeros_like(grids[0]) for _ in range(len(grids) + 1)]
    for matches, grid in enumerate(grids):
        found[matches] += (grid.sum(axis=axis, keepdims=True) - grid) * differ
        found[matches + 1] += grid * agree
    return found
