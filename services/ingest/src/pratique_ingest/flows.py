"""TCP flows: what a connection speaks, learnt from the first segment that shows it, and what it says, in order."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pratique_ingest.budget import LANE, STREAMS, Budget
from pratique_ingest.capture.ordering import MASK, Ordered, Piece
from pratique_ingest.capture.transport import Segment
from pratique_ingest.protocols import http1
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.http1 import Http1
from pratique_ingest.protocols.http2 import Http2, http2, opens
from pratique_ingest.protocols.services import SERVER_SIGNS, TCP_PORTS, answering
from pratique_ingest.protocols.sip import sip
from pratique_ingest.protocols.streams import Reader
from pratique_ingest.protocols.websocket import WebSocket

# Connections whose protocol is known are remembered in two generations: where TURN frames of the capture end and the
# younger one has grown to this many, the older one is forgotten. At most 65,536 are kept, in some 20 MB; what they keep
# of their streams is paid for from a budget of its own.
GENERATION = 16_384
TURN = 16_384
SYN, FIN, RST, ACK = 2, 1, 4, 16
TLS_RECORD = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
# Protocols whose messages cross segments, and are read as streams.
STREAMED: Final = frozenset({"http", "http2", "websocket"})
GAP, KIND = "stream-gap", "TCP streams"
Ends = tuple[bytes, bytes]


class Carriers(NamedTuple):
    """The hosts of the frames that carry a segment: the outermost addresses."""

    source: bytes
    destination: bytes


class _Lane:
    """One direction of a connection that is read as a stream; `end` is where its last byte stands, once it is known."""

    __slots__ = ("carriers", "end", "ordered", "paid", "reader")

    def __init__(self, start: int, reader: Reader) -> None:
        self.ordered, self.reader = Ordered(start), reader
        self.carriers: Carriers | None = None
        self.end: int | None = None
        self.paid = 0


class _Flow:
    __slots__ = ("begun", "lanes", "name")

    def __init__(self) -> None:
        self.name: str | None = None
        self.lanes: dict[bytes, _Lane] | None = None
        # The beginning of the connection was seen, so that both directions begin with a frame.
        self.begun = False


def _reader(name: str, begun: bool) -> Reader:
    if name == "http":
        return Http1()
    return Http2(begun) if name == "http2" else WebSocket(begun)


class Flows:
    """Connections by their two ends, once a segment has shown their protocol.

    `changes` names, in order, the connections whose protocol became known or changed: None when all must be read anew.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._young: dict[Ends, _Flow] = {}
        self._old: dict[Ends, _Flow] = {}
        self.changes: list[tuple[Ends, str]] | None = []
        self.budget = budget or Budget(STREAMS)

    def turn(self) -> None:
        """Forget the older generation when the younger one has grown to its size."""
        if len(self._young) >= GENERATION:
            for flow in self._old.values():
                for lane in (flow.lanes or {}).values():
                    self.budget.release(lane.paid)
            self._old, self._young = self._young, {}
            self.changes = None

    def named(self) -> Iterator[tuple[Ends, str]]:
        """Yield all connections with their protocols."""
        for generation in (self._old, self._young):
            for ends, flow in generation.items():
                yield ends, flow.name or ""

    def open(self, ends: Ends, name: str) -> None:
        """Remember that a connection speaks `name`."""
        self._name(ends, _Flow(), name)

    def _name(self, ends: Ends, flow: _Flow, name: str) -> None:
        if flow.name is None:
            self._young[ends] = flow
        if flow.name != name:
            flow.name = name
            if self.changes is not None:
                self.changes.append((ends, name))
                if len(self.changes) > GENERATION:  # nobody reads them
                    self.changes = None

    def segment(
        self, source: bytes, destination: bytes, segment: Segment, found: Findings, carriers: Carriers | None = None
    ) -> None:
        """Add what a segment shows, and what is known of its connection."""
        near = source + segment.source_port.to_bytes(2, "big")
        far = destination + segment.destination_port.to_bytes(2, "big")
        ends = (near, far) if near <= far else (far, near)
        flow = self._young.get(ends) or self._old.get(ends) or _Flow()
        if segment.payload:
            if flow.name is None or flow.name == "http":
                self._recognise(ends, flow, near, segment, found)
            elif flow.name == "sip":
                sip(segment.payload, found)
            elif flow.name == "diameter":
                diameter(segment.payload, found)
        if flow.name in STREAMED and (segment.payload or segment.flags & (SYN | FIN | RST)):
            self._keep_young(ends, flow)
            self._stream(ends, flow, near, segment, found, carriers or Carriers(source, destination))
        _known(flow, segment, found)

    def _keep_young(self, ends: Ends, flow: _Flow) -> None:
        """Keep a stream that still speaks: what is known of it cannot be learnt again."""
        if ends in self._old and ends not in self._young:
            self._young[ends] = self._old.pop(ends)

    def _recognise(self, ends: Ends, flow: _Flow, near: bytes, segment: Segment, found: Findings) -> None:
        """Name a connection by what a segment shows; one that speaks HTTP may turn to something else between messages."""
        lane = (flow.lanes or {}).get(near)
        if lane is not None and not (lane.reader.idle and lane.ordered.next == segment.sequence):
            return
        name = recognised(segment, found)
        if name is None or name == flow.name:
            return
        if flow.lanes:
            self._free(flow)
        flow.begun = name == "http2" and opens(segment.payload)
        self._name(ends, flow, name)

    def _lane(self, flow: _Flow, near: bytes, start: int) -> _Lane | None:
        """Return the lane of a direction; None where the budget has no room for one."""
        if flow.lanes is None:
            flow.lanes = {}
        lane = flow.lanes.get(near)
        if lane is None and self.budget.keep(KIND, LANE):
            lane = flow.lanes[near] = _Lane(start, _reader(flow.name or "", flow.begun))
            lane.paid = LANE
        return lane

    def _stream(
        self, ends: Ends, flow: _Flow, near: bytes, segment: Segment, found: Findings, carriers: Carriers
    ) -> None:
        far = ends[0] if near == ends[1] else ends[1]
        sequence, flags, data = segment.sequence, segment.flags, segment.payload
        if flags & SYN:
            sequence = sequence + 1 & MASK
            self._again(flow, near, sequence)
        lane = self._lane(flow, near, sequence)
        if lane is None:
            return
        lane.carriers = carriers
        if flags & ACK and (other := flow.lanes.get(far)) is not None:
            other.ordered.acknowledged = segment.acknowledged
        if data:
            if sequence == lane.ordered.next and not lane.ordered.waiting and not segment.missing:
                lane.ordered.next = sequence + len(data) & MASK
                self._read(ends, flow, lane, Piece(data), found)
            elif lane.ordered.precedes(sequence, len(data)):
                # What came before the first segment that was seen is read for itself.
                _reader(flow.name or "", flow.begun).take(data, found, True)
            else:
                for piece in lane.ordered.add(sequence, data, segment.missing):
                    self._read(ends, flow, lane, piece, found)
        if flags & FIN:
            lane.end = sequence + len(data) + segment.missing & MASK
        if flags & RST or lane.end == lane.ordered.next:
            self._close(ends, flow, near, lane, found)
        else:
            self._settle(lane, found)

    def _again(self, flow: _Flow, near: bytes, start: int) -> None:
        """Begin anew with a handshake, unless it is the one that was seen."""
        lane = (flow.lanes or {}).get(near)
        if lane is not None and lane.ordered.start != start:
            self._free(flow)
            flow.begun = True

    def _read(self, ends: Ends, flow: _Flow, lane: _Lane, piece: Piece, found: Findings) -> None:
        """Read what is next, or know that it is missing; follow an upgrade to another protocol."""
        if piece.lost != 0:
            found.troubles.append(GAP)
            if piece.lost is None:
                lane.reader.lose(found)
            else:
                lane.reader.skip(piece.lost, found)
        if not piece.data:
            return
        lane.reader.take(piece.data, found, piece.begins)
        turned = lane.reader.turned
        if turned is not None:
            rest = lane.reader.rest()
            flow.begun = True
            self._name(ends, flow, turned)
            for each in (flow.lanes or {}).values():
                each.reader = _reader(turned, begun=True)
            if rest:
                lane.reader.take(rest, found, True)

    def _close(self, ends: Ends, flow: _Flow, near: bytes, lane: _Lane, found: Findings) -> None:
        """Read what waits at the end of a direction, and give its memory back."""
        for piece in lane.ordered.give_up():
            self._read(ends, flow, lane, piece, found)
        lane.reader.close(found)
        self.budget.release(lane.paid)
        if flow.lanes is not None:
            flow.lanes.pop(near, None)

    def _free(self, flow: _Flow) -> None:
        for lane in (flow.lanes or {}).values():
            self.budget.release(lane.paid)
        flow.lanes = None

    def _settle(self, lane: _Lane, found: Findings) -> None:
        """Pay for what a lane keeps; where the budget ends, it keeps nothing."""
        cost = LANE + lane.ordered.size + lane.reader.size
        if cost > lane.paid and not self.budget.keep(KIND, cost - lane.paid):
            lane.ordered.drop()
            lane.reader.lose(found)
            cost = LANE
        if cost < lane.paid:
            self.budget.release(lane.paid - cost)
        lane.paid = cost

    def finish(self) -> Iterator[tuple[Carriers, Findings]]:
        """Yield what still waited for segments that the capture does not hold, and the hosts that carried it."""
        for generation in (self._old, self._young):
            for ends, flow in generation.items():
                for lane in list((flow.lanes or {}).values()):
                    if lane.ordered.waiting and lane.carriers is not None:
                        found = Findings()
                        for piece in lane.ordered.give_up():
                            self._read(ends, flow, lane, piece, found)
                        found.protocols -= STREAMED  # these frames were counted for their connection
                        yield lane.carriers, found


def _known(flow: _Flow, segment: Segment, found: Findings) -> None:
    """Name the protocol of a segment by its connection, else by its port when it carries something."""
    ports = (segment.destination_port, segment.source_port)
    if flow.name is not None:
        found.protocols.add(flow.name)
    elif segment.payload:
        name = next((TCP_PORTS[port] for port in ports if port in TCP_PORTS), None)
        # A web port that speaks no readable HTTP may be in the middle of a body: the port is all that is known.
        if name is not None:
            found.protocols.add(name)
    sign = SERVER_SIGNS.get(("tcp", segment.source_port))
    if sign is not None and (
        (segment.flags & SYN and segment.flags & ACK)
        or (segment.payload and answering(segment.source_port, segment.destination_port))
    ):
        found.sender.add(sign)


def recognised(segment: Segment, found: Findings) -> str | None:
    """Return the protocol that a payload shows by itself."""
    data = segment.payload
    if http1.begins(data):
        return "http"
    if TLS_RECORD.match(data):
        return "tls"
    if http2(data):
        return "http2"
    if data.startswith(b"SSH-"):
        return "ssh"
    if sip(data, found):
        return "sip"
    if 3868 in (segment.source_port, segment.destination_port) and diameter(data, found):
        return "diameter"
    return None
