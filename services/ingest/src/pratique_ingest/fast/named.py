"""Named connections: a table over key columns, of those that the exact path has named and of those settled here."""

from collections.abc import Sequence

import numpy as np

from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.keys import KeyTable
from pratique_ingest.fast.rows import Column
from pratique_ingest.flows import Ends

# Key columns of a connection, by IP version.
WORDS = {4: 2, 6: 5}
PORT, HALF = np.uint64(16), np.uint64(32)
ELSEWHERE = -1


def ends_of(addresses: Sequence[Column], source: Places, destination: Places) -> tuple[Column, ...]:
    """Return the key columns of connections, the same for both directions."""
    near_port, far_port = source.astype(np.uint64), destination.astype(np.uint64)
    if len(addresses) == 1:
        near = (addresses[0] & np.uint64(0xFFFFFFFF)) << PORT | near_port
        far = (addresses[0] >> HALF) << PORT | far_port
        return np.minimum(near, far), np.maximum(near, far)
    high, low, far_high, far_low = addresses
    equal = high == far_high
    turned = (high > far_high) | (equal & ((low > far_low) | ((low == far_low) & (near_port > far_port))))
    return (
        np.where(turned, far_high, high), np.where(turned, far_low, low), np.where(turned, high, far_high),
        np.where(turned, low, far_low),
        np.where(turned, far_port << PORT | near_port, near_port << PORT | far_port),
    )  # fmt: skip


def columns_of(version: int, connections: Sequence[Ends]) -> tuple[Column, ...]:
    """Return the key columns of connections as the exact path knows them."""
    size = 4 if version == 4 else 16
    packed = b"".join(near[:size] + far[:size] for near, far in connections)
    addresses = np.frombuffer(packed, "<u8").reshape(len(connections), -1).astype(np.uint64)
    ports = np.frombuffer(b"".join(near[size:] + far[size:] for near, far in connections), ">u2").astype(np.int64)
    columns = [np.ascontiguousarray(addresses[:, number]) for number in range(addresses.shape[1])]
    return ends_of(columns, ports[0::2], ports[1::2])


def words_of(ends: Ends) -> list[int]:
    """Return the key of one connection."""
    size = len(ends[0]) - 2
    ports = [int.from_bytes(end[size:], "big") for end in ends]
    if size == 4:
        return sorted(int.from_bytes(end[:4], "little") << 16 | port for end, port in zip(ends, ports, strict=True))
    one, other = sorted(
        (int.from_bytes(end[:8], "little"), int.from_bytes(end[8:16], "little"), port)
        for end, port in zip(ends, ports, strict=True)
    )
    return [*one[:2], *other[:2], one[2] << 16 | other[2]]


def _end(address: bytes, port: int) -> bytes:
    return address + port.to_bytes(2, "big")


def connection(words: Sequence[int]) -> Ends:
    """Return a connection as the exact path knows it, from its key."""
    if len(words) == 2:
        near, far = (_end((word >> 16).to_bytes(4, "little"), word & 0xFFFF) for word in words)
    else:
        address, other = (b"".join(word.to_bytes(8, "little") for word in words[at : at + 2]) for at in (0, 2))
        near, far = _end(address, words[4] >> 16), _end(other, words[4] & 0xFFFF)
    return (near, far) if near <= far else (far, near)


class Named:
    """The named connections of one IP version: numbers of names, and in which generation those settled here were.

    `lost` says that a key could not be placed: it was made to collide, and the table is not to be trusted.
    """

    def __init__(self, version: int) -> None:
        self.table = KeyTable(WORDS[version])
        self.lost = False
        # The last entry of either is that of connections that are not there, whose number is -1.
        self._names, self._settled = np.zeros(1, dtype=np.int64), np.full(1, ELSEWHERE)

    def names(self, keys: Sequence[Column]) -> Places:
        """Return the number of each row's name, zero for none."""
        return self._names[self.table.find(keys)]

    def name(self, words: Sequence[int], since: int) -> int:
        """Return the number of the name of one connection that was settled here since a generation, else zero."""
        number = self.table.find_one(words)
        return int(self._names[number]) if self._settled[number] >= since else 0

    def learn(self, keys: Sequence[Column], names: Sequence[int]) -> None:
        """Take over the names of connections that differ and that the exact path keeps."""
        numbers, told = self.table.find(keys), np.array(names)
        self._names[numbers[numbers >= 0]] = told[numbers >= 0]
        new = np.flatnonzero(numbers < 0)
        self._add([column[new] for column in keys], told[new], ELSEWHERE)

    def settle(self, keys: Sequence[Column], name: int, generation: int) -> Places:
        """Keep connections that are not there; return which of them found no place."""
        return self._add(keys, np.full(len(keys[0]), name), generation)

    def _add(self, keys: Sequence[Column], names: Places, generation: int | Places) -> Places:
        count = len(names)
        if not count:
            return np.empty(0, dtype=np.int64)
        self.table.add(keys)
        settled = np.broadcast_to(np.asarray(generation), count)
        self._names = np.concatenate((self._names[:-1], names, self._names[-1:]))
        self._settled = np.concatenate((self._settled[:-1], settled, self._settled[-1:]))
        homeless = np.flatnonzero(self.table.find(keys) < 0)
        self.lost |= len(homeless) > 0
        return homeless

    def since(self, version: int, generation: int) -> "Named":
        """Return a table with what was settled here since a generation."""
        kept = np.flatnonzero(self._settled[:-1] >= generation)
        table = Named(version)
        table._add(self.table.keys(kept), self._names[kept], self._settled[kept])
        return table
