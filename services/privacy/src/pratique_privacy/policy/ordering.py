"""Orderings: the values of a column in a row, and how a stretch of them is written."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.policy.addresses import address_of
from pratique_privacy.policy.cells import Cell, Scalar, distinct_cells, number_of, text_of
from pratique_shared.contracts.policy import STAR
from pratique_shared.frames.partition import Codes
from pratique_shared.frames.records import set_of

MOST_MEMBERS = 8  # of a set that is written out
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

Writing: TypeAlias = Callable[[Sequence[Cell]], Cell]


@dataclass(frozen=True)
class Ordering:
    """The distinct values of a column in order: first null and `*` if they are there, which no stretch may join.

    `ranks` gives the place of every row's value, `positions` where a place lies between 0 and 1: by value where values
    have distances, else by place.
    """

    values: tuple[Cell, ...] = field(repr=False)
    ranks: Codes = field(repr=False)
    positions: npt.NDArray[np.float64] = field(repr=False)
    apart: int
    write: Writing = field(repr=False)

    def stretch(self, ranks: Sequence[int]) -> Cell:
        """Write the values of some places, ascending, as one cell; one value stays what it is."""
        values = [self.values[rank] for rank in ranks]
        return values[0] if len(values) == 1 else self.write(values)


def ordering_of(column: pl.Series) -> Ordering:
    """Return the order of a column: numbers by value, addresses by number, lists as sets, text by code points."""
    cells, codes = distinct_cells(column)
    apart = [place for place, cell in enumerate(cells) if _stands_apart(cell)]
    apart.sort(key=lambda place: cells[place] in (STAR, [STAR]))
    rest = [place for place in range(len(cells)) if place not in set(apart)]
    kind = _kind_of([cells[place] for place in rest])
    rest.sort(key=lambda place: kind.key(cells[place]))
    order = [*apart, *rest]
    ranks = np.empty(len(cells), np.int32)
    ranks[order] = np.arange(len(cells))
    values = tuple(cells[place] for place in order)
    positions = np.zeros(len(cells))
    positions[len(apart) :] = _spaced([kind.number(cells[place]) for place in rest])
    return Ordering(values, ranks[codes], positions, len(apart), kind.write)


@dataclass(frozen=True)
class _Kind:
    key: Callable[[Cell], tuple[object, ...]]
    number: Callable[[Cell], float | None]
    write: Writing


def _stands_apart(cell: Cell) -> bool:
    return cell is None or cell in (STAR, [STAR]) or cell != cell  # NaN is null


def _kind_of(cells: Sequence[Cell]) -> _Kind:
    if all(isinstance(cell, list) for cell in cells) and cells:
        return _Kind(lambda cell: (_texts(cell),), _nothing, _union)
    if all(_number(cell) is not None for cell in cells):
        return _Kind(lambda cell: (_number(cell), _text(cell)), _number, _interval)
    if all(_network(cell) is not None for cell in cells):
        return _Kind(lambda cell: _network(cell) or (), _nothing, _covering)
    if all(isinstance(cell, str) and _DATED.match(cell) for cell in cells):
        return _Kind(lambda cell: (_text(cell),), _nothing, _interval)
    return _Kind(lambda cell: (_text(cell),), _nothing, _members)


def _spaced(numbers: Sequence[float | None]) -> npt.NDArray[np.float64]:
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or not numbers or known[0] == known[-1]:
        return np.linspace(0, 1, len(numbers))
    found = np.array(known, np.float64)
    spaced: npt.NDArray[np.float64] = (found - found[0]) / (found[-1] - found[0])
    return spaced


def _nothing(_: Cell) -> float | None:
    return None


def _number(cell: Cell) -> float | None:
    return None if cell is None or isinstance(cell, list) else number_of(cell)


def _text(cell: Cell) -> str:
    assert cell is not None
    assert not isinstance(cell, list)
    return text_of(cell)


def _texts(cell: Cell) -> list[str]:
    return cell if isinstance(cell, list) else []


def _network(cell: Cell) -> tuple[int, int, int] | None:
    """Return version, number and length of an address or a network."""
    text, slash, length = cell.partition("/") if isinstance(cell, str) else ("", "", "")
    address = address_of(text)
    if address is None or (slash and not (length.isascii() and length.isdigit() and len(length) <= 3)):
        return None
    bits = int(length) if slash else address.max_prefixlen
    return (address.version, int(address), bits) if bits <= address.max_prefixlen else None


def _interval(values: Sequence[Cell]) -> Cell:
    return f"[{_text(values[0])},{_text(values[-1])}]"


def _members(values: Sequence[Cell]) -> Cell:
    texts: list[Scalar] = [_text(value) for value in values]
    return "{" + ",".join(map(str, texts)) + "}" if len(texts) <= MOST_MEMBERS else _interval(values)


def _union(values: Sequence[Cell]) -> Cell:
    return set_of(element for value in values for element in _texts(value))


def _covering(values: Sequence[Cell]) -> Cell:
    """Write the least network that holds all of some addresses and networks; two versions: one network of each."""
    found: dict[int, list[tuple[int, int]]] = {}
    for value in values:
        version, number, bits = _network(value) or (4, 0, 0)
        found.setdefault(version, []).append((number, bits))
    texts = []
    for version, members in sorted(found.items()):
        width = 32 if version == 4 else 128
        first, last = min(number for number, _ in members), max(number for number, _ in members)
        bits = min(width - (first ^ last).bit_length(), *(bits for _, bits in members))
        texts.append(str(ip_network((first >> (width - bits) << (width - bits), bits))))
    return texts[0] if len(texts) == 1 else "{" + ",".join(texts) + "}"
