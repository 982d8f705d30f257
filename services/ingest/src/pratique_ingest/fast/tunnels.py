"""Tunnelled frames by columns: which session each counts for, with the same rule as `pratique_ingest.tunnels`.

The ends of tunnels stand in a sorted table for each IP version. What the frames of a batch change in it is known when
its exact frames are done: each end then has its hands in the order of frames, and a search among them tells whose it
was at any frame.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pratique_ingest.budget import WINDOW
from pratique_ingest.capture.chunks import Chunk
from pratique_ingest.capture.lanes import Places
from pratique_ingest.fast.headers import Headers
from pratique_ingest.fast.keys import distinct
from pratique_ingest.presences import SPAN, Place, Presence
from pratique_ingest.sessions import Sessions
from pratique_ingest.survey import Examined

NOBODY = -1
# Numbers for IP version 4, strings of twenty bytes for version 6.
Keys = npt.NDArray[Any]


class Ends(NamedTuple):
    """Frames with a user's packet in GTP-U: the IP version, their numbers in the batch, and where they go."""

    version: int
    frames: Places
    keys: Keys

    @staticmethod
    def of(version: int, frames: Places, headers: Headers, chosen: Places) -> "Ends":
        """Read the destinations and TEIDs of the chosen packets; an address of version 4 and a TEID are one number."""
        rows, at = headers.rows, headers.transport_at + 8 + 4
        teid = (rows.short(at) << 16 | rows.short(at + 2))[chosen]
        if version == 4:
            keys = headers.addresses[0][chosen] >> np.uint64(32) | teid.astype(np.uint64) << np.uint64(32)
            return Ends(version, frames[chosen], keys)
        packed = np.empty((len(chosen), 5), dtype="<u4")
        for column in (0, 1):
            packed[:, 2 * column : 2 * column + 2] = (
                headers.addresses[2 + column][chosen].astype("<u8").view("<u4").reshape(-1, 2)
            )
        packed[:, 4] = teid.astype("<u4")
        return Ends(version, frames[chosen], packed.view("S20").reshape(-1))


def _key(place: Place) -> tuple[int, int | bytes]:
    """Return the IP version of an end and its key in the table."""
    address, teid = place
    if len(address) == 4:
        return 4, int.from_bytes(address, "little") | teid << 32
    return 6, address + teid.to_bytes(4, "little")


def _place(version: int, key: int | bytes) -> Place:
    if version == 4 and isinstance(key, int):
        return (key & 0xFFFFFFFF).to_bytes(4, "little"), key >> 32
    packed = bytes(key).ljust(20, b"\0")
    return packed[:16], int.from_bytes(packed[16:], "little")


class _Table:
    """The ends of one IP version, sorted, and the number of the presence that holds each."""

    def __init__(self, version: int) -> None:
        self.keys: Keys = np.empty(0, dtype=np.uint64 if version == 4 else "S20")
        self.holders = np.empty(0, dtype=np.int64)

    def rows(self, keys: Keys) -> Places:
        """Return where keys stand in the table, -1 for those that do not."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def packed(self, keys: Sequence[int | bytes]) -> Keys:
        """Return keys as the table holds them."""
        packed: Keys = np.array(keys, dtype=self.keys.dtype)
        return packed

    def admit(self, keys: Sequence[int | bytes]) -> None:
        """Make room for ends that are not there; nobody holds them yet."""
        wanted = np.unique(self.packed(keys))
        wanted = wanted[self.rows(wanted) < 0]
        at = np.searchsorted(self.keys, wanted)
        self.keys = np.insert(self.keys, at, wanted)
        self.holders = np.insert(self.holders, at, NOBODY)

    def sweep(self) -> None:
        """Forget ends that nobody holds, where they are the most."""
        held = self.holders != NOBODY
        if 2 * int(held.sum()) < len(held):
            self.keys, self.holders = self.keys[held], self.holders[held]


@dataclass(frozen=True, slots=True)
class _Hands:
    """Into whose hands ends of one version came in a batch: their keys, the frames, and the presences' numbers."""

    keys: list[int | bytes]
    frames: list[int]
    holders: list[int]


class Carried(NamedTuple):
    """One frame that is counted in its turn: its number in the capture, where it goes, its window and length."""

    number: int
    place: Place
    window: int
    length: int


