"""Formulas: text that a spreadsheet would run instead of show, made plain before it is measured and released.

A cell that begins with one of `= + - @`, a tab or a line break may be run when a CSV file is opened (OWASP, "CSV
Injection"). What is measured must be what is read (so no writer may change it later): the release itself gets the
apostrophe that spreadsheets take as "this is text".

Where the comma is the decimal mark, spreadsheets part the cells of a CSV file at semicolons and know no quotes inside
of one, so that a cell may begin within a text: behind a semicolon or a line break the same is done.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from pratique_privacy.policy.cells import column_of, distinct_cells, number_of

APOSTROPHE: Final = "'"
# The wide forms are what a keyboard for Chinese or Japanese gives; spreadsheets there take them for the plain ones.
STARTS: Final = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_BREAK: Final = re.compile(r"([;\r\n])")


@dataclass(frozen=True)
class Neutralised:
    """A table without formulas, and in how many cells of each column there was one."""

    table: pl.DataFrame = field(repr=False)
    cells: Mapping[str, int]


def is_formula(text: str) -> bool:
    """Whether a text could be run, or is one that could, with apostrophes before it.

    A number is none (a column of numbers with a `*` in it is text, and is still read as numbers), nor is `*`.
    """
    bare = text.lstrip(APOSTROPHE)
    return bare[:1] in STARTS and bare != "" and number_of(bare) is None


def holds_formula(text: str) -> bool:
    """Whether a text, or what stands behind a semicolon or line break in it, could be run."""
    return is_formula(text) or any(map(is_formula, _BREAK.split(text)[2::2]))


def neutral(text: str) -> str:
    """Return a text as it may be released.

    No two texts become one: those that change are formulas before and after, and each gains one apostrophe; the others
    stay, and none of them is a formula. The same holds of each part of a text, and no part gains or loses a break.
    """
    return _parts_by(_neutral_text, _neutral_text(text))


def restored(text: str) -> str:
    """Return the text that `neutral` made this of."""
    return _restored_text(_parts_by(_restored_text, text))


def _neutral_text(text: str) -> str:
    return APOSTROPHE + text if is_formula(text) else text


def _restored_text(text: str) -> str:
    return text[1:] if text.startswith(APOSTROPHE) and is_formula(text) else text


def _parts_by(change: Callable[[str], str], text: str) -> str:
    """Return a text whose parts behind its first break are changed."""
    first, *others = _BREAK.split(text)
    return first + "".join(part if place % 2 == 0 else change(part) for place, part in enumerate(others))


def neutralised(table: pl.DataFrame) -> Neutralised:
    """Return a table whose text cells are no formulas.

    A list is written as its JSON text, which begins with a bracket: its elements stay.
    """
    made = {name: _neutral(table[name]) for name, dtype in table.schema.items() if dtype == pl.String}
    counts = {name: count for name, (_, count) in made.items() if count}
    return Neutralised(table.with_columns([made[name][0] for name in counts]), counts)


def restored_table(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table that was neutralised to this one."""
    names = [name for name, dtype in table.schema.items() if dtype == pl.String]
    texts = [pl.Series(name, [None if t is None else restored(t) for t in table[name]], pl.String) for name in names]
    return table.with_columns(texts)


def _neutral(column: pl.Series) -> tuple[pl.Series, int]:
    cells, codes = distinct_cells(column)
    texts = [neutral(cell) if isinstance(cell, str) else None for cell in cells]
    changed = np.array([new != old for new, old in zip(texts, cells, strict=True)], dtype=np.int64)
    return column_of(texts, column).gather(codes), int(changed[codes].sum())
