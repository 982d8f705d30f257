"""Connections: which TCP segments of a batch the fast path may name, and which must be read one by one.

The rule that keeps both paths equal: a connection whose protocol is settled (TLS, SSH) only needs its name, one that
shows a TLS record in this batch is named from that segment on, one that shows nothing recognisable stays without a
name, and all segments of any other go to the exact path, in their order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pratique_ingest.capture.lanes import Bytes, Places
from pratique_ingest.dissection import Held
from pratique_ingest.fast.keys import KeyTable, distinct
from pratique_ingest.fast.meanings import NUMBER, SETTLED, STEADY
from pratique_ingest.fast.rows import Column, Flags, Rows
from pratique_ingest.flows import Ends, Flows
from pratique_ingest.protocols.websocket import WHOLE_TEXT

TLS = NUMBER["tls"]
LAST_SETTLED = len(SETTLED)
LAST_STEADY = LAST_SETTLED + len(STEADY)
# How payloads begin that have a name: HTTP, SSH, SIP, and the preface of HTTP/2.
BEGINNING = re.compile(
    rb"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE) |HTTP/1|SSH-|PRI \*|SIP/2|[A-Z]{3,12} (?:sip|tel)"
)
LOOKED_AT = 16
WORDS = {4: 2, 6: 5}
PORT, HALF = np.uint64(16), np.uint64(32)


@dataclass(frozen=True, slots=True)
class Segments:
    """TCP segments of one IP version: their frames' numbers in the batch, connections, payloads and ends."""

    frames: Places
    ends: tuple[Column, ...]
    start: Places
    size: Places
    diameter: Flags
    ending: Flags

    @classmethod
    def joined(cls, parts: "Sequence[Segments]") -> "Segments":
        """Return the segments of all parts."""
        if len(parts) == 1:
            return parts[0]
        join = np.concatenate
        return cls(
            join([part.frames for part in parts]), tuple(map(join, zip(*(part.ends for part in parts), strict=True))),
            join([part.start for part in parts]), join([part.size for part in parts]),
            join([part.diameter for part in parts]), join([part.ending for part in parts]),
        )  # fmt: skip


class Named(NamedTuple):
    """What is known of segments: the number of their connection's name, and which go to the exact path."""

    names: Places
    exact: Flags


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


def _columns(version: int, connections: Sequence[Ends]) -> tuple[Column, ...]:
    """Return the key columns of connections as the exact path knows them."""
    size = 4 if version == 4 else 16
    packed = b"".join(near[:size] + far[:size] for near, far in connections)
    addresses = np.frombuffer(packed, "<u8").reshape(len(connections), -1).astype(np.uint64)
    ports = np.frombuffer(b"".join(near[size:] + far[size:] for near, far in connections), ">u2").astype(np.int64)
    columns = [np.ascontiguousarray(addresses[:, number]) for number in range(addresses.shape[1])]
    return ends_of(columns, ports[0::2], ports[1::2])


def _end(address: bytes, port: int) -> bytes:
    return address + port.to_bytes(2, "big")


def _connection(words: Sequence[int]) -> Ends:
    """Return a connection as the exact path knows it, from its key columns."""
    if len(words) == 2:
        near, far = (_end((word >> 16).to_bytes(4, "little"), word & 0xFFFF) for word in words)
    else:
        address, other = (b"".join(word.to_bytes(8, "little") for word in words[at : at + 2]) for at in (0, 2))
        near, far = _end(address, words[4] >> 16), _end(other, words[4] & 0xFFFF)
    return (near, far) if near <= far else (far, near)


def _shown(buffer: Bytes, segments: Segments, chosen: Places) -> tuple[Flags, Flags]:
    """Return which payloads are TLS records for certain, and which may be something else that has a name.

    The second answer may be yes for nothing, never no for something: a chain of HTTP/2 frames has a first one that
    lies whole in the segment.
    """
    rows, size = Rows(buffer, segments.start[chosen], LOOKED_AT), segments.size[chosen]
    first, second, third = rows.byte(0), rows.byte(1), rows.byte(2)
    tls = (first >= 0x14) & (first <= 0x17) & (second == 3) & (third <= 4) & (size >= 3)
    letters = np.ones(len(chosen), dtype=np.bool_)
    for byte in (first, second, third):
        letters &= (byte >= 0x41) & (byte <= 0x5A)
    words = np.flatnonzero(letters)
    letters[words] = [BEGINNING.match(rows.bytes(row)) is not None for row in words.tolist()]
    framed = (first == 0) & (rows.byte(3) <= 9) & (rows.byte(5) < 0x80) & (rows.short(1) + 9 <= size)
    return tls, ~tls & (letters | framed | (first == WHOLE_TEXT) | segments.diameter[chosen])