class TunnelledFrames:
    """Counts the tunnelled frames of batches for the sessions' presences."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions, self._tunnels = sessions, sessions.tunnels
        self._tables = {4: _Table(4), 6: _Table(6)}
        self._presences: dict[int, Presence] = {}

    def begin(self) -> None:
        """Bring the table to the state before a batch, and have the batch's own changes told."""
        changes = self._tunnels.changes
        if changes is None:
            self._tables = {4: _Table(4), 6: _Table(6)}
            self._presences = {}
            changes = [(0, place, holder) for place, holder in self._tunnels.held().items()]
        if changes:
            self._apply(self._hands(changes))
        self._tunnels.changes, self._tunnels.bounded = [], False

    def need(self, parts: Sequence[Ends], chunk: Chunk, beside: Sequence[Examined]) -> int:
        """Return the most of the budget that the frames can need, with what the batch's exact frames will name."""
        named = sum(len(context.ends) for one in beside for context in one.found.contexts)
        named += sum(len(rule.ends) for one in beside for line in one.found.lines for rule in line.rules)
        holders = len(self._tunnels) + named
        frames = sum(len(part.frames) for part in parts)
        if not holders or not frames:
            return 0
        windows = int(chunk.times.max()) // SPAN - int(chunk.times.min()) // SPAN + 1
        return WINDOW * min(frames, holders * windows)

    def count(self, parts: Sequence[Ends], chunk: Chunk, base: int) -> None:
        """Count frames once the batch's exact frames are done and the budget is known to have room."""
        changes = self._tunnels.changes or []
        by_version = self._hands(changes)
        for part in parts:
            hands = by_version.get(part.version)
            table = self._tables[part.version]
            if hands is not None:
                table.admit(hands.keys)
            if chunk.timed is not None:
                timed = chunk.timed[part.frames]
                part = Ends(part.version, part.frames[timed], part.keys[timed])  # noqa: PLW2901 - the rest is nobody's
            rows = table.rows(part.keys)
            holders = np.where(rows >= 0, table.holders[rows], NOBODY) if len(table.keys) else rows
            if hands is not None:
                _change(table, hands, holders, rows, part.frames + base)
            self._tunnels.unknown += int((holders == NOBODY).sum())
            self._add(chunk, part.frames, holders)
        self._end(by_version)

    def singly(self, parts: Sequence[Ends], chunk: Chunk, base: int) -> Iterator[Carried]:
        """Yield frames, to be counted in their turn, where the budget may end within the batch."""
        for part in parts:
            for frame, key in zip(part.frames.tolist(), part.keys.tolist(), strict=True):
                if chunk.timed is None or chunk.timed[frame]:
                    window, length = int(chunk.times[frame]) // SPAN, int(chunk.lengths[frame])
                    yield Carried(base + frame, _place(part.version, key), window, length)

    def finish(self) -> None:
        """Take in the changes of a batch whose frames were counted in their turn."""
        self._end(self._hands(self._tunnels.changes or []))

    def _end(self, by_version: dict[int, _Hands]) -> None:
        if by_version:
            self._apply(by_version)
        self._tunnels.changes, self._tunnels.bounded = [], True

    def _hands(self, changes: Sequence[tuple[int, Place, Presence | None]]) -> dict[int, _Hands]:
        by_version: dict[int, _Hands] = {}
        for frame, place, holder in changes:
            version, key = _key(place)
            hands = by_version.setdefault(version, _Hands([], [], []))
            hands.keys.append(key)
            hands.frames.append(frame)
            hands.holders.append(NOBODY if holder is None else holder.number)
            if holder is not None:
                self._presences[holder.number] = holder
        return by_version

    def _apply(self, by_version: dict[int, _Hands]) -> None:
        for version, hands in by_version.items():
            table = self._tables[version]
            table.admit(hands.keys)
            rows = table.rows(table.packed(hands.keys))
            # Of several changes of one end the last one written stays.
            table.holders[rows] = hands.holders
            table.sweep()
        held = sum(len(table.holders) for table in self._tables.values())
        if len(self._presences) > 2 * held + 1024:
            numbers = {number for table in self._tables.values() for number in table.holders.tolist()}
            self._presences = {number: one for number, one in self._presences.items() if number in numbers}

    def _add(self, chunk: Chunk, frames: Places, holders: Places) -> None:
        known = np.flatnonzero(holders != NOBODY)
        if not len(known):
            return
        frames, holders = frames[known], holders[known]
        windows = chunk.times[frames] // SPAN
        first, group = distinct([holders.view(np.uint64), windows.view(np.uint64)])
        packets = np.bincount(group, minlength=len(first))
        octets = np.zeros(len(first), dtype=np.int64)
        np.add.at(octets, group, chunk.lengths[frames])
        columns = (holders[first], windows[first], packets, octets)
        for holder, window, count, size in zip(*(column.tolist() for column in columns), strict=True):
            self._sessions.add(self._presences[holder], window, count, size)


def _change(table: _Table, hands: _Hands, holders: Places, rows: Places, frames: Places) -> None:
    """Give frames behind a change of their end to whoever has held it since."""
    ends = table.rows(table.packed(hands.keys))
    moments, taken = np.array(hands.frames, dtype=np.int64), np.array(hands.holders, dtype=np.int64)
    order = np.lexsort((np.arange(len(ends)), moments, ends))
    ends, moments, taken = ends[order], moments[order], taken[order]
    first = int(moments.min())
    span = max(int(frames.max(initial=0)), int(moments.max())) - first + 2
    # One number for an end and a frame; both are small enough within a batch.
    at = np.searchsorted(ends * span + (moments - first), rows * span + np.maximum(frames - first, 0)) - 1
    # A frame before the first change has no place in the order of changes: it stays with whoever held the end.
    late = (at >= 0) & (frames > first) & (rows >= 0)
    late &= ends[np.maximum(at, 0)] == rows
    holders[late] = taken[at[late]]
