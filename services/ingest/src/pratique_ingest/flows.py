"""TCP flows: what a connection speaks, learnt from the first segment that shows it, and text that crosses segments."""

import re
from collections import OrderedDict
from typing import Final

from pratique_ingest.capture.transport import Segment
from pratique_ingest.protocols import ocpp, sbi
from pratique_ingest.protocols.diameter import diameter
from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.services import SERVER_SIGNS, TCP_PORTS, answering
from pratique_ingest.protocols.sip import sip

# Connections that are remembered: the one that was silent longest is forgotten.
MAX_FLOWS = 16_384
# Enough of the last segment to complete an identifier that crosses into the next.
TAIL = 256
SYN, FIN, RST, ACK = 2, 1, 4, 16
TLS_RECORD = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
TEXT: Final = frozenset({"http", "http2"})


class _Flow:
    __slots__ = ("name", "next", "server", "tails")

    def __init__(self) -> None:
        self.name: str | None = None
        self.server: tuple[bytes, int] | None = None
        self.tails: dict[bytes, tuple[int, bytes]] = {}


class Flows:
    """Connections by their two ends."""

    def __init__(self) -> None:
        self._flows: OrderedDict[tuple[bytes, bytes], _Flow] = OrderedDict()

    def segment(self, source: bytes, destination: bytes, segment: Segment, found: Findings) -> None:
        """Add what a segment shows, and what is known of its connection."""
        near = source + segment.source_port.to_bytes(2, "big")
        far = destination + segment.destination_port.to_bytes(2, "big")
        key = (near, far) if near <= far else (far, near)
        flow = self._flows.get(key)
        if flow is None:
            if len(self._flows) >= MAX_FLOWS:
                self._flows.popitem(last=False)
            flow = self._flows[key] = _Flow()
        if segment.payload:
            if flow.name is None or flow.name == "http":
                flow.name = _recognise(segment, found) or flow.name
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
