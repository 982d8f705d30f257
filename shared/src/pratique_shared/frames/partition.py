"""Equivalence classes: the records that a quasi-identifier tuple cannot tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_shared.contracts.policy import STAR
from pratique_shared.frames.records import LIST, set_of

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

RADIX_LIMIT = 2**62
TABLE_FLOOR = 2**16  # a table of this many flags costs less than a hash, however few the rows


@dataclass(frozen=True)
class Coded:
    """A column by its values' codes 0, 1, .. in order of first appearance, and the row where each code first stands."""

    codes: Codes
    first_rows: npt.NDArray[np.intp]


def coded(values: pl.Series) -> Coded:
    """Return the codes of one column; null is a value of its own, 5 and 5.0 are one, lists are sets. Linear."""
    if values.dtype.is_float():
        values = values.fill_nan(None)  # polars groups by value: 0.0 and -0.0 are one to it
    found = _first_seen(values)
    if not isinstance(values.dtype, pl.List) or not found.first_rows.size:
        return found
    # Only distinct lists are put in order: sorting every cell would cost more than all the rest.
    lists = values.gather(found.first_rows).to_list()
    sets = pl.Series([None if cell is None else set_of(map(str, cell)) for cell in lists], dtype=LIST)
    merged = _first_seen(sets)
    return Coded(merged.codes[found.codes], found.first_rows[merged.first_rows])


def column_codes(table: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """Return the codes of `columns`, shape (rows, columns): dense, by first appearance in each column."""
    codes = np.empty((table.height, len(columns)), np.int32, order="F")
    for position, name in enumerate(columns):
        codes[:, position] = coded(table[name]).codes
    return codes


def with_dropped(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return the table with all of `columns`: one that a policy dropped is measured as the constant `*`."""
    return table.with_columns(pl.lit(STAR).alias(name) for name in columns if name not in table.columns)


def class_labels(codes: Codes) -> Codes:
    """Return the equivalence class of every row, 0, 1, .. without gaps; shape (rows,). No columns: one class."""
    rows = codes.shape[0]
    key = np.zeros(rows, np.int64)
    if not rows:
        return key.astype(np.int32)
    domain = 1
    for position in range(codes.shape[1]):
        column = codes[:, position]
        size = int(column.max()) + 1
        if domain * size > RADIX_LIMIT:
            key = _dense(key, domain).astype(np.int64)
            domain = int(key.max()) + 1
        key = key * size + column
        domain *= size
    return _dense(key, domain)


def class_sizes(labels: Codes) -> Counts:
    """Return the rows of every class, by label."""
    return np.bincount(labels).astype(np.int64)


def _first_seen(values: pl.Series) -> Coded:
    if values.dtype.is_integer() and not values.null_count() and len(values):
        least, most = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if most - least < max(len(values), TABLE_FLOOR):
            return _first_in_table(values.to_numpy() - least, most - least + 1)
    rows = np.arange(len(values))
    if values.dtype == pl.Null:
        return Coded(np.zeros(len(values), np.int32), rows[:1])
    frame = values.alias("value").to_frame().with_row_index("row")
    first = frame.select(pl.col("row").first().over("value"))["row"].to_numpy().astype(np.intp)
    new = first == rows
    ranks = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return Coded(ranks[first], np.flatnonzero(new))


def _first_in_table(keys: npt.NDArray[np.int64], domain: int) -> Coded:
    first = np.full(domain, keys.size)
    first[keys[::-1]] = np.arange(keys.size)[::-1]  # the last assignment wins: the first row of each key
    first_rows = np.sort(first[first < keys.size])
    codes = np.empty(domain, np.int32)
    codes[keys[first_rows]] = np.arange(first_rows.size)
    return Coded(codes[keys], first_rows)


def _dense(key: npt.NDArray[np.int64], domain: int) -> Codes:
    if domain > max(4 * key.size, TABLE_FLOOR):
        return _first_seen(pl.Series(key)).codes
    present = np.zeros(domain, np.bool_)
    present[key] = True
    return (np.cumsum(present, dtype=np.int32) - np.int32(1))[key]
