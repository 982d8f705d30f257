"""Mondrian: strict multidimensional partitioning of the quasi-identifiers (LeFevre, DeWitt and Ramakrishnan 2006)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.policy.cells import Cell, column_of
from pratique_privacy.policy.ordering import Ordering, ordering_of
from pratique_shared.contracts.policy import STAR, Mondrian
from pratique_shared.contracts.problems import FieldError, PolicyRefused
from pratique_shared.frames.partition import coded

Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]


def mondrian(
    quasi_identifiers: Sequence[pl.Series], sensitive: Sequence[pl.Series], step: Mondrian, where: str
) -> list[pl.Series]:
    """Return the quasi-identifiers with every cell replaced by what its part of the table holds.

    A part is cut in two along its widest column, measured against the whole table: null and `*` first leave the values
    beside which they stand, else the median decides, with equal values on one side. A cut counts only if both sides
    keep `k` rows, `l` distinct sensitive values that are not empty, and a total variation from the whole of at most
    `t`; else the next widest column is tried. One value stays as it is; several are written as `[lo,hi]` for numbers
    and times, as the least network for addresses, as `{a,b}` for text and as the union for lists. Parts that come to
    be written alike are one class, which keeps every constraint. No row leaves, and the order of rows changes nothing.
    Raises `PolicyRefused` (`mondrian-infeasible`) where even the uncut table breaks a constraint.
    """
    rows = len(quasi_identifiers[0])
    if not rows:
        return list(quasi_identifiers)
    orderings = [ordering_of(column) for column in quasi_identifiers]
    limits = _Limits.of(sensitive, step, rows)
    everything = np.arange(rows)
    if not limits.met(everything):
        detail = f"The table as it stands has fewer than {step.k} rows or too few sensitive values: ask for less."
        raise PolicyRefused("mondrian-infeasible", detail, [FieldError(where, "ask for a smaller k or l")])
    parts = np.zeros(rows, np.int64)
    for number, members in enumerate(_parts(orderings, limits, everything)):
        parts[members] = number
    written = zip(quasi_identifiers, orderings, strict=True)
    return [_written(column, ordering, parts) for column, ordering in written]


@dataclass(frozen=True)
class _Limits:
    """What every part must keep; sensitive attributes by codes, those of empty values left out of `filled`."""

    k: int
    l: int | None  # noqa: E741 - its name
    t: Fraction | None
    attributes: tuple["_Attribute", ...] = field(repr=False)

    @classmethod
    def of(cls, sensitive: Sequence[pl.Series], step: Mondrian, rows: int) -> "_Limits":
        t = None if step.t is None else Fraction(repr(step.t))
        attributes = tuple(_attribute(column, rows) for column in sensitive) if step.l or t is not None else ()
        return cls(step.k, step.l, t, attributes)

    def met(self, rows: Rows) -> bool:
        return rows.size >= self.k and all(self._met(attribute, rows) for attribute in self.attributes)

    def _met(self, attribute: "_Attribute", rows: Rows) -> bool:
        counts = np.bincount(attribute.codes[rows], minlength=attribute.totals.size)
        if self.l is not None and int(np.count_nonzero(counts[attribute.filled])) < self.l:
            return False
        if self.t is None:
            return True
        excess = counts * attribute.rows - attribute.totals * rows.size
        return Fraction(int(excess[excess > 0].sum()), attribute.rows * rows.size) <= self.t


@dataclass(frozen=True)
class _Attribute:
    codes: npt.NDArray[np.int64] = field(repr=False)
    totals: npt.NDArray[np.int64] = field(repr=False)
    filled: npt.NDArray[np.bool_] = field(repr=False)
    rows: int


def _attribute(column: pl.Series, rows: int) -> _Attribute:
    """Code a sensitive column; null, "" and [] are one value, which is no diversity."""
    found = coded(column)
    cells = column.gather(found.first_rows).to_list()
    empty = np.array([cell is None or cell in ("", []) for cell in cells], np.bool_)
    names = np.cumsum(~empty)
    names[empty] = 0
    codes = names[found.codes].astype(np.int64)
    totals = np.bincount(codes, minlength=int(names.max()) + 1).astype(np.int64)
    filled = np.ones(totals.size, np.bool_)
    filled[0] = False
    return _Attribute(codes, totals, filled, rows)


def _parts(orderings: Sequence[Ordering], limits: _Limits, everything: Rows) -> Iterator[Rows]:
    open_ = [everything]
    while open_:
        rows = open_.pop()
        split = None if rows.size < 2 * limits.k else _split(orderings, limits, rows)
        if split is None:
            yield rows
        else:
            open_.extend(split)


def _split(orderings: Sequence[Ordering], limits: _Limits, rows: Rows) -> Split | None:
    """Return the first cut that both sides bear, the widest column first; ties by the order of the columns."""
    ranks = [ordering.ranks[rows] for ordering in orderings]
    widths = [_width(ordering, own) for ordering, own in zip(orderings, ranks, strict=True)]
    for column in sorted(range(len(widths)), key=lambda column: -widths[column]):
        if widths[column] == 0:
            return None
        for left in _cuts(orderings[column], ranks[column]):
            split = rows[left], rows[~left]
            if limits.met(split[0]) and limits.met(split[1]):
                return split
    return None


def _width(ordering: Ordering, ranks: npt.NDArray[np.int32]) -> float:
    """Return how much of the column's span a part has; beside null or `*` more than any span, for one value 0."""
    low, high = int(ranks.min()), int(ranks.max())
    if low == high:
        return 0.0
    if low < ordering.apart:
        return 2.0
    return max(float(ordering.positions[high] - ordering.positions[low]), np.finfo(float).tiny)


def _cuts(ordering: Ordering, ranks: npt.NDArray[np.int32]) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield which rows come to the left: null, then `*`, from what stands beside them; to the median, or below it."""
    low, high = int(ranks.min()), int(ranks.max())
    for last in range(low, min(ordering.apart, high)):
        yield ranks <= last
    median = int(np.partition(ranks, (ranks.size - 1) // 2)[(ranks.size - 1) // 2])
    if median < high:
        yield ranks <= median
    if median > low:
        yield ranks < median


def _written(column: pl.Series, ordering: Ordering, parts: npt.NDArray[np.int64]) -> pl.Series:
    """Write a column part by part; what a part holds is looked up once."""
    pairs = np.unique(parts * len(ordering.values) + ordering.ranks)
    owners, ranks = np.divmod(pairs, len(ordering.values))
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ends = np.append(starts[1:], owners.size)
    held = ranks.tolist()
    cells: list[Cell] = [_cell(ordering, held[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    return column_of(cells, column).gather(parts)


def _cell(ordering: Ordering, ranks: Sequence[int]) -> Cell:
    """Write what a part holds: what stands apart is named beside the stretch of the others."""
    beside = [rank for rank in ranks if rank < ordering.apart]
    others = ranks[len(beside) :]
    if not beside or len(ranks) == 1:
        return ordering.stretch(ranks)
    stretch = ordering.stretch(others) if others else None
    names = ["*" if ordering.values[rank] in (STAR, [STAR]) else "null" for rank in beside]
    if isinstance(stretch, list) or any(isinstance(ordering.values[rank], list) for rank in beside):
        return sorted({*names, *(stretch if isinstance(stretch, list) else [])})
    return "{" + ",".join([*names, *([] if stretch is None else [str(stretch)])]) + "}"
