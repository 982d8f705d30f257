"""What the values of a column look like, whatever its name: addresses, times, identifiers, counts."""

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

import polars as pl

from pratique_privacy.policy.addresses import address_of
from pratique_privacy.policy.times import time_reading
from pratique_shared.contracts.policy import STAR
from pratique_shared.frames.partition import coded

Shape: TypeAlias = Literal[
    "empty", "constant", "email", "mac", "phone", "subscriber", "digits", "address", "time", "object", "unique", "plain"
]

MOSTLY = 0.9  # one `unknown` among e-mail addresses makes them no less e-mail addresses
LOOKED_AT = 1000  # distinct values are enough to tell a shape
FEW_VALUES = 5  # of fewer values it says nothing that all differ

_TEXTS: tuple[tuple[Shape, str], ...] = (
    ("email", r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    ("mac", r"[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"),
    ("phone", r"\+[0-9][0-9 ]{6,18}"),  # ITU-T E.164
    ("subscriber", r"(imsi|msisdn|imei|imeisv)-[0-9]+|suci-[0-9].+"),  # 3GPP TS 29.571, Supi, Gpsi and Pei
    ("digits", r"[0-9]{13,15}"),  # an IMSI has at most 15, E.212; most have 14 or 15
    ("object", r"\{.*\}"),
)
_PATTERNS = [(shape, re.compile(pattern)) for shape, pattern in _TEXTS]
_DAY = time_reading("day")


def shape_of(column: pl.Series) -> Shape:
    """Return what nine in ten of a column's distinct values look like; a list column is judged by its elements."""
    values = elements(column)
    if not len(values):
        return "empty"
    distinct = values.gather(coded(values).first_rows)
    if len(distinct) == 1 and distinct_count(column) == 1:
        return "constant"
    found = _form(distinct.head(LOOKED_AT))
    return "unique" if found == "plain" and mostly_distinct(column) else found


def elements(column: pl.Series) -> pl.Series:
    """Return the values that are there, of a list column its elements; `*` is none."""
    values = (column.explode() if isinstance(column.dtype, pl.List) else column).drop_nulls()
    return values.filter(values != STAR) if values.dtype == pl.String else values


def distinct_count(column: pl.Series) -> int:
    """Return the number of distinct cells; nothing (null) is one of them."""
    return len(coded(column).first_rows)


def mostly_distinct(column: pl.Series) -> bool:
    """Say whether at least nine in ten of the cells that hold something differ from each other."""
    cells = column.drop_nulls()
    if isinstance(cells.dtype, pl.List):
        cells = cells.filter(cells.list.len() > 0)
    return len(cells) >= FEW_VALUES and distinct_count(cells) >= MOSTLY * len(cells)


def counts_up(column: pl.Series) -> bool:
    """Say whether a column of integers has every number between its least and its greatest once: a row counter."""
    values = column.drop_nulls()
    if not column.dtype.is_integer() or len(values) < FEW_VALUES:
        return False
    least, greatest = values.sort().gather([0, len(values) - 1]).to_list()
    return bool(greatest - least + 1 == len(values) == distinct_count(values))


def is_address(text: str) -> bool:
    """Say whether a text is an address or a network."""
    return address_of(text.partition("/")[0]) is not None


def _form(distinct: pl.Series) -> Shape:
    if distinct.dtype.is_integer():
        long = distinct.is_between(10**12, 10**15 - 1).mean()
        return "digits" if isinstance(long, float) and long >= MOSTLY else "plain"
    if distinct.dtype != pl.String:
        return "plain"
    texts = distinct.to_list()
    if _most(is_address(text) for text in texts):
        return "address"
    for shape, pattern in _PATTERNS:
        if _most(pattern.fullmatch(text) is not None for text in texts):
            return shape
    # A plain number reads as seconds since 1970; only a text with a date in it is taken for a time here.
    return "time" if _most("-" in text[1:] and _DAY(text) is not None for text in texts) else "plain"


def _most(hits: Iterable[bool]) -> bool:
    found = list(hits)
    return sum(found) >= MOSTLY * len(found)
