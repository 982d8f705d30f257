"""Widths of bins that fit a column of numbers: 1, 2 or 5 times a power of ten."""

from math import floor, log10

import polars as pl

USUAL_BINS = 10


def usual_width(column: pl.Series, bins: int = USUAL_BINS) -> float:
    """Return the least round width at which about `bins` bins hold the middle nine tenths of a column.

    Tails say nothing about a width: one host of a million packets would put all the others into one bin.
    """
    values = column.drop_nulls()
    low, high = values.quantile(0.05), values.quantile(0.95)
    spread = float(high - low) if low is not None and high is not None else 0.0
    finest = 1.0 if column.dtype.is_integer() else 1e-9
    return _round_up(max(spread / bins, finest))


def _round_up(width: float) -> float:
    magnitude = 10.0 ** floor(log10(width))
    return float(next((step * magnitude for step in (1, 2, 5) if step * magnitude >= width), 10 * magnitude))
