"""Projections: how many rows of the release carry a given combination of values on a subset of columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.matrix import Codes, Counts, Matrix, Subset

Keys: TypeAlias = npt.NDArray[np.int64]
Sizes: TypeAlias = npt.NDArray[np.int32]
Columns: TypeAlias = Sequence[npt.NDArray[np.int32]] | Codes

KEY_LIMIT: Final = 2**62
# A table over the whole key space takes 4 bytes a key; a sorted one about 20 a distinct row, and thrice the look-ups.
DENSE_KEYS_PER_ROW: Final = 8
DENSE_KEYS_AT_LEAST: Final = 2**16
TABLE_BYTES: Final = 512 * 2**20


class SortedTable:
    """Distinct keys in the order of a scrambled form, which is a bijection: equal scrambles mean equal keys.

    A scramble's leading bits name a bucket of about one key; a look-up starts there and walks up.
    """

    def __init__(self, keys: Keys, weights: Counts | None) -> None:
        scrambled = _scramble(keys)
        if weights is None:
            scrambled.sort()
        else:
            order = np.argsort(scrambled)
            scrambled, weights = scrambled[order], weights[order]
        first = np.concatenate(([True], scrambled[1:] != scrambled[:-1]))
        starts = np.flatnonzero(first)
        self.size = starts.size
        counts = np.diff(starts, append=scrambled.size) if weights is None else np.add.reduceat(weights, starts)
        bits = self.size.bit_length() + 1
        self._shift = np.uint64(64 - bits)
        # The last place is a wall: no key scrambles to it, none is above it, and it counts nothing.
        self._scrambled = np.append(scrambled[starts], np.uint64(2**64 - 1))
        self._counts = np.append(counts, 0).astype(np.int32)
        filled = np.bincount((self._scrambled[:-1] >> self._shift).view(np.int64), minlength=2**bits)
        self._bucket = (np.cumsum(filled) - filled).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Return the memory that the table holds."""
        return self._scrambled.nbytes + self._counts.nbytes + self._bucket.nbytes

    def _find(self, keys: Keys) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
        """Return the first place that is not below each key, and whether the key is there."""
        wanted = _scramble(keys)
        place = self._bucket.take((wanted >> self._shift).view(np.int64)).astype(np.intp)
        found = self._scrambled.take(place)
        short = np.flatnonzero(found < wanted)
        while short.size:
            further = place.take(short) + 1
            reached = self._scrambled.take(further)
            place[short] = further
            found[short] = reached
            short = short[reached < wanted.take(short)]
        return place, found == wanted

    def count(self, keys: Keys) -> Sizes:
        """Return the number of rows with each key, 0 for a key that no row has."""
        place, here = self._find(keys)
        return self._counts.take(place) * here

    def present(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell for each key whether any row has it."""
        return self._find(keys)[1]

    def rank(self, keys: Keys) -> Keys:
        """Return a dense number for each key, -1 for a key that no row has."""
        place, here = self._find(keys)
        return np.where(here, place, -1).astype(np.int64)


class DenseTable:
    """A count for every key that could be, for small key spaces."""

    def __init__(self, keys: Keys, weights: Counts | None, space: int) -> None:
        # Weights are row counts: their float sums are exact below 2^53.
        self._counts = np.bincount(keys, weights, minlength=space).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Return the memory that the table holds."""
        return self._counts.nbytes

    def count(self, keys: Keys) -> Sizes:
        """Return the number of rows with each key, 0 for a key that no row has."""
        return self._counts.take(keys)

    def present(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Tell for each key whether any row has it."""
        return self._counts.take(keys).astype(np.bool_)


@dataclass(frozen=True)
class Numbering:
    """Mixed-radix keys of a subset of columns: equal keys mean equal values on all of them.

    Where the next digit would pass `KEY_LIMIT`, the key so far is first replaced by its rank among the combinations
    that the release has; a query without a rank gets a negative key, which stays negative and is in no table.
    """

    steps: tuple[tuple[int, int, SortedTable | None], ...]
    space: int

    @classmethod
    def over(cls, subset: Subset, rows: Codes, radices: tuple[int, ...]) -> Self:
        """Plan the keys of `subset`; `rows` (columns, rows) are read only where a rank is needed."""
        steps: list[tuple[int, int, SortedTable | None]] = []
        space = 1
        for column in subset:
            ranks = None
            if space * radices[column] > KEY_LIMIT:
                ranks = SortedTable(cls(tuple(steps), space).keys(rows), None)
                space = ranks.size
            steps.append((column, radices[column], ranks))
            space *= radices[column]
        return cls(tuple(steps), space)

    @property
    def plain(self) -> bool:
        """Tell whether the key is the mixed-radix number itself."""
        return all(ranks is None for _, _, ranks in self.steps)

    def keys(self, values: Columns) -> Keys:
        """Return the key of each query; `values` hold one array a column, of which only the subset's are read."""
        if not self.steps:
            return np.zeros(len(values[0]) if len(values) else 0, dtype=np.int64)
        key = values[self.steps[0][0]].astype(np.int64)
        for column, radix, ranks in self.steps[1:]:
            if ranks is not None:
                key = ranks.rank(key)
            key *= radix
            key += values[column]
        return key

    def dense(self, rows: int) -> bool:
        """Tell whether a table over the whole key space is worth its memory."""
        return self.plain and self.space <= max(DENSE_KEYS_PER_ROW * rows, DENSE_KEYS_AT_LEAST)


class Projections:
    """The shared index: a table of counts for any subset of columns, built at first use and kept while memory allows.

    Rows that agree on every column are counted once with their number, so tables are built from the classes.
    """

    def __init__(self, matrix: Matrix, budget: int = TABLE_BYTES) -> None:
        self.matrix = matrix
        self.rows, self.weights = _classes(matrix)
        self._budget = budget
        self._kept: dict[Subset, tuple[Numbering, SortedTable | DenseTable]] = {}

    @property
    def all_fit(self) -> bool:
        """Tell whether every subset's table can be kept at once, by the most that a table can take."""
        rows = self.rows.shape[1]
        each = 4 * max(DENSE_KEYS_PER_ROW * rows, min(DENSE_KEYS_AT_LEAST, prod(self.matrix.radices)))
        return bool(each * 2**self.matrix.width <= self._budget)

    def numbering(self, subset: Subset) -> Numbering:
        """Return the keys of a subset of columns."""
        return Numbering.over(subset, self.rows, self.matrix.radices)

    def count(self, subset: Subset, queries: Columns) -> Sizes:
        """Return how many released rows agree with each query on `subset`; `queries` hold one array a column."""
        numbering, table = self._table(subset)
        return table.count(numbering.keys(queries))

    def present(self, subset: Subset, queries: Columns) -> npt.NDArray[np.bool_]:
        """Tell for each query whether any released row agrees with it on `subset`."""
        numbering, table = self._table(subset)
        return table.present(numbering.keys(queries))

    def _table(self, subset: Subset) -> tuple[Numbering, SortedTable | DenseTable]:
        kept = self._kept.get(subset)
        if kept is not None:
            return kept
        numbering = self.numbering(subset)
        keys = numbering.keys(self.rows)
        table: SortedTable | DenseTable
        if numbering.dense(self.rows.shape[1]):
            table = DenseTable(keys, self.weights, numbering.space)
        else:
            table = SortedTable(keys, self.weights)
        if table.nbytes <= self._budget:
            self._budget -= table.nbytes
            self._kept[subset] = (numbering, table)
        return numbering, table


def _classes(matrix: Matrix) -> tuple[Codes, Counts | None]:
    """Return the distinct rows with their numbers, or all rows without where that would spare less than half."""
    numbering = Numbering.over(tuple(range(matrix.width)), matrix.columns, matrix.radices)
    if not matrix.rows or not matrix.width or not numbering.plain:
        return matrix.columns, None
    keys = numbering.keys(matrix.columns)
    if numbering.dense(matrix.rows):
        tally = np.bincount(keys, minlength=numbering.space)
        distinct = np.flatnonzero(tally)
        weights = tally[distinct]
    else:
        keys.sort()
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        distinct, weights = keys[starts], np.diff(starts, append=keys.size)
    if distinct.size > matrix.rows // 2:
        return matrix.columns, None
    rows = np.empty((matrix.width, distinct.size), dtype=np.int32)
    for column in reversed(range(matrix.width)):
        distinct, rows[column] = np.divmod(distinct, matrix.radices[column])
    return rows, weights


def _scramble(keys: Keys) -> npt.NDArray[np.uint64]:
    """Spread keys over 64 bits, one to one: odd factors and a shift, each of which can be undone (Steele et al. 2014).

    The one number that these factors take to 2^64 - 1 is beyond `KEY_LIMIT`, so that value is free to mean "the end".
    """
    scrambled = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    scrambled ^= scrambled >> np.uint64(32)
    scrambled *= np.uint64(0x94D049BB133111EB)
    return scrambled
