"""Ladders: the levels of generalisation that a column could be published at, from its kind and its values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.advice.shapes import distinct_count, elements, shape_of
from pratique_privacy.advice.widths import usual_width
from pratique_privacy.policy.apply import CoarseningStep, coarsened
from pratique_privacy.policy.families import FAMILY
from pratique_privacy.policy.times import TimeUnit
from pratique_shared.contracts.policy import (
    Bin,
    Cell,
    Hierarchy,
    IpPrefix,
    ProtocolFamily,
    TextPrefix,
    TimeBucket,
)
from pratique_shared.frames.partition import Codes, coded

# Nested networks: the two of Kekatos et al. 2026, §IV-C, one finer and one coarser.
NETWORKS = ((28, 80), (24, 64), (16, 48), (8, 32))
UNITS: tuple[TimeUnit, ...] = ("minute", "5_minutes", "15_minutes", "hour", "day", "hour_of_day")
FINEST_BINS, FEWEST_BINS = 40, 2
MOST_BINS_LEVELS = 5
PREFIXES = 12  # characters beyond which prefixes are not tried
_FALL = 0.7  # a longer prefix is a level of its own if a shorter one has so much fewer values
_KNOWN = 0.5  # the share of values that have a protocol family

Steps: TypeAlias = tuple[CoarseningStep, ...]


@dataclass(frozen=True)
class Level:
    """A column at one level: the steps that lead there, and the code of its value in every row."""

    steps: Steps
    codes: Codes = field(repr=False)
    domain: int


@dataclass(frozen=True)
class Ladder:
    """The levels of one column, the untouched one first; `coarser[i, j]`: level j is a function of level i.

    The order is read off the values themselves: equal values at level i have equal values at j. A level is coarser than
    itself.
    """

    column: str
    levels: tuple[Level, ...]
    coarser: npt.NDArray[np.bool_] = field(repr=False)


def ladder_of(column: pl.Series, hierarchy: Hierarchy | None = None) -> Ladder:
    """Return the ladder of a column: levels that part the rows like a finer one are left out.

    With a hierarchy its levels, else what fits the kind of the values; suppression of every cell ends it.
    Raises `PolicyRefused` (`hierarchy-gap`).
    """
    untouched = coded(column)
    levels = [Level((), untouched.codes, len(untouched.first_rows))]
    for steps in (*_candidates(column, hierarchy), (Cell(column=column.name, op="cell"),)):
        found = coded(coarsened(column, steps))
        level = Level(steps, found.codes, len(found.first_rows))
        if not any(_same(level, other) for other in levels):
            levels.append(level)
    order = np.array([[_coarsens(one, other) for other in levels] for one in levels])
    return Ladder(column.name, tuple(levels), order)


def ladders_of(table: pl.DataFrame, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> list[Ladder]:
    """Return the ladder of each column."""
    return [ladder_of(table[name], hierarchies.get(name)) for name in columns]


def _candidates(column: pl.Series, hierarchy: Hierarchy | None) -> Iterator[Steps]:
    name = column.name
    if hierarchy is not None:
        depth = max(len(ancestors) for ancestors in hierarchy.table.values())
        for level in range(1, depth + 1):
            yield (hierarchy.model_copy(update={"column": name, "level": level}),)
        return
    if column.dtype.is_numeric():
        yield from ((Bin(column=name, op="bin", width=width),) for width in _widths(column))
        return
    if column.dtype == pl.Boolean or column.dtype == pl.Null:
        return
    shape = shape_of(column)
    if shape == "address":
        yield from ((IpPrefix(column=name, op="ip_prefix", v4=v4, v6=v6),) for v4, v6 in NETWORKS)
    elif shape == "time":
        yield from ((TimeBucket(column=name, op="time_bucket", unit=unit),) for unit in UNITS)
    elif _has_families(column):
        yield (ProtocolFamily(column=name, op="protocol_family"),)
    elif column.dtype == pl.String:
        yield from ((TextPrefix(column=name, op="text_prefix", n=n),) for n in _lengths(column))


def _widths(column: pl.Series) -> list[float]:
    """Return widths of which each is a multiple of the one before, so that bins nest: 1, 5, 10 .. or 2, 10, 20 .."""
    width = usual_width(column, bins=FINEST_BINS)
    least, most = column.min(), column.max()
    found: list[float] = []
    if not isinstance(least, int | float) or not isinstance(most, int | float):
        return found
    while len(found) < MOST_BINS_LEVELS and float(most) - float(least) >= FEWEST_BINS * width / 2:
        found.append(width)
        lead = int(f"{width:e}"[0])
        width *= 2 if lead == 5 else 5
    return found


def _has_families(column: pl.Series) -> bool:
    values = elements(column)
    if not len(values):
        return False
    distinct = values.gather(coded(values).first_rows).to_list()
    return sum(str(value).casefold() in FAMILY for value in distinct) >= _KNOWN * len(distinct)


def _lengths(column: pl.Series) -> list[int]:
    """Return the lengths of prefixes that have much fewer values than the next longer one, longest first."""
    values = column.drop_nulls()
    last = distinct_count(values)
    found = []
    for n in range(PREFIXES, 0, -1):
        count = distinct_count(values.str.head(n))
        if count <= _FALL * last:
            found.append(n)
            last = count
    return found


def _same(one: Level, other: Level) -> bool:
    return one.domain == other.domain and _coarsens(one, other)


def _coarsens(one: Level, other: Level) -> bool:
    """Tell whether `other` is a function of `one`."""
    if other.domain > one.domain:
        return False
    image = np.zeros(one.domain, np.int32)
    image[one.codes] = other.codes
    return bool((image[one.codes] == other.codes).all())
