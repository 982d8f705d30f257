"""Generalisation of numbers and text: bins, quantiles, rounding, caps, prefixes, hierarchies."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil

import polars as pl

from pratique_privacy.policy.cells import (
    Number,
    Reading,
    Rewritten,
    Scalar,
    column_of,
    distinct_cells,
    is_star,
    number_of,
    starred,
    text_of,
)
from pratique_shared.contracts.policy import STAR, TopBottom

_PLAIN_DIGITS = 800  # enough for any float written out in full


def bin_reading(width: float) -> Reading:
    """Read a number as its half-open bin `[lo,hi)`, anchored at 0 (Kekatos et al. 2026, §IV-C).

    Bins are decided on the decimal text of number and width: 0.3 lies in [0.3,0.4), whatever the floats say.
    """
    unit = Decimal(repr(width))
    above, below = unit.as_integer_ratio()

    @cache
    def label(index: int) -> str:
        return f"[{_plain(index, unit)},{_plain(index + 1, unit)})"

    def reading(value: Scalar) -> str | None:
        number = number_of(value)
        if number is None:
            return None
        over, under = (number, 1) if isinstance(number, int) else Decimal(repr(number)).as_integer_ratio()
        return label(over * below // (under * above))

    return reading


def _plain(index: int, unit: Decimal) -> str:
    with localcontext(prec=_PLAIN_DIGITS):
        return f"{(index * unit).normalize():f}"


def quantile(column: pl.Series, buckets: int) -> Rewritten:
    """Replace numbers by their bucket: floor(buckets * (numbers of the column strictly smaller) / N), `q0`, `q1`, ..

    N counts the numbers that are there; ties stay together, nulls stay null. The label names no value of the input, and
    has leading zeros so that text order is bucket order.
    """
    numbers = _numbers(column)
    labels = pl.Series([f"q{bucket:0{len(str(buckets - 1))}}" for bucket in range(buckets)])
    smaller = numbers.rank("min").cast(pl.Int64) - 1
    named = labels.gather(smaller * buckets // max(numbers.count(), 1)).alias(column.name)
    unread = numbers.is_null() & column.is_not_null()
    return Rewritten(starred(named, unread), int((unread & ~is_star(column)).sum()))


def round_reading(digits: int) -> Reading:
    """Read a number rounded half to even at `digits` decimals."""

    def reading(value: Scalar) -> Number | None:
        number = number_of(value)
        # + 0 turns -0.0 into 0.0: the two are one value
        return None if number is None else round(number, digits) + 0

    return reading


def top_bottom_reading(column: pl.Series, step: TopBottom) -> Reading:
    """Read a number held between the bounds of `step`; a percentile is one of the values of `column`.

    The cap at the p-th percentile is the least value that at least p % of the numbers do not exceed (nearest rank).
    """
    high = step.high if step.percentile is None else _percentile(_numbers(column), step.percentile)
    low, high = _whole(step.low), _whole(high)

    def reading(value: Scalar) -> Number | None:
        number = number_of(value)
        if number is None:
            return None
        if high is not None and number > high:
            number = high
        return low if low is not None and number < low else number

    return reading


def _whole(bound: Number | None) -> Number | None:
    # A whole bound must not turn a column of integers into floats.
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def _percentile(numbers: pl.Series, percentile: float) -> Number | None:
    rank = ceil(Fraction(repr(percentile)) * numbers.count() / 100)
    found = numbers.drop_nulls().sort().slice(rank - 1, 1).to_list()
    return found[0] if found else None


def _numbers(column: pl.Series) -> pl.Series:
    """Return a column that is no list column as numbers, null where a cell is none."""
    if column.dtype.is_numeric():
        return column
    cells, codes = distinct_cells(column)
    numbers = [None if cell is None or isinstance(cell, list) else number_of(cell) for cell in cells]
    return column_of(numbers, pl.Series(column.name, [], dtype=pl.Int64)).gather(codes)


def text_prefix_reading(n: int) -> Reading:
    """Read a text as its first `n` code points and one `*`."""
    return lambda value: text_of(value)[:n] + STAR


def hierarchy_reading(table: Mapping[str, Sequence[str]], level: int) -> Reading:
    """Read a value as its ancestor at `level` (1: the parent), or the topmost that it has; None if it has none."""

    def reading(value: Scalar) -> str | None:
        ancestors = table.get(text_of(value))
        return ancestors[min(level, len(ancestors)) - 1] if ancestors else None

    return reading
