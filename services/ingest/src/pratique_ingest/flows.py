"""TCP flows: what a connection speaks, learnt from the first segment that shows it, and text that crosses segments."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from pratique_ingest.capture.transport import Segment
from pratique_ingest.protocols import ocpp, sbi
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.services import SERVER_SIGNS, TCP_PORTS, answering
from pratique_ingest.protocols.sip import sip

# Connections whose protocol is known are remembered in two generations: where TURN frames of the capture end and the
# younger one has grown to this many, the older one is forgotten. At most 65,536 are kept, in some 40 MB.
GENERATION = 16_384
TURN = 16_384
# Enough of the last segment to complete an identifier that crosses into the next.
TAIL = 256
SYN, FIN, RST, ACK = 2, 1, 4, 16
TLS_RECORD = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
TEXT: Final = frozenset({"http", "http2"})
Ends = tuple[bytes, bytes]


class _Flow:
    __slots__ = ("name", "tails")

    def __init__(self) -> None:
        self.name: str | None = None
        self.tails: dict[bytes, tuple[int, bytes]] = {}


class Flows:
    """Connections by their two ends, once a segment has shown their protocol.

    `changes` names, in order, the connections whose protocol became known or changed: None when all must be read anew.
    Connections that the fast path has named for good are kept there: `beside` counts those of the present generation,
    `settled` finds their names.
    """

    def __init__(self) -> None:
        self._young: dict[Ends, _Flow] = {}
        self._old: dict[Ends, _Flow] = {}
        self.changes: list[tuple[Ends, str]] | None = []
        self.settled: Callable[[Ends], str | None] | None = None
        self.beside = self.generation = 0

    def turn(self) -> None:
        """Forget the older generation when the younger one has grown to its size."""
        if len(self._young) + self.beside >= GENERATION:
            self._old, self._young = self._young, {}
            self.beside = 0
            self.generation += 1
            self.changes = None

    def named(self) -> Iterator[tuple[Ends, str]]:
        """Yield all connections that are kept here, with their protocols."""
        for generation in (self._old, self._young):
            for ends, flow in generation.items():
                yield ends, flow.name or ""

    def open(self, ends: Ends, name: str) -> None:
        """Remember that a connection speaks `name`."""
        self._name(ends, _Flow(), name)

    def _begin(self, ends: Ends) -> _Flow:
        flow = _Flow()
        if self.settled is not None:
            flow.name = self.settled(ends)
        return flow

    def _name(self, ends: Ends, flow: _Flow, name: str) -> None:
        if flow.name is None:
            self._young[ends] = flow
        if flow.name != name:
            flow.name = name
            if self.changes is not None:
                self.changes.append((ends, name))
                if len(self.changes) > GENERATION:  # nobody reads them
                    self.changes = None

    def segment(self, source: bytes, destination: bytes, segment: Segment, found: Findings) -> None:
        """Add what a segment shows, and what is known of its connection."""
        near = source + segment.source_port.to_bytes(2, "big")
        far = destination + segment.destination_port.to_bytes(2, "big")
        ends = (near, far) if near <= far else (far, near)
        flow = self._young.get(ends) or self._old.get(ends) or self._begin(ends)
        if segment.payload:
            if flow.name is None or flow.name == "http":
                name = _recognise(segment, found)
                if name is not None:
                    self._name(ends, flow, name)
            elif flow.name == "websocket":
                ocpp.ocpp(segment.payload, found)
            elif flow.name == "sip":
                sip(segment.payload, found)
            elif flow.name == "diameter":
                diameter(segment.payload, found)
            if flow.name == "http2":
                sbi.http2_headers(segment.payload, found)
            if flow.name in TEXT:
                _text(flow, near, segment, found)
        elif flow.name in TEXT and segment.flags & (FIN | RST):
            _, tail = flow.tails.pop(near, (0, b""))
            sbi.text_identities(tail, found, len(tail))
        _known(flow, segment, found)


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


def _recognise(segment: Segment, found: Findings) -> str | None:
    """Return the protocol that a payload shows by itself."""
    data = segment.payload
    if sbi.http1(data, found):
        return "websocket" if ocpp.upgrade(data, found) and data.startswith(b"HTTP/1.1 101") else "http"
    if TLS_RECORD.match(data):
        return "tls"
    if sbi.http2(data):
        return "http2"
    if data.startswith(b"SSH-"):
        return "ssh"
    if sip(data, found):
        return "sip"
    if 3868 in (segment.source_port, segment.destination_port) and diameter(data, found):
        return "diameter"
    return None


def _text(flow: _Flow, near: bytes, segment: Segment, found: Findings) -> None:
    """Look for identifiers and API names, together with the end of the segment before when this one follows it."""
    data, (expected, tail) = segment.payload, flow.tails.get(near, (-1, b""))
    if expected != segment.sequence:
        tail = b""
    elif tail and sbi.begins_message(data):
        sbi.text_identities(tail, found, len(tail))
        tail = b""
    closed = bool(segment.flags & (FIN | RST)) or sbi.ends_with_message(data)
    joined = tail + data
    sbi.text_identities(joined, found, len(tail), closed)
    flow.tails[near] = ((segment.sequence + len(data)) & 0xFFFFFFFF, b"" if closed else joined[-TAIL:])
