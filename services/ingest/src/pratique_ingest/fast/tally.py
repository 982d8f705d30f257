"""The tally: frames counted by who sent them to whom and what they carry, before the ledger takes the sums.

A cell stands for all frames with the same addresses (and tunnelled addresses) and the same meaning. What such a frame
shows for the first time, its hosts, that they met, what is between them, goes into the ledger when the cell is made;
every later one only adds to four sums. Cells are a cache: at most MAX_CELLS are kept, in some 40 MB, then their sums
go to the ledger and they begin anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pratique_ingest.budget import (
    ALIAS,
    CARRIER,
    CONTEXT,
    COPIES,
    COPIES_A_CARRIER,
    HOST,
    IDENTITY,
    INNER,
    PEER,
    SUBSCRIBER,
    TUNNEL,
    WINDOW,
    Budget,
)
from pratique_ingest.capture.chunks import Chunk
from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.keys import KeyTable, distinct
from pratique_ingest.fast.meanings import carried, subscriber
from pratique_ingest.fast.rows import Column
from pratique_ingest.hosts import Ends, Ledger, Sums
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.sessions import EXPECTED
from pratique_ingest.survey import Examined

MAX_CELLS = 131_072
# The most of the budget that a frame can need: two hosts that meet, and two tunnelled addresses for each.
MET = 2 * (HOST + PEER)
TUNNELLED = MET + 4 * INNER + SUBSCRIBER
A_BYTE = COPIES + 2 * COPIES_A_CARRIER  # of an identifier
NEVER = np.iinfo(np.int64)
ADDRESS_SIZE = {0: 0, 4: 4, 6: 16}


class Kind(NamedTuple):
    """IP versions of the outermost and of the tunnelled packet, 0 for none."""

    outer: int
    inner: int

    @property
    def words(self) -> int:
        """How many key columns: two addresses for each, and the meaning."""
        return sum({0: 0, 4: 1, 6: 4}[version] for version in self) + 1


@dataclass(frozen=True, slots=True)
class Group:
    """Frames of one kind: their numbers in the batch, ascending, and their key columns, the meaning last."""

    kind: Kind
    frames: Places
    keys: tuple[Column, ...]


class Shown(NamedTuple):
    """What a key stands for."""

    source: bytes
    destination: bytes
    meaning: int
    inner: tuple[bytes, bytes] | None

    def findings(self) -> Findings:
        """Return all that one frame of the cell shows."""
        known = carried(self.meaning)
        if self.inner is None:
            return known
        inner, subscribers = set(self.inner), set(subscriber(self.meaning, self.inner))
        return replace(known, inner=inner, subscribers=subscribers)


def _read(kind: Kind, keys: Sequence[Column]) -> Iterator[Shown]:
    """Yield what key columns stand for; the address columns hold the bytes as they came."""
    packed = np.column_stack(keys[:-1]).astype("<u8").tobytes()
    size, width, row = ADDRESS_SIZE[kind.outer], ADDRESS_SIZE[kind.inner], 8 * (kind.words - 1)
    first, second, third = size, 2 * size, 2 * size + width
    for at, meaning in zip(range(0, len(packed), row), keys[-1].tolist(), strict=True):
        here = packed[at : at + row]
        inner = (here[second:third], here[third:]) if width else None
        yield Shown(here[:first], here[first:second], meaning, inner)


class _Cells:
    """The cells of one kind: sums by number, and whose counters they go to."""

    def __init__(self, kind: Kind) -> None:
        self.table = KeyTable(kind.words)
        self.sums = np.zeros((4, 0), dtype=np.int64)
        self.targets = np.zeros(0, dtype=np.int64)

    def extend(self, keys: Sequence[Column], targets: list[int]) -> Places:
        numbers = self.table.add(keys)
        size = self.table.size
        if size > self.sums.shape[1]:
            more = np.zeros((4, size), dtype=np.int64)
            more[2], more[3] = NEVER.max, NEVER.min
            self.sums = np.concatenate((self.sums, more), axis=1)
            self.targets = np.concatenate((self.targets, np.zeros(size, dtype=np.int64)))
        self.targets[numbers] = targets
        return numbers

    def add(self, cells: Places, chunk: Chunk, frames: Places) -> None:
        packets, lengths, first, last = self.sums
        np.add.at(packets, cells, 1)
        np.add.at(lengths, cells, chunk.lengths[frames])
        if chunk.timed is not None:
            timed = chunk.timed[frames]
            cells, frames = cells[timed], frames[timed]
        times = chunk.times[frames]
        np.minimum.at(first, cells, times)
        np.maximum.at(last, cells, times)


class _Targets:
    """Hosts and meanings to which cells give their sums: with tunnels there are far fewer of them than cells."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Ends, int], int] = {}

    def number(self, ends: Ends, meaning: int) -> int:
        return self.numbers.setdefault((ends, meaning), len(self.numbers))

    def sums(self, cells: Sequence[_Cells]) -> Iterator[tuple[Ends, int, Sums]]:
        """Yield what the cells give to each target."""
        packets, lengths, first, last = sums = np.zeros((4, len(self.numbers)), dtype=np.int64)
        first[:], last[:] = NEVER.max, NEVER.min
        for one in cells:
            size = one.table.size
            targets = one.targets[:size]
            np.add.at(packets, targets, one.sums[0, :size])
            np.add.at(lengths, targets, one.sums[1, :size])
            np.minimum.at(first, targets, one.sums[2, :size])
            np.maximum.at(last, targets, one.sums[3, :size])
        for (ends, meaning), (count, octets, begin, end) in zip(self.numbers, sums.T.tolist(), strict=True):
            seen = begin <= end
            yield ends, meaning, Sums(count, octets, begin if seen else None, end if seen else None)


