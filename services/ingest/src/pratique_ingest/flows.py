"""TCP flows: what a connection speaks, learnt from the first segment that shows it."""

import re
from collections.abc import Callable, Iterator

from pratique_ingest.budget import STREAMS, Budget
from pratique_ingest.capture.transport import ACK, FIN, RST, SYN, Segment
from pratique_ingest.conversations import STREAMED, Carriers, Conversation
from pratique_ingest.protocols import http1
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.http2 import http2, opens
from pratique_ingest.protocols.services import STANDARD, Ports, answering
from pratique_ingest.protocols.sip import sip
from pratique_ingest.protocols.websocket import calls

# Connections whose protocol is known are remembered in two generations: where TURN frames of the capture end and the
# younger one has grown to this many, the older one is forgotten. At most 65,536 are kept, in some 20 MB; what they keep
# of their streams is paid for from a budget of its own.
GENERATION = 16_384
TURN = 16_384
TLS_RECORD = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
Ends = tuple[bytes, bytes]


class _Flow:
    __slots__ = ("conversation", "name")

    def __init__(self) -> None:
        self.name: str | None = None
        self.conversation: Conversation | None = None


class Flows:
    """Connections by their two ends, once a segment has shown their protocol.

    `changes` names, in order, the connections whose protocol became known or changed: None when all must be read anew.
    Connections that the fast path has named for good are kept there: `beside` counts those of the present generation,
    `settled` finds their names.
    """

    def __init__(self, ports: Ports = STANDARD, budget: Budget | None = None) -> None:
        self._ports = ports
        self._young: dict[Ends, _Flow] = {}
        self._old: dict[Ends, _Flow] = {}
        self.changes: list[tuple[Ends, str]] | None = []
        self.budget = budget or Budget(STREAMS)
        self.settled: Callable[[Ends], str | None] | None = None
        self.beside = self.generation = 0

    def turn(self) -> None:
        """Forget the older generation when the younger one has grown to its size."""
        if len(self._young) + self.beside >= GENERATION:
            for flow in self._old.values():
                if flow.conversation is not None:
                    flow.conversation.release()
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

    def segment(
        self, source: bytes, destination: bytes, segment: Segment, found: Findings, carriers: Carriers | None = None
    ) -> None:
        """Add what a segment shows, and what is known of its connection."""
        near = source + segment.source_port.to_bytes(2, "big")
        far = destination + segment.destination_port.to_bytes(2, "big")
        ends = (near, far) if near <= far else (far, near)
        flow = self._young.get(ends) or self._old.get(ends) or self._begin(ends)
        if segment.payload:
            if flow.name is None or flow.name == "http":
                self._recognise(ends, near, flow, segment, found)
            elif flow.name == "sip":
                sip(segment.payload, found)
            elif flow.name == "diameter":
                diameter(segment.payload, found)
        if flow.conversation is not None and (segment.payload or segment.flags & (SYN | FIN | RST)):
            flow.conversation.take((near, far), segment, found, carriers or Carriers(source, destination))
            self._name(ends, flow, flow.conversation.name)
            if ends in self._old:
                # What is known of a stream cannot be learnt again: one that still speaks stays.
                self._young[ends] = self._old.pop(ends)
        _known(flow, segment, self._ports, found)

    def _recognise(self, ends: Ends, near: bytes, flow: _Flow, segment: Segment, found: Findings) -> None:
        """Name a connection by what a segment shows; one that speaks HTTP may turn to another protocol at rest."""
        conversation = flow.conversation
        if conversation is not None and not conversation.rests(near, segment.sequence):
            return
        name = _recognised(segment, self._ports, found)
        if name is None or name == flow.name:
            return
        if conversation is not None:
            conversation.release()
        begun = name == "http2" and opens(segment.payload)
        flow.conversation = Conversation(name, self.budget, begun=begun) if name in STREAMED else None
        self._name(ends, flow, name)

    def conversations(self) -> Iterator[Conversation]:
        """Yield the connections that are read as streams."""
        for generation in (self._old, self._young):
            for flow in generation.values():
                if flow.conversation is not None:
                    yield flow.conversation


def _known(flow: _Flow, segment: Segment, known: Ports, found: Findings) -> None:
    """Name the protocol of a segment by its connection, else by its port when it carries something."""
    ports = (segment.destination_port, segment.source_port)
    if flow.name is not None:
        found.protocols.add(flow.name)
    elif segment.payload:
        name = next((known.tcp[port] for port in ports if port in known.tcp), None)
        # A web port that speaks no readable HTTP may be in the middle of a body: the port is all that is known.
        if name is not None:
            found.protocols.add(name)
    sign = known.serving.get(("tcp", segment.source_port))
    if sign is not None and (
        (segment.flags & SYN and segment.flags & ACK)
        or (segment.payload and answering(segment.source_port, segment.destination_port))
    ):
        found.sender.add(sign)


def _recognised(segment: Segment, ports: Ports, found: Findings) -> str | None:
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
    ends = ports.tcp.get(segment.source_port), ports.tcp.get(segment.destination_port)
    if "diameter" in ends and diameter(data, found):
        return "diameter"
    # In the middle of a WebSocket, whose opening the capture has not: an OCPP call shows itself.
    return "websocket" if calls(data) else None