class Connections:
    """The named connections of the exact path, as tables over key columns."""

    def __init__(self, flows: Flows) -> None:
        self._flows = flows
        self._begin()

    def _begin(self) -> None:
        self._tables = {version: KeyTable(words) for version, words in WORDS.items()}
        self._names: dict[int, Places] = {version: np.zeros(1024, dtype=np.int64) for version in WORDS}
        # A connection whose key could not be placed was made to collide: then none of its version is trusted.
        self._lost = dict.fromkeys(WORDS, False)

    def learn(self) -> None:
        """Take over what the exact path has learnt since the last batch. Costs some 3 us a connection."""
        changes = self._flows.changes
        if changes is None:
            self._begin()
            changes = list(self._flows.named())
        self._flows.changes = []
        latest = dict(changes)
        for version, size in ((4, 6), (6, 18)):
            news = [(ends, name) for ends, name in latest.items() if len(ends[0]) == size]
            if news:
                self._keep(version, news)

    def _keep(self, version: int, news: list[tuple[Ends, str]]) -> None:
        table, columns = self._tables[version], _columns(version, [ends for ends, _ in news])
        numbers = table.find(columns)
        new = np.flatnonzero(numbers < 0)
        if len(new):
            fresh = [column[new] for column in columns]
            numbers[new] = table.add(fresh)
            self._lost[version] |= bool((table.find(fresh) < 0).any())
        if table.size > len(self._names[version]):
            self._names[version] = np.resize(self._names[version], 2 * table.size)
        self._names[version][numbers] = [NUMBER[name] for _, name in news]

    def resolve(self, version: int, buffer: Bytes, segments: Segments, held: Sequence[Held]) -> Named:
        """Name the segments of a batch; `held` are segments of other frames that the exact path will read.

        Connections that become known by a TLS record are opened here; the exact path finds them open.
        """
        if self._lost[version]:
            return Named(np.zeros(len(segments.frames), dtype=np.int64), np.ones(len(segments.frames), dtype=np.bool_))
        numbers = self._tables[version].find(segments.ends)
        names = np.where(numbers >= 0, self._names[version][numbers], 0)
        paying = segments.size > 0
        # What bears nothing needs only a name where that cannot change: HTTP may turn into a WebSocket. An end tells
        # that no more text comes.
        exact = (names > LAST_STEADY) | ((paying | segments.ending) & (names > LAST_SETTLED))
        unnamed = np.flatnonzero(names == 0)
        chosen = unnamed[paying[unnamed]]
        tls, other = _shown(buffer, segments, chosen)
        ends = [(min(pair), max(pair)) for pair in map(_held_ends, held)]
        self._settle(version, segments, unnamed, (chosen[tls], chosen[other]), ends, names, exact)
        return Named(names, exact)

    def _settle(
        self, version: int, segments: Segments, unnamed: Places, shown: tuple[Places, Places], held: list[Ends],
        names: Places, exact: Flags,
    ) -> None:  # fmt: skip
        """Decide for each connection without a name that shows one in this batch."""
        tls, other = shown
        rows = np.concatenate((tls, other))
        if not len(rows) and not held:
            return
        beside = _columns(version, held) if held else tuple(np.empty(0, np.uint64) for _ in segments.ends)
        involved = [np.concatenate((column[rows], more)) for column, more in zip(segments.ends, beside, strict=True)]
        first, group = distinct(involved)
        local, keys = KeyTable(WORDS[version]), [column[first] for column in involved]
        local.add(keys)
        place = local.find(keys)
        if (place < 0).any():
            exact[unnamed] = True
            return
        group = place[group]
        read, since = np.zeros(len(first), dtype=np.bool_), np.full(len(first), np.iinfo(np.int64).max)
        read[group[len(tls) :]] = True
        np.minimum.at(since, group[: len(tls)], segments.frames[tls])
        mine = local.find([column[unnamed] for column in segments.ends])
        members = unnamed[mine >= 0]
        mine = mine[mine >= 0]
        exact[members] = read[mine]
        named = ~read[mine] & (segments.frames[members] >= since[mine])
        names[members[named]] = TLS
        opened = np.zeros(len(first), dtype=np.bool_)
        opened[place] = ~read[place]
        for words in np.column_stack(keys)[opened[place]].tolist():
            self._flows.open(_connection(words), "tls")


def _held_ends(held: Held) -> Ends:
    segment = held.segment
    return _end(held.source, segment.source_port), _end(held.destination, segment.destination_port)
