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
from pratique_ingest.fast.meanings import NAMES, NUMBER, SETTLED, STEADY
from pratique_ingest.fast.named import WORDS, Named, columns_of, connection, words_of
from pratique_ingest.fast.rows import Column, Flags, Rows
from pratique_ingest.flows import Ends, Flows
from pratique_ingest.protocols.websocket import WHOLE_TEXT, calls

TLS = NUMBER["tls"]
LAST_SETTLED = len(SETTLED)
LAST_STEADY = LAST_SETTLED + len(STEADY)
# How payloads begin that have a name: HTTP, SSH, SIP, and the preface of HTTP/2.
BEGINNING = re.compile(
    rb"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE) |HTTP/1|SSH-|PRI \*|SIP/2|[A-Z]{3,12} (?:sip|tel)"
)
LOOKED_AT = 16


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


class Resolved(NamedTuple):
    """What is known of segments: the number of their connection's name, and which go to the exact path."""

    names: Places
    exact: Flags


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
    called = np.zeros(len(chosen), dtype=np.bool_)
    for row in np.flatnonzero(first == WHOLE_TEXT).tolist():
        at = segments.start[chosen[row]]
        called[row] = calls(buffer[at : at + size[row]].tobytes())
    return tls, ~tls & (letters | framed | called | segments.diameter[chosen])


class Connections:
    """The named connections of both paths, as tables over key columns.

    Those that a TLS record names are settled here, in numpy; the exact path asks for them where it has none itself.
    """

    def __init__(self, flows: Flows) -> None:
        self._flows = flows
        self._named = {version: Named(version) for version in WORDS}
        flows.settled = self._settled

    def _settled(self, ends: Ends) -> str | None:
        """Return the name of a connection, unless it is of a generation that is forgotten."""
        named = self._named[4 if len(ends[0]) == 6 else 6]
        return NAMES[named.name(words_of(ends), max(self._flows.generation - 1, 0))] or None

    def learn(self) -> None:
        """Take over what the exact path has learnt and forgotten since the last batch; some 3 us a connection."""
        changes = self._flows.changes
        if changes is None:
            since = max(self._flows.generation - 1, 0)
            self._named = {version: named.since(version, since) for version, named in self._named.items()}
            changes = list(self._flows.named())
        self._flows.changes = []
        latest = dict(changes)
        for version, size in ((4, 6), (6, 18)):
            news = [(ends, name) for ends, name in latest.items() if len(ends[0]) == size]
            if news:
                keys = columns_of(version, [ends for ends, _ in news])
                self._named[version].learn(keys, [NUMBER[name] for _, name in news])

    def resolve(self, version: int, buffer: Bytes, segments: Segments, held: Sequence[Held]) -> Resolved:
        """Name the segments of a batch; `held` are segments of other frames that the exact path will read."""
        if self._named[version].lost:
            return Resolved(np.zeros(len(segments.frames), dtype=np.int64), np.ones(len(segments.frames), np.bool_))
        names = self._named[version].names(segments.ends)
        paying = segments.size > 0
        # What bears nothing needs only a name where that cannot change: HTTP may turn into a WebSocket. An end tells
        # that no more text comes.
        exact = (names > LAST_STEADY) | ((paying | segments.ending) & (names > LAST_SETTLED))
        unnamed = np.flatnonzero(names == 0)
        chosen = unnamed[paying[unnamed]]
        tls, other = _shown(buffer, segments, chosen)
        ends = [(min(pair), max(pair)) for pair in map(_held_ends, held)]
        self._settle(version, segments, unnamed, (chosen[tls], chosen[other]), ends, names, exact)
        return Resolved(names, exact)

    def _settle(
        self, version: int, segments: Segments, unnamed: Places, shown: tuple[Places, Places], held: list[Ends],
        names: Places, exact: Flags,
    ) -> None:  # fmt: skip
        """Decide for each connection without a name that shows one in this batch."""
        tls, other = shown
        rows = np.concatenate((tls, other))
        if not len(rows) and not held:
            return
        beside = columns_of(version, held) if held else tuple(np.empty(0, np.uint64) for _ in segments.ends)
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
        self._open(version, [key[opened[place]] for key in keys])

    def _open(self, version: int, keys: Sequence[Column]) -> None:
        """Settle connections; those whose keys were made to collide are the exact path's."""
        homeless = self._named[version].settle(keys, TLS, self._flows.generation)
        self._flows.beside += len(keys[0]) - len(homeless)
        for words in np.column_stack([key[homeless] for key in keys]).tolist():
            self._flows.open(connection(words), "tls")


def _held_ends(held: Held) -> Ends:
    segment = held.segment
    return (
        held.source + segment.source_port.to_bytes(2, "big"),
        held.destination + segment.destination_port.to_bytes(2, "big"),
    )
