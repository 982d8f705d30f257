"""Sensitive attributes: their categories, which of them is empty, their order, and bins fixed on the input."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_shared.contracts.attributes import SensitiveBins
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer
from pratique_shared.frames.partition import coded, with_dropped


@dataclass(frozen=True)
class FixedBins:
    """Bins of a numeric attribute, fixed on the input, so that before and after compare.

    A value's bin is the number of edges below it; an edge itself belongs to the bin on its `edge` side. The edges of
    quantile bins are values of records, hence no part of the representation.
    """

    edges: tuple[float, ...] = field(repr=False)
    edge: Literal["below", "above"]

    def of(self, column: pl.Series) -> pl.Series:
        """Return the bin of every cell; null stays null, a text that is no number (such as `*`) stays what it is."""
        if column.dtype.is_numeric():
            return self._bins(column)
        numbers = column.cast(pl.String).cast(pl.Float64, strict=False)
        readable = numbers.is_finite().fill_null(value=False)
        return self._bins(numbers).cast(pl.String).zip_with(readable, column.cast(pl.String))

    def _bins(self, numbers: pl.Series) -> pl.Series:
        missing = numbers.is_null() | (numbers.is_nan() if numbers.dtype.is_float() else False)
        # Integers are held against integers: a float would not tell neighbours beyond 2**53 apart.
        side: Literal["left", "right"] = "left" if self.edge == "below" else "right"
        bins = np.searchsorted(np.asarray(self.edges), numbers.fill_null(0).to_numpy(), side)
        return pl.Series(numbers.name, bins, dtype=pl.Int64).set(missing, None)


@dataclass(frozen=True)
class Categories:
    """A sensitive attribute by categories: `codes` a row, all below `count`.

    `empty` is the code of null, "" and [] together, if there is one. `ordered` says that codes ascend with the values.
    """

    codes: npt.NDArray[np.int64]
    count: int
    empty: int | None
    ordered: bool


@dataclass(frozen=True)
class Sensitive:
    """How sensitive attributes are to be read: the order of their values, and the bins of numeric ones."""

    ordered: Mapping[str, Sequence[str | float]]
    bins: Mapping[str, FixedBins]

    def categories(self, table: pl.DataFrame, name: str) -> Categories:
        """Return the categories of one attribute."""
        column, bins = with_dropped(table, [name])[name], self.bins.get(name)
        if bins is not None:
            return _categories(bins.of(column), None)
        return _categories(column, self.ordered.get(name))


def fix_bins(column: pl.Series, bins: SensitiveBins) -> FixedBins:
    """Return the bins of a numeric attribute of the input.

    Quantile buckets: floor(q * (input values strictly smaller) / N) over the N values that are there; ties stay
    together. Given edges: half-open [lo, hi), and one open bin at either end.
    Raises `Unprocessable` (`bins-not-numeric`).
    """
    if not column.dtype.is_numeric() and column.null_count() < len(column):
        where = pointer("attributes", "sensitive_bins", column.name)
        raise Unprocessable(
            "bins-not-numeric",
            "Only a numeric sensitive attribute can be binned.",
            [FieldError(where, "leave out the bins, or give numbers")],
        )
    if bins.edges is not None:
        return FixedBins(bins.edges, "above")
    quantile = bins.quantile or 1
    values = column.fill_nan(None) if column.dtype.is_float() else column
    values = values.drop_nulls().sort()
    size = len(values)
    if not size:
        return FixedBins((), "below")
    # A value is in bin b or above when at least ceil(b N / q) values are smaller: when it exceeds the last of those.
    ranks = [-(-b * size // quantile) - 1 for b in range(1, quantile)]
    return FixedBins(tuple(values.gather(ranks).to_list()), "below")


def _categories(column: pl.Series, order: Sequence[str | float] | None) -> Categories:
    found = coded(column)
    distinct = column.gather(found.first_rows)
    empty = _empty(distinct)
    ranks = _ranks(distinct, order)
    if ranks is not None:
        there = np.flatnonzero(empty)
        return Categories(ranks[found.codes], len(ranks), int(ranks[there[0]]) if there.size else None, ordered=True)
    merged = np.cumsum(~empty) - 1
    full = int((~empty).sum())
    merged[empty] = full
    any_empty = bool(empty.any())
    return Categories(merged[found.codes], full + any_empty, full if any_empty else None, ordered=False)


def _empty(distinct: pl.Series) -> npt.NDArray[np.bool_]:
    empty = distinct.is_null()
    if distinct.dtype == pl.String:
        empty |= distinct.eq_missing(pl.Series([""], dtype=pl.String))
    elif isinstance(distinct.dtype, pl.List):
        empty |= distinct.list.len().fill_null(0) == 0
    return empty.to_numpy().astype(np.bool_)


def _ranks(distinct: pl.Series, order: Sequence[str | float] | None) -> npt.NDArray[np.int64] | None:
    """Return the rank of every distinct value, or None where the values have no order.

    Null has no place in an order; nor has a boolean, which is not a number.
    """
    if distinct.null_count() or distinct.dtype == pl.Boolean or isinstance(distinct.dtype, pl.List):
        return None
    if order is None:
        if not distinct.dtype.is_numeric():
            return None
        places = distinct.to_numpy()
        if distinct.dtype.is_float() and np.isnan(places).any():
            return None
    else:
        listed = {value: place for place, value in reversed(list(enumerate(order)))}
        found = [listed.get(value, math.nan) for value in distinct.to_list()]
        if any(map(math.isnan, found)):
            return None
        places = np.array(found)
    return np.argsort(np.argsort(places)).astype(np.int64)
