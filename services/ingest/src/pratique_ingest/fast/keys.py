"""Key tables: rows of 64-bit columns to dense numbers, by open addressing over whole columns."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.rows import Column

# Odd multipliers with well spread bits (from the fractional part of the golden ratio, as in Fibonacci hashing).
MULTIPLIER, MIXER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
WORD = (1 << 64) - 1
# Keys made to collide are not searched for longer than this: they are absent, and their frames take the exact path.
PROBES = 32
FIRST_SIZE = 1 << 10
# Slots for each key: at a quarter full, most rows are found at the first slot.
ROOM = 4
Slots = npt.NDArray[np.int32]


def mixed(columns: Sequence[Column]) -> Column:
    """Return one well mixed number a row."""
    state = columns[0] * MULTIPLIER
    for column in columns[1:]:
        state ^= state >> SHIFT
        state += column
        state *= MIXER
    state ^= state >> SHIFT
    state *= MULTIPLIER
    return state


def mixed_word(words: Iterable[int]) -> int:
    """Return what `mixed` gives for one row."""
    first, *others = words
    state = first * int(MULTIPLIER) & WORD
    for word in others:
        state = ((state ^ state >> 32) + word) * int(MIXER) & WORD
    return (state ^ state >> 32) * int(MULTIPLIER) & WORD


def distinct(columns: Sequence[Column]) -> tuple[Places, Places]:
    """Return the first row of each group of equal rows, ascending, and the group of each row.

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
    first = order[new]
    turn = np.argsort(first)
    rank = np.empty_like(turn)
    rank[turn] = np.arange(len(turn))
    group = np.empty(len(order), dtype=np.int64)
    group[order] = rank[np.cumsum(new) - 1]
    return first[turn], group


class KeyTable:
    """Keys of some words, numbered in the order in which they were added.

    A slot holds a number; the words stand in dense columns by number, so that a look-up costs a gather from a small
    table and one a word (some 10 ns a row).
    """

    def __init__(self, columns: int) -> None:
        self.size = 0
        # Number 0 is nobody's: what is gathered for a free slot is not looked at.
        self._words = [np.zeros(FIRST_SIZE // ROOM + 1, dtype=np.uint64) for _ in range(columns)]
        self._free(FIRST_SIZE)

    def _free(self, capacity: int) -> None:
        self._table: Slots = np.zeros(capacity, dtype=np.int32)
        self._mask = capacity - 1
        self._shift = 64 - capacity.bit_length() + 1

    def _slots(self, columns: Sequence[Column]) -> Places:
        slots: Places = (mixed(columns) >> np.uint64(self._shift)).astype(np.int64)
        return slots

    def last(self) -> Column:
        """Return the last word of all keys, by their numbers."""
        return self._words[-1][1 : self.size + 1]

    def keys(self, numbers: Places) -> list[Column]:
        """Return the words of some keys."""
        return [word[numbers + 1] for word in self._words]

    def find(self, columns: Sequence[Column]) -> Places:
        """Return the number of each row, -1 for rows that are not there."""
        if not self.size:
            return np.full(len(columns[0]), -1, dtype=np.int64)
        slots = self._slots(columns)
        numbers, match = self._look(slots, columns)
        found = numbers * match
        rest = np.flatnonzero((numbers > 0) & ~match)
        for _ in range(PROBES - 1):
            if not len(rest):
                break
            slots[rest] = (slots[rest] + 1) & self._mask
            numbers, match = self._look(slots[rest], [column[rest] for column in columns])
            found[rest] = numbers * match
            rest = rest[(numbers > 0) & ~match]
        return found - 1

    def _look(self, slots: Places, columns: Sequence[Column]) -> tuple[Places, npt.NDArray[np.bool_]]:
        numbers = self._table[slots].astype(np.int64)
        match = numbers > 0
        for word, column in zip(self._words, columns, strict=True):
            match &= word[numbers] == column
        return numbers, match

    def find_one(self, words: Sequence[int]) -> int:
        """Return the number of one key, -1 if it is not there; some 3 us."""
        slot = mixed_word(words) >> self._shift
        for _ in range(PROBES):
            number = int(self._table[slot])
            if not number:
                break
            if all(int(column[number]) == word for column, word in zip(self._words, words, strict=True)):
                return number - 1
            slot = (slot + 1) & self._mask
        return -1

    def add(self, columns: Sequence[Column]) -> Places:
        """Add rows that differ and are not there; return their numbers, also of those that could not be placed."""
        numbers = np.arange(self.size, self.size + len(columns[0]))
        self.size += len(numbers)
        if self.size >= len(self._words[0]):
            room = max(2 * len(self._words[0]), self.size + 1)
            self._words = [np.concatenate((word, np.zeros(room - len(word), np.uint64))) for word in self._words]
        for word, column in zip(self._words, columns, strict=True):
            word[numbers + 1] = column
        if ROOM * self.size > self._mask + 1:
            self._free(1 << (ROOM * self.size - 1).bit_length())
            self._place(np.arange(self.size) + 1)
        else:
            self._place(numbers + 1)
        return numbers

    def _place(self, numbers: Places) -> None:
        slots = self._slots([word[numbers] for word in self._words])
        for _ in range(PROBES):
            free = self._table[slots] == 0
            # Of several rows for one slot the last one written stays; the others see it taken and go on.
            self._table[slots[free]] = numbers[free]
            lost = self._table[slots] != numbers
            if not lost.any():
                return
            numbers, slots = numbers[lost], (slots[lost] + 1) & self._mask
