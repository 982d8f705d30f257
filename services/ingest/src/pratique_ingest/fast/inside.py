"""Inside: the tunnelled addresses that are known already, by the hosts between which they were seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.cells import ADDRESS_WORDS, New
from pratique_ingest.fast.keys import KeyTable
from pratique_ingest.fast.meanings import DOWNLINK, UPLINK
from pratique_ingest.fast.rows import Column

LOWER, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
ADDRESS_SIZE = {4: 4, 6: 16}
# Beyond this many, what is known is forgotten: it is asked again, and found in the ledger.
MAX_KNOWN = 262_144


@dataclass(frozen=True, slots=True)
class Tunnelled:
    """Frames with a packet inside: IP versions and address columns of both, and the direction of the tunnel."""

    outer: int
    inner: int
    frames: Places
    outside: tuple[Column, ...]
    inside: tuple[Column, ...]
    direction: Places

    def some(self, rows: Places) -> "Tunnelled":
        """Return some of the frames."""
        return Tunnelled(
            self.outer, self.inner, self.frames[rows], tuple(column[rows] for column in self.outside),
            tuple(column[rows] for column in self.inside), self.direction[rows],
        )  # fmt: skip

    def keys(self) -> tuple[Column, ...]:
        """Return the keys of the inner sources, then those of the inner destinations.

        A key is the hosts' addresses (in one order for both directions, if they are IPv4), the inner address, and
        whether it is a subscriber's.
        """
        outside = self.outside
        if len(outside) == 1:
            near, far = outside[0] & LOWER, outside[0] >> HALF
            outside = (np.minimum(near, far) << HALF | np.maximum(near, far),)
        if len(self.inside) == 1:
            addresses = [np.concatenate((self.inside[0] & LOWER, self.inside[0] >> HALF))]
        else:
            sources, destinations = self.inside[:2], self.inside[2:]
            addresses = [np.concatenate(both) for both in zip(sources, destinations, strict=True)]
        known = np.concatenate((self.direction == UPLINK, self.direction == DOWNLINK)).astype(np.uint64)
        return (*(np.concatenate((column, column)) for column in outside), *addresses, known)


def bytes_of(columns: Sequence[Column], size: int) -> Iterator[bytes]:
    """Yield the addresses in columns that hold the bytes as they came; the last of IPv4 may fill half a word."""
    packed = np.column_stack(columns).astype("<u8").tobytes()
    width = 8 * len(columns)
    for at in range(0, len(packed), width):
        yield packed[at : at + size]


class Inside:
    """Tunnelled addresses that the ledger has, for one pair of IP versions."""

    def __init__(self, outer: int, inner: int) -> None:
        self._outer, self._inner = outer, inner
        self._words = 1 if inner == 4 else 2
        self._begin()

    def _begin(self) -> None:
        self._table = KeyTable(ADDRESS_WORDS[self._outer] + self._words + 1)

    def find(self, keys: Sequence[Column]) -> New:
        """Return the rows that show an address for the first time."""
        if self._table.size > MAX_KNOWN:
            self._begin()
        return New.of(self._table.find(keys), keys)

    def extend(self, keys: Sequence[Column]) -> Iterator[tuple[bytes, bytes, bytes, bool]]:
        """Know keys from now on; yield for each the two hosts, the inner address, and whether it is a subscriber's."""
        self._table.add(keys)
        size, words = ADDRESS_SIZE[self._outer], ADDRESS_WORDS[self._outer]
        hosts = bytes_of(keys[:words], 2 * size)
        inner = bytes_of(keys[words:-1], ADDRESS_SIZE[self._inner])
        for both, address, subscriber in zip(hosts, inner, keys[-1].tolist(), strict=True):
            yield both[:size], both[size:], address, bool(subscriber)
