"""Conversations: the two directions of a TCP connection that are read as streams, within a budget."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from pratique_ingest.budget import LANE, Budget
from pratique_ingest.capture.ordering import MASK, Ordered, Piece
from pratique_ingest.capture.transport import ACK, FIN, RST, SYN, Segment
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.http1 import Http1
from pratique_ingest.protocols.http2 import Http2
from pratique_ingest.protocols.streams import Reader
from pratique_ingest.protocols.websocket import WebSocket

# Protocols whose messages cross segments.
STREAMED: Final = frozenset({"http", "http2", "websocket"})
GAP, KIND = "stream-gap", "TCP streams"


class Carriers(NamedTuple):
    """The hosts of the frames that carry a segment: the outermost addresses."""

    source: bytes
    destination: bytes


class _Lane:
    """One direction; `end` is the number behind its last byte once that is known, `paid` what it has of the budget."""

    __slots__ = ("carriers", "end", "ordered", "paid", "reader")

    def __init__(self, start: int, reader: Reader, carriers: Carriers) -> None:
        self.ordered, self.reader, self.carriers = Ordered(start), reader, carriers
        self.end: int | None = None
        self.paid = LANE


def _reader(name: str, *, begun: bool) -> Reader:
    """Return a reader of a direction; where the connection began in the capture, its first byte begins a message."""
    if name == "http":
        return Http1()
    return Http2(known=begun) if name == "http2" else WebSocket(known=begun)


class Conversation:
    """A connection that speaks `name`, one of those that are streamed; it may turn to another."""

    __slots__ = ("_begun", "_budget", "_lanes", "name")

    def __init__(self, name: str, budget: Budget, *, begun: bool) -> None:
        self.name = name
        self._begun = begun
        self._budget = budget
        self._lanes: dict[bytes, _Lane] = {}

    def rests(self, near: bytes, sequence: int) -> bool:
        """Whether a message of this end may begin with the segment of that number, or of another protocol."""
        lane = self._lanes.get(near)
        return lane is None or (lane.reader.idle and lane.ordered.next == sequence)

    def take(self, ends: tuple[bytes, bytes], segment: Segment, found: Findings, carriers: Carriers) -> None:
        """Read a segment from the first of two ends to the second, and what waited for it."""
        sequence, flags = segment.sequence, segment.flags
        if flags & SYN:
            sequence = sequence + 1 & MASK
            self._begin(ends[0], sequence)
        lane = self._lane(ends[0], sequence, carriers)
        if lane is None:
            return
        other = self._lanes.get(ends[1])
        if other is not None and flags & ACK:
            other.ordered.acknowledged = segment.acknowledged
        if segment.payload:
            self._read(lane, sequence, segment, found)
        if flags & FIN:
            lane.end = sequence + len(segment.payload) + segment.missing & MASK
        if flags & RST or lane.end == lane.ordered.next:
            self._close(ends[0], lane, found)
        else:
            self._settle(lane, found)

    def _begin(self, near: bytes, start: int) -> None:
        """Begin anew with a handshake, unless it is the one that was seen."""
        lane = self._lanes.get(near)
        if lane is not None and lane.ordered.start != start:
            self.release()
        if lane is None or not self._lanes:
            self._begun = True

    def _lane(self, near: bytes, start: int, carriers: Carriers) -> _Lane | None:
        """Return the lane of a direction; None where the budget has no room for one."""
        lane = self._lanes.get(near)
        if lane is not None:
            lane.carriers = carriers
        elif self._budget.keep(KIND, LANE):
            lane = self._lanes[near] = _Lane(start, _reader(self.name, begun=self._begun), carriers)
        return lane

    def _read(self, lane: _Lane, sequence: int, segment: Segment, found: Findings) -> None:
        data, ordered = segment.payload, lane.ordered
        if sequence == ordered.next and not ordered.waiting and not segment.missing:
            ordered.next = sequence + len(data) & MASK
            self._piece(lane, Piece(data), found)
        elif ordered.precedes(sequence, len(data)):
            # What came before the first segment that was seen is read for itself.
            _reader(self.name, begun=self._begun).take(data, found, begins=True)
        else:
            for piece in ordered.add(sequence, data, segment.missing):
                self._piece(lane, piece, found)

    def _piece(self, lane: _Lane, piece: Piece, found: Findings) -> None:
        """Read what is next, or know that it is missing; follow an upgrade to another protocol."""
        if piece.lost != 0:
            found.troubles.append(GAP)
            if piece.lost is None:
                lane.reader.lose(found)
            else:
                lane.reader.skip(piece.lost, found)
        if not piece.data:
            return
        lane.reader.take(piece.data, found, begins=piece.begins)
        if lane.reader.turned is not None:
            self.name, rest = lane.reader.turned, lane.reader.rest()
            self._begun = True
            for each in self._lanes.values():
                each.reader = _reader(self.name, begun=True)
            if rest:
                lane.reader.take(rest, found, begins=True)

    def _close(self, near: bytes, lane: _Lane, found: Findings) -> None:
        """Read what waits at the end of a direction, and give its memory back."""
        for piece in lane.ordered.give_up():
            self._piece(lane, piece, found)
        lane.reader.close(found)
        self._budget.release(lane.paid)
        del self._lanes[near]

    def _settle(self, lane: _Lane, found: Findings) -> None:
        """Pay for what a lane keeps; where the budget ends, it keeps nothing."""
        cost = LANE + lane.ordered.size + lane.reader.size
        if cost > lane.paid and not self._budget.keep(KIND, cost - lane.paid):
            lane.ordered.drop()
            lane.reader.lose(found)
            cost = LANE
        if cost < lane.paid:
            self._budget.release(lane.paid - cost)
        lane.paid = cost

    def release(self) -> None:
        """Forget both directions and give their memory back."""
        for lane in self._lanes.values():
            self._budget.release(lane.paid)
        self._lanes.clear()

    def finish(self) -> Iterator[tuple[Carriers, Findings]]:
        """Yield what still waits for segments that the capture does not hold, and the hosts that carried it."""
        for lane in list(self._lanes.values()):
            if lane.ordered.waiting:
                found = Findings()
                for piece in lane.ordered.give_up():
                    self._piece(lane, piece, found)
                found.protocols -= STREAMED  # for which these frames were counted when they came
                yield lane.carriers, found
