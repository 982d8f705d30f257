"""The linkage adversary's exact expectation, by a sum over every query that it could see (Kekatos et al. 2026, §V-A).

All top scorers of a query share its best score s*, so the credit depends on the query alone: the sum over queries of
W / C, C the rows with exactly s* matches and W the same rows weighted by the chance that each would be seen as this
query. Both come as the coefficients of z^0..z^d of a sum over rows of one factor a column, z where row and query agree,
which is taken column by column: about d^2 operations a query, whatever the rows.
"""

from math import prod
from typing import Literal, TypeAlias, TypeVar, assert_never

import numpy as np
import numpy.typing as npt

Grid: TypeAlias = npt.NDArray[np.int32]
WrongValue: TypeAlias = Literal["uniform", "exclude"]

T = TypeVar("T", np.int32, np.float64)


def grid_of(
    columns: npt.NDArray[np.int32], domains: tuple[int, ...], weights: npt.NDArray[np.int64] | None = None
) -> Grid:
    """Return the number of rows at every point of the product of the domains; a column of `columns` is one array."""
    if not domains:
        rows = columns.shape[1] if weights is None else int(weights.sum())
        return np.array(rows, dtype=np.int32)
    places = np.ravel_multi_index(tuple(columns), domains)
    return np.bincount(places, weights, prod(domains)).astype(np.int32).reshape(domains)


def expected_linkage(grid: Grid, *, accuracy: float, wrong_value: WrongValue) -> float | None:
    """Return the expected credit of an average row over all that it could be observed as; None without rows."""
    rows = int(grid.sum(dtype=np.int64))
    if not rows:
        return None
    counts, weights = _by_matches(grid), _by_matches(grid.astype(np.float64))
    for axis, domain in enumerate(grid.shape):
        right, wrong = channel(domain, accuracy, wrong_value)
        _spread(counts, axis)
        _spread(weights, axis, agree=right, differ=wrong)
    best, number = best_matches(counts)
    weight = np.take_along_axis(weights, best[None], axis=0)[0]
    return min(float(np.sum(weight / number)) / rows, 1.0)


def channel(domain: int, accuracy: float, wrong_value: WrongValue) -> tuple[float, float]:
    """Return the chances that a value is seen as itself, and as one given other value of its column."""
    match wrong_value:
        case "uniform":
            return accuracy + (1 - accuracy) / domain, (1 - accuracy) / domain
        case "exclude":
            return (accuracy, (1 - accuracy) / (domain - 1)) if domain > 1 else (1.0, 0.0)
    assert_never(wrong_value)


def rows_by_matches(grid: Grid) -> Grid:
    """Return how many rows match each query on exactly 0..d columns; shape (d + 1, *domains)."""
    counts = _by_matches(grid)
    for axis in range(grid.ndim):
        _spread(counts, axis)
    return counts


def best_matches(counts: Grid) -> tuple[npt.NDArray[np.intp], Grid]:
    """Return each query's best score and how many rows reach it."""
    best = counts.shape[0] - 1 - np.argmax(counts[::-1] != 0, axis=0)
    return best, np.take_along_axis(counts, best[None], axis=0)[0]


def _by_matches(rows: npt.NDArray[T]) -> npt.NDArray[T]:
    """Make room for one grid per number of matches; before any column is looked at, all rows have none."""
    grids = np.zeros((rows.ndim + 1, *rows.shape), dtype=rows.dtype)
    grids[0] = rows
    return grids


def _spread(grids: npt.NDArray[T], axis: int, agree: float | None = None, differ: float | None = None) -> None:
    """Let each row reach all queries along one column, in place: one match more at its own value, none at others."""
    for matches in range(axis + 1, -1, -1):
        grid = grids[matches]
        others = grid.sum(axis=axis, keepdims=True, dtype=grid.dtype)
        np.subtract(others, grid, out=grid)
        if differ is not None:
            grid *= grid.dtype.type(differ)
        if matches:
            fewer = grids[matches - 1]
            grid += fewer if agree is None else fewer * fewer.dtype.type(agree)
