"""Key tables: rows of 64-bit columns to dense numbers, by open addressing over whole columns."""

from collections.abc import Sequence

import numpy as np

from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.rows import Column

# Odd multipliers with well spread bits (from the fractional part of the golden ratio, as in Fibonacci hashing).
MULTIPLIER, MIXER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
# Keys made to collide are not searched for longer than this: they are absent, and their frames take the exact path.
PROBES = 32
FIRST_SIZE = 1 << 10


def mixed(columns: Sequence[Column]) -> Column:
    """Return one well mixed number a row."""
    state = columns[0] * MULTIPLIER
    for column in columns[1:]:
        state = ((state ^ (state >> SHIFT)) + column) * MIXER
    state ^= state >> SHIFT
    return state * MULTIPLIER


def distinct(columns: Sequence[Column]) -> tuple[Places, Places]:
    """Return the first row of each group of equal rows, and the group of each row.

    Sorts by the mixed number only: rows whose numbers are equal by design may end in two groups, which counts them
    apart under the same key and changes no sum.
    """
    key = mixed(columns)
    order = np.argsort(key, kind="stable")
    new = np.ones(len(order), dtype=np.bool_)
    same = key[order[1:]] == key[order[:-1]]
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    new[1:] = ~same
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    return order[new], group


class KeyTable:
    """Keys of `columns` words, numbered in the order in which they were added; at most half full, so a look-up costs
    about one gather a row (some 40 ns)."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._free(FIRST_SIZE)
        self.size = 0

    def _free(self, capacity: int) -> None:
        self._table = np.zeros((capacity, self._columns + 1), dtype=np.uint64)
        self._mask = capacity - 1
        self._shift = np.uint64(64 - capacity.bit_length() + 1)

    def _slots(self, columns: Sequence[Column]) -> Places:
        return (mixed(columns) >> self._shift).astype(np.int64)

    def find(self, columns: Sequence[Column]) -> Places:
        """Return the number of each row, -1 for rows that are not there."""
        width = self._columns
        found = np.full(len(columns[0]), -1, dtype=np.int64)
        if not self.size:
            return found
        records = self._table.view(f"V{8 * (width + 1)}").reshape(-1)
        slots = self._slots(columns)
        rest: Places | None = None
        for _ in range(PROBES):
            rows = records[slots].view(np.uint64).reshape(-1, width + 1)
            taken = rows[:, width] > 0
            match = taken.copy()
            for number, column in enumerate(columns):
                match &= rows[:, number] == (column if rest is None else column[rest])
            numbers = rows[:, width].astype(np.int64) - 1
            going = np.flatnonzero(taken & ~match)
            if rest is None:
                found = np.where(match, numbers, found)
                rest = going
            else:
                found[rest[match]] = numbers[match]
                rest = rest[going]
            if not len(rest):
                break
            slots = (slots[going] + 1) & self._mask
        return found

    def add(self, columns: Sequence[Column]) -> Places:
        """Add rows that differ and are not there; return their numbers, also of those that could not be placed."""
        count = len(columns[0])
        while 2 * (self.size + count) > self._mask + 1:
            self._grow()
        numbers = np.arange(self.size, self.size + count)
        self.size += count
        self._place(np.column_stack((*columns, (numbers + 1).astype(np.uint64))))
        return numbers

    def _grow(self) -> None:
        kept = self._table[self._table[:, self._columns] > 0]
        self._free(2 * (self._mask + 1))
        self._place(kept)

    def _place(self, rows: Column) -> None:
        slots = self._slots([rows[:, number] for number in range(self._columns)])
        marks = rows[:, self._columns]
        for _ in range(PROBES):
            free = self._table[slots, self._columns] == 0
            # Of several rows for one slot the last one written stays; the others see it taken and go on.
            self._table[slots[free]] = rows[free]
            lost = self._table[slots, self._columns] != marks
            if not lost.any():
                return
            rows, marks, slots = rows[lost], marks[lost], (slots[lost] + 1) & self._mask
