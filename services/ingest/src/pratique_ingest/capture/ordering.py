"""The bytes of one direction of a TCP connection in their order (RFC 9293, 3.4), with a bound on what waits."""

from collections.abc import Iterator
from typing import NamedTuple

MASK = 0xFFFFFFFF
# What is so far ahead or behind is no segment of the same stream: the ports were used again.
REACH = 1 << 24
# Segments that wait for one that is late. Reordering and one retransmission take a few; what comes no more is a gap.
MAX_WAITING, MAX_BYTES = 64, 131_072
# What a waiting segment takes beside its bytes.
OVERHEAD = 150


class Piece(NamedTuple):
    """Bytes that are next; before them `lost` are missing (None: nobody knows how many).

    `begins` says that they begin where their segment does.
    """

    data: bytes
    lost: int | None = 0
    begins: bool = True


class Ordered:
    """One direction: where it was first seen, the number of the next byte, and the segments that wait."""

    __slots__ = ("acknowledged", "next", "size", "start", "waiting")

    def __init__(self, start: int) -> None:
        self.start = self.next = self.acknowledged = start
        self.size = 0
        self.waiting: dict[int, tuple[bytes, int]] | None = None

    def precedes(self, sequence: int, length: int) -> bool:
        """Whether a segment stands wholly before what was seen first; from then on it is what was seen first."""
        if 0 < (self.start - sequence) & MASK < REACH and (self.start - sequence - length) & MASK < REACH:
            self.start = sequence
            return True
        return False

    def add(self, sequence: int, data: bytes, missing: int = 0) -> Iterator[Piece]:
        """Yield what is next with a segment, of which `missing` bytes were not captured; what came before is passed."""
        offset = (sequence - self.next) & MASK
        if offset == 0 and not self.waiting:
            yield from self._pass(data, missing, begins=True)
        elif offset < REACH:
            self._wait(sequence, data, missing)
            yield from self._ready()
            # What the other side has acknowledged was sent: if it is not here by now, it was not captured.
            while self.waiting and self._ahead(min(self.waiting, key=self._ahead)) <= self._ahead(self.acknowledged):
                yield from self.give_up(one=True)
            while self.waiting and (len(self.waiting) > MAX_WAITING or self.size > MAX_BYTES):
                yield from self.give_up(one=True)
        elif offset < MASK + 1 - REACH:
            yield from self.give_up()
            self.start = self.next = self.acknowledged = sequence
            yield Piece(b"", None)
            yield from self._pass(data, missing, begins=True)
        elif (length := len(data) + missing) > (overlap := MASK + 1 - offset):
            yield from self._pass(data[overlap:], length - max(overlap, len(data)), begins=False)
            yield from self._ready()

    def _pass(self, data: bytes, missing: int, *, begins: bool) -> Iterator[Piece]:
        self.next = (self.next + len(data) + missing) & MASK
        if data:
            yield Piece(data, 0, begins)
        if missing:
            yield Piece(b"", missing)

    def _wait(self, sequence: int, data: bytes, missing: int) -> None:
        if self.waiting is None:
            self.waiting = {}
        known = self.waiting.get(sequence)
        if known is not None:
            if len(known[0]) >= len(data):
                return
            self.size -= len(known[0]) + OVERHEAD
        self.waiting[sequence] = data, missing
        self.size += len(data) + OVERHEAD

    def _ready(self) -> Iterator[Piece]:
        """Yield the waiting segments whose turn has come."""
        while self.waiting:
            # The one that reaches farthest back is next, if it reaches back to the next byte.
            sequence = min(self.waiting, key=self._ahead)
            overlap = -self._ahead(sequence)
            if overlap < 0:
                return
            data, missing = self.waiting.pop(sequence)
            self.size -= len(data) + OVERHEAD
            length = len(data) + missing
            if length > overlap:
                yield from self._pass(data[overlap:], length - max(overlap, len(data)), begins=not overlap)

    def _ahead(self, sequence: int) -> int:
        offset = (sequence - self.next) & MASK
        return offset if offset < REACH else offset - MASK - 1

    def give_up(self, *, one: bool = False) -> Iterator[Piece]:
        """Yield what waits, behind the gaps that are left: all of it, or up to the second gap."""
        while self.waiting:
            first = min(self.waiting, key=self._ahead)
            lost = self._ahead(first)
            self.next = first
            yield Piece(b"", lost)
            yield from self._ready()
            if one:
                return

    def drop(self) -> None:
        """Forget what waits."""
        self.waiting, self.size = None, 0
