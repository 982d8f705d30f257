"""Cells: sums of frames with the same addresses and the same meaning, and what they come to for each host."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pratique_ingest.capture.chunks import Chunk
from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.keys import KeyTable, distinct
from pratique_ingest.fast.rows import Column
from pratique_ingest.hosts import Ends, Host, Sums

NEVER = np.iinfo(np.int64)
# Words of the two outermost addresses, by IP version.
ADDRESS_WORDS = {4: 1, 6: 4}


class New(NamedTuple):
    """Rows whose keys are in no table: which they are, the first of each different key, and each row's key."""

    rows: Places
    first: Places
    key: Places

    @classmethod
    def of(cls, numbers: Places, keys: Sequence[Column]) -> "New":
        """Return the rows whose number is -1."""
        rows = np.flatnonzero(numbers < 0)
        if not len(rows):
            return cls(rows, rows, rows)
        first, key = distinct([column[rows] for column in keys])
        return cls(rows, rows[first], key)


class Pairs:
    """Who sent to whom: the hosts of each pair of addresses of one IP version."""

    def __init__(self, words: int) -> None:
        self.table = KeyTable(words)
        self.hosts: list[Host] = []
        self.ends: list[tuple[int, int]] = []
        self._number: dict[bytes, int] = {}

    def extend(self, keys: Sequence[Column], ends: Sequence[tuple[Host, Host]]) -> Places:
        """Add pairs that are not there, whose hosts the ledger has admitted."""
        self.ends += ((self._host(sender), self._host(receiver)) for sender, receiver in ends)
        return self.table.add(keys)

    def _host(self, host: Host) -> int:
        number = self._number.setdefault(host.address, len(self.hosts))
        if number == len(self.hosts):
            self.hosts.append(host)
        return number


class Cells:
    """The cells of one IP version: sums by number. A cell is a pair's, and has one meaning."""

    def __init__(self, version: int) -> None:
        self.table = KeyTable(ADDRESS_WORDS[version] + 1)
        self.pairs = Pairs(ADDRESS_WORDS[version])
        self._sums = np.zeros((4, 0), dtype=np.int64)
        self._pair = np.zeros(0, dtype=np.int64)

    def extend(self, keys: Sequence[Column], pairs: Places) -> Places:
        """Make cells for keys without one."""
        numbers = self.table.add(keys)
        size = self.table.size
        if size > self._sums.shape[1]:
            more = np.zeros((4, size), dtype=np.int64)
            more[2], more[3] = NEVER.max, NEVER.min
            self._sums = np.concatenate((self._sums, more), axis=1)
            self._pair = np.concatenate((self._pair, np.zeros(size, dtype=np.int64)))
        self._pair[numbers] = pairs
        return numbers

    def add(self, cells: Places, chunk: Chunk, frames: Places) -> None:
        """Add frames of a chunk to their cells."""
        packets, lengths, first, last = self._sums
        np.add.at(packets, cells, 1)
        np.add.at(lengths, cells, chunk.lengths[frames])
        if chunk.timed is not None:
            timed = chunk.timed[frames]
            cells, frames = cells[timed], frames[timed]
        times = chunk.times[frames]
        np.minimum.at(first, cells, times)
        np.maximum.at(last, cells, times)

    def sums(self) -> Iterator[tuple[Ends, int, Sums]]:
        """Yield what the cells come to, by meaning and host: as the sender of frames, as their receiver, as both."""
        size = self.table.size
        if not size:
            return
        meanings, meaning = np.unique(self.table.last(), return_inverse=True)
        sender, receiver = np.array(self.pairs.ends)[self._pair[:size]].T
        to_itself = sender == receiver
        for sends, receives, host, chosen in (
            (True, False, sender, ~to_itself), (False, True, receiver, ~to_itself), (True, True, sender, to_itself),
        ):  # fmt: skip
            rows = np.flatnonzero(chosen)
            groups, group = np.unique(host[rows] * len(meanings) + meaning[rows], return_inverse=True)
            sums = _grouped(self._sums[:, rows], group, len(groups))
            for number, (packets, octets, first, last) in zip(groups.tolist(), sums.T.tolist(), strict=True):
                whose = self.pairs.hosts[number // len(meanings)]
                ends = Ends(whose if sends else None, whose if receives else None)
                times = (first, last) if first <= last else (None, None)
                yield ends, int(meanings[number % len(meanings)]), Sums(packets, octets, *times)


def _grouped(sums: Places, group: Places, groups: int) -> Places:
    """Return the sums of groups of cells."""
    packets, octets, first, last = together = np.zeros((4, groups), dtype=np.int64)
    first[:], last[:] = NEVER.max, NEVER.min
    np.add.at(packets, group, sums[0])
    np.add.at(octets, group, sums[1])
    np.minimum.at(first, group, sums[2])
    np.maximum.at(last, group, sums[3])
    return together
