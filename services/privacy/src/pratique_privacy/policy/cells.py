"""Cells: how a value is read and written as text, `*`, and the rewriting of a column by its distinct values."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from pratique_shared.contracts.policy import STAR
from pratique_shared.frames.partition import Codes, coded
from pratique_shared.frames.records import INT64, set_of

Number: TypeAlias = int | float
Scalar: TypeAlias = str | int | float | bool
Cell: TypeAlias = Scalar | list[str] | None
Reading: TypeAlias = Callable[[Scalar], Scalar | None]  # None: the operation cannot read the value

_NUMBER = re.compile(r"[+-]?[0-9]{1,400}(?P<rest>(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?)")
_EXACT_FLOAT = 2.0**53  # above it a float stands for several integers


@dataclass(frozen=True)
class Rewritten:
    """A column after a step, and how many of its values the step could not read."""

    column: pl.Series = field(repr=False)
    unreadable: int = 0


def text_of(value: Scalar) -> str:
    """Write a value as canonical text: 5.0 and 5 are both `5`, true is `true`."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < _EXACT_FLOAT:
            return str(int(value))
        case _:
            return str(value)


def number_of(value: Scalar) -> Number | None:
    """Read a finite number, or decimal text of one (a numeric column with a `*` in it is text); else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        if match is None:
            return None
        value = float(value) if match["rest"] else int(value)
    return value if isinstance(value, int) or math.isfinite(value) else None


def texts_of(cell: Cell) -> list[str]:
    """Return the values of a cell as texts, one or the elements of a list; null and `*` are none."""
    if cell is None:
        return []
    return [text for text in (cell if isinstance(cell, list) else [text_of(cell)]) if text != STAR]


def distinct_cells(column: pl.Series) -> tuple[list[Cell], Codes]:
    """Return the distinct cells of a column by first appearance, and the number of the one in each row."""
    found = coded(column)
    return column.gather(found.first_rows).to_list(), found.codes


def rewrite(column: pl.Series, reading: Reading) -> Rewritten:
    """Send every value through `reading`, each distinct cell once; what cannot be read becomes `*` and is counted.

    null and `*` pass through. In a list column the reading acts on the elements, and the cell is again a sorted set.
    """
    cells, codes = distinct_cells(column)
    outcomes = [_rewrite_cell(cell, reading) for cell in cells]
    bad = np.array([unread for _, unread in outcomes], dtype=np.int64)
    changed = column_of([cell for cell, _ in outcomes], column)
    return Rewritten(changed.gather(codes), int(bad[codes].sum()))


def _rewrite_cell(cell: Cell, reading: Reading) -> tuple[Cell, int]:
    if cell is None:
        return None, 0
    if isinstance(cell, list):
        read = [_rewrite_value(element, reading) for element in cell]
        return set_of(text_of(new) for new, _ in read), sum(unread for _, unread in read)
    return _rewrite_value(cell, reading)


def _rewrite_value(value: Scalar, reading: Reading) -> tuple[Scalar, int]:
    if value == STAR:
        return STAR, 0
    new = reading(value)
    return (STAR, 1) if new is None else (new, 0)


def column_of(cells: Sequence[Cell], source: pl.Series) -> pl.Series:
    """Make a column in place of `source`: of one type, and text with canonical numbers once a text is among them."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds or kinds == {list}:
        return pl.Series(source.name, cells, dtype=source.dtype)
    if kinds == {str}:
        return pl.Series(source.name, cells, dtype=pl.String)
    if str in kinds or source.dtype == pl.String:
        texts = [None if cell is None or isinstance(cell, list) else text_of(cell) for cell in cells]
        return pl.Series(source.name, texts, dtype=pl.String)
    if kinds == {bool}:
        return pl.Series(source.name, cells, dtype=pl.Boolean)
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    whole = all(isinstance(number, int) and number in INT64 for number in numbers)
    return pl.Series(source.name, cells, dtype=pl.Int64 if whole else pl.Float64, strict=False)


def is_star(column: pl.Series) -> pl.Series:
    """Return which cells are suppressed: `*`, or `["*"]` in a list column; a null is not."""
    if isinstance(column.dtype, pl.List):
        return ((column.list.len() == 1) & (column.list.first() == STAR)).fill_null(value=False)
    if column.dtype == pl.String:
        return (column == STAR).fill_null(value=False)
    return pl.zeros(len(column), dtype=pl.Boolean, eager=True)


def starred(column: pl.Series, where: pl.Series) -> pl.Series:
    """Put `*` into the cells of `where`; a column of numbers or booleans turns to text if there is one."""
    if not where.any():
        return column
    star = pl.lit([STAR]) if isinstance(column.dtype, pl.List) else pl.lit(STAR)
    frame = pl.DataFrame({"cell": as_text(column), "where": where})
    return frame.select(pl.when("where").then(star).otherwise("cell").alias(column.name)).to_series()


def as_text(column: pl.Series) -> pl.Series:
    """Return a column as text, or as the set of texts that it is."""
    if column.dtype == pl.String or isinstance(column.dtype, pl.List):
        return column
    cells, codes = distinct_cells(column)
    texts = [None if cell is None or isinstance(cell, list) else text_of(cell) for cell in cells]
    return pl.Series(column.name, texts, dtype=pl.String).gather(codes)
