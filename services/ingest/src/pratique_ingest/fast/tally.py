"""The tally: frames counted by who sent them to whom and what they carry, before the ledger takes the sums.

What a frame shows for the first time (its hosts, that they met, what is tunnelled between them) goes into the ledger
at once; all else about it is four sums of its cell. Cells are a cache: at most MAX_CELLS are kept, in some 20 MB, then
their sums go to the ledger and they begin anew.
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
from pratique_ingest.fast.cells import Cells, New
from pratique_ingest.fast.inside import ADDRESS_SIZE, Inside, Tunnelled, bytes_of
from pratique_ingest.fast.meanings import carried, subscriber
from pratique_ingest.fast.rows import Column, Flags
from pratique_ingest.hosts import Host, Ledger
from pratique_ingest.sessions import EXPECTED
from pratique_ingest.survey import Examined

MAX_CELLS = 131_072
# The most of the budget that a frame can need: two hosts that meet, and each tunnelled address for both.
MET = 2 * (HOST + PEER)
TUNNELLED = 2 * INNER + SUBSCRIBER
A_BYTE = COPIES + 2 * COPIES_A_CARRIER  # of an identifier


@dataclass(frozen=True, slots=True)
class Group:
    """Frames of one IP version: their numbers in the batch, ascending, their address columns and their meanings."""

    version: int
    frames: Places
    addresses: tuple[Column, ...]
    meanings: Column

    @property
    def keys(self) -> tuple[Column, ...]:
        """The key columns of their cells."""
        return (*self.addresses, self.meanings)


class _Counted(NamedTuple):
    """The frames of a group by their cells, -1 for those without one, and the keys that are new."""

    group: Group
    cells: Places
    new: New


class _Shown(NamedTuple):
    """Tunnelled packets, their keys, and those that show something for the first time."""

    tunnelled: Tunnelled
    keys: tuple[Column, ...]
    new: New


def _most(one: Examined) -> int:
    """Return the most of the budget that a frame of the exact path can need, once its connection has been read."""
    found, need = one.found, MET
    if found.inner:
        need += 2 * INNER * len(found.inner)
    if found.subscribers:
        need += SUBSCRIBER * len(found.subscribers)
    for _, value in found.identities:
        need += IDENTITY + 2 * CARRIER + A_BYTE * len(value)
    for context in found.contexts:
        need += CONTEXT + WINDOW + 2 * ALIAS + TUNNEL * (len(context.ends) + EXPECTED)
    for line in found.lines:
        need += 2 * (CONTEXT + WINDOW) + (TUNNEL + ALIAS) * sum(len(rule.ends) for rule in line.rules)
    if found.teid is not None:
        need += WINDOW
    return need


def _new(counted: Sequence[_Counted], shown: Sequence[_Shown], count: int) -> Flags:
    """Return which frames of a batch show anything new."""
    new = np.zeros(count, dtype=np.bool_)
    for group, cells, _ in counted:
        new[group.frames[cells < 0]] = True
    for tunnelled, _, fresh in shown:
        new[tunnelled.frames[fresh.rows % len(tunnelled.frames)]] = True
    return new


def _carried(inside: Sequence[Tunnelled], chosen: Flags) -> dict[int, tuple[bytes, bytes]]:
    """Return the tunnelled source and destination of some frames by their numbers."""
    addresses: dict[int, tuple[bytes, bytes]] = {}
    for tunnelled in inside:
        some, size = tunnelled.some(np.flatnonzero(chosen[tunnelled.frames])), ADDRESS_SIZE[tunnelled.inner]
        for frame, both in zip(some.frames.tolist(), bytes_of(some.inside, 2 * size), strict=True):
            addresses[frame] = both[:size], both[size:]
    return addresses


def _singly(
    counted: Sequence[_Counted], inside: Sequence[Tunnelled], chosen: Flags, chunk: Chunk, base: int
) -> Iterator[Examined]:
    """Yield some frames as the exact path knows them."""
    addresses = _carried(inside, chosen)
    for group, _, _ in counted:
        rows, size = np.flatnonzero(chosen[group.frames]), ADDRESS_SIZE[group.version]
        ends = bytes_of([column[rows] for column in group.addresses], 2 * size)
        columns = group.frames[rows].tolist(), group.meanings[rows].tolist()
        for frame, meaning, both in zip(*columns, ends, strict=True):
            found, inner = carried(meaning), addresses.get(frame)
            if inner is not None:
                found = replace(found, inner=set(inner), subscribers=set(subscriber(meaning, inner)))
            time = int(chunk.times[frame]) if chunk.timed is None or chunk.timed[frame] else None
            yield Examined(base + frame, both[:size], both[size:], int(chunk.lengths[frame]), time, found, None, 0)


class Tally:
    """All cells, and the ledger behind them."""

    def __init__(self, ledger: Ledger, budget: Budget) -> None:
        self._ledger, self._budget = ledger, budget
        self._cells: dict[int, Cells] = {}
        self._inside = {(outer, inner): Inside(outer, inner) for outer in (4, 6) for inner in (4, 6)}
        self.crowded = False

    def count(
        self, groups: Sequence[Group], inside: Sequence[Tunnelled], chunk: Chunk, base: int, beside: Sequence[Examined]
    ) -> list[Examined]:
        """Count the frames of a batch whose first is number `base` of the capture; return those left to the exact path.

        `beside` are the batch's other frames. Where they and what is new together might go beyond the budget, the order
        of frames decides what is kept: then nothing new is taken here, and frames that show some are returned.
        """
        if sum(cells.table.size for cells in self._cells.values()) > MAX_CELLS:
            self.settle()
        counted = [self._find(group) for group in groups]
        shown = [self._look(tunnelled) for tunnelled in inside]
        need = MET * sum(len(one.new.first) for one in counted) + TUNNELLED * sum(len(one.new.first) for one in shown)
        room = self._budget.fits(need + sum(map(_most, beside)))
        self.crowded = not room
        left: list[Examined] = []
        new = np.zeros(len(chunk), dtype=np.bool_)
        if room:
            for one in counted:
                self._make(one, base)
            for each in shown:
                self._admit(each)
        else:
            new = _new(counted, shown, len(chunk))
            left = list(_singly(counted, inside, new, chunk, base))
        for group, cells, _ in counted:
            if room:
                self._cells[group.version].add(cells, chunk, group.frames)
            else:
                kept = np.flatnonzero(~new[group.frames])
                self._cells[group.version].add(cells[kept], chunk, group.frames[kept])
        return left

    def _find(self, group: Group) -> _Counted:
        cells = self._cells.setdefault(group.version, Cells(group.version))
        numbers = cells.table.find(group.keys)
        return _Counted(group, numbers, New.of(numbers, group.keys))

    def _look(self, tunnelled: Tunnelled) -> _Shown:
        keys = tunnelled.keys()
        return _Shown(tunnelled, keys, self._inside[tunnelled.outer, tunnelled.inner].find(keys))

    def _make(self, counted: _Counted, base: int) -> None:
        """Make a cell for each new key."""
        group, numbers, new = counted
        if not len(new.rows):
            return
        cells = self._cells[group.version]
        addresses = [column[new.first] for column in group.addresses]
        pairs = cells.pairs.table.find(addresses)
        met = New.of(pairs, addresses)
        if len(met.rows):
            first = [column[met.first] for column in addresses]
            ends = self._meet(group.version, first, (base + group.frames[new.first[met.first]]).tolist())
            pairs[met.rows] = cells.pairs.extend(first, list(ends))[met.key]
        keys = (*addresses, group.meanings[new.first])
        numbers[new.rows] = cells.extend(keys, pairs)[new.key]

    def _meet(self, version: int, addresses: Sequence[Column], numbers: list[int]) -> Iterator[tuple[Host, Host]]:
        """Let the hosts of new pairs meet; costs some 3 us a pair."""
        size = ADDRESS_SIZE[version]
        for both, number in zip(bytes_of(addresses, 2 * size), numbers, strict=True):
            sender, receiver = self._ledger.admit(both[:size], both[size:], number)
            assert sender is not None  # there is room
            assert receiver is not None
            yield sender, receiver

    def _admit(self, shown: _Shown) -> None:
        """Keep what is tunnelled between hosts for the first time; costs some 2 us an address."""
        tunnelled, keys, new = shown
        if not len(new.rows):
            return
        known = self._inside[tunnelled.outer, tunnelled.inner]
        for one, other, address, subscribes in known.extend([column[new.first] for column in keys]):
            self._ledger.carry(one, other, frozenset((address,)), subscribes)

    def settle(self) -> None:
        """Give all sums to the ledger and forget the cells."""
        for cells in self._cells.values():
            for ends, meaning, sums in cells.sums():
                self._ledger.add(ends, sums, carried(meaning))
        self._cells.clear()