class _New(NamedTuple):
    """Rows of a group without a cell: which, one row for each different key, and each row's key."""

    group: Group
    numbers: Places
    rows: Places
    first: Places
    key: Places


def _most(one: Examined) -> int:
    """Return the most of the budget that a frame of the exact path can need, once its connection has been read."""
    found = one.found
    need = MET + 2 * INNER * len(found.inner) + SUBSCRIBER * len(found.subscribers)
    need += sum(IDENTITY + 2 * CARRIER + A_BYTE * len(value) for _, value in found.identities)
    for context in found.contexts:
        need += CONTEXT + WINDOW + 2 * ALIAS + TUNNEL * (len(context.ends) + EXPECTED)
    for line in found.lines:
        need += 2 * (CONTEXT + WINDOW) + (TUNNEL + ALIAS) * sum(len(rule.ends) for rule in line.rules)
    if found.teid is not None:
        need += WINDOW
    return need


class Tally:
    """All cells, and the ledger behind them."""

    def __init__(self, ledger: Ledger, budget: Budget) -> None:
        self._ledger, self._budget = ledger, budget
        self._cells: dict[Kind, _Cells] = {}
        self._targets = _Targets()
        self.crowded = False

    def count(self, groups: Sequence[Group], chunk: Chunk, base: int, beside: Sequence[Examined]) -> list[Examined]:
        """Count the frames of a batch whose first is number `base` of the capture; return those left to the exact path.

        `beside` are the batch's other frames. Where they and the new cells together might go beyond the budget, the
        order of frames decides what is kept: then no cell is made, and frames without one are returned.
        """
        if sum(cells.table.size for cells in self._cells.values()) > MAX_CELLS:
            self.settle()
        news = [self._find(group) for group in groups]
        need = sum(len(new.first) * (TUNNELLED if new.group.kind.inner else MET) for new in news)
        room = self._budget.fits(need + sum(map(_most, beside)))
        self.crowded = not room
        left: list[Examined] = []
        for new in news:
            if len(new.rows) and room:
                new.numbers[new.rows] = self._make(new, base)[new.key]
            elif len(new.rows):
                left += self._singly(new, chunk, base)
            kept = slice(None) if room or not len(new.rows) else np.flatnonzero(new.numbers >= 0)
            self._cells[new.group.kind].add(new.numbers[kept], chunk, new.group.frames[kept])
        return left

    def _find(self, group: Group) -> _New:
        cells = self._cells.setdefault(group.kind, _Cells(group.kind))
        numbers = cells.table.find(group.keys)
        rows = np.flatnonzero(numbers < 0)
        if not len(rows):
            return _New(group, numbers, rows, rows, rows)
        return _New(group, numbers, rows, *distinct([key[rows] for key in group.keys]))

    def _make(self, new: _New, base: int) -> Places:
        """Make a cell for each new key; costs some 5 us, as much as a third of an exact frame."""
        kind, rows = new.group.kind, new.rows[new.first]
        keys = [key[rows] for key in new.group.keys]
        targets: list[int] = []
        admit, target = self._ledger.admit, self._targets.number
        for shown, frame in zip(_read(kind, keys), new.group.frames[rows].tolist(), strict=True):
            source, destination, meaning, inner = shown
            if inner is None:
                ends = admit(source, destination, base + frame)
            else:
                ends = admit(source, destination, base + frame, frozenset(inner), subscriber(meaning, inner))
            targets.append(target(ends, meaning))
        return self._cells[kind].extend(keys, targets)

    def _singly(self, new: _New, chunk: Chunk, base: int) -> Iterator[Examined]:
        keys = [key[new.rows] for key in new.group.keys]
        for shown, frame in zip(_read(new.group.kind, keys), new.group.frames[new.rows].tolist(), strict=True):
            time = int(chunk.times[frame]) if chunk.timed is None or chunk.timed[frame] else None
            length = int(chunk.lengths[frame])
            yield Examined(base + frame, shown.source, shown.destination, length, time, shown.findings(), None, 0)

    def settle(self) -> None:
        """Give all sums to the ledger and forget the cells."""
        for ends, meaning, sums in self._targets.sums(list(self._cells.values())):
            self._ledger.add(ends, sums, carried(meaning))
        self._cells.clear()
        self._targets = _Targets()
