"""HTTP/2 with prior knowledge: the frames of a service-based interface (RFC 9113, RFC 7541)."""

import struct

from pratique_local.sample.frames import Endpoint
from pratique_local.sample.tcp import Connection
from pratique_local.sample.wire import Wire

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS, _PING, _WINDOW_UPDATE = 0, 1, 4, 6, 8
_END_STREAM, _ACK, _END_HEADERS = 1, 1, 4

Headers = list[tuple[str, str]]


def _integer(value: int) -> bytes:
    """Return an integer with a seven-bit prefix (RFC 7541 §5.1)."""
    if value < 127:
        return bytes([value])
    value -= 127
    octets = [127]
    while value >= 128:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*octets, value])


def header_block(headers: Headers) -> bytes:
    """Return headers as literals without indexing, new names, no Huffman code (RFC 7541 §6.2.2)."""
    block = b""
    for name, value in headers:
        for text in (b"\0" + _integer(len(name)), name.encode(), _integer(len(value)), value.encode()):
            block += text
    return block


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return a frame (RFC 9113 §4.1)."""
    return len(payload).to_bytes(3) + struct.pack("!BBI", kind, flags, stream) + payload


def message(stream: int, headers: Headers, body: bytes) -> bytes:
    """Return a whole request or response: HEADERS, and DATA if there is a body."""
    if not body:
        return frame(_HEADERS, _END_HEADERS | _END_STREAM, stream, header_block(headers))
    return frame(_HEADERS, _END_HEADERS, stream, header_block(headers)) + frame(_DATA, _END_STREAM, stream, body)


class Channel:
    """One HTTP/2 connection from a consumer to a producer."""

    def __init__(self, wire: Wire, client: Endpoint, server: Endpoint) -> None:
        self._wire = wire
        self._connection = Connection(wire, client, server)
        self._next_stream = 1

    def open(self) -> None:
        """Connect and exchange settings (RFC 9113 §3.4)."""
        client, server = self._connection.client, self._connection.server
        self._connection.open()
        limits = struct.pack("!HIHIHI", 2, 0, 3, 100, 4, 65535)  # no push, streams, window
        window = frame(_WINDOW_UPDATE, 0, 0, struct.pack("!I", 983041))
        self._connection.send(client, PREFACE + frame(_SETTINGS, 0, 0, limits) + window, acknowledged=False)
        self._wire.pause(200)
        answer = frame(_SETTINGS, 0, 0, struct.pack("!HI", 3, 128)) + frame(_SETTINGS, _ACK, 0, b"")
        self._connection.send(server, answer, acknowledged=False)
        self._wire.pause(80)
        self._connection.send(client, frame(_SETTINGS, _ACK, 0, b""))

    def request(self, headers: Headers, body: bytes) -> int:
        """Send a request; return its stream, on which it will be answered."""
        stream = self._next_stream
        self._next_stream += 2
        self._connection.send(self._connection.client, message(stream, headers, body), acknowledged=False)
        return stream

    def respond(self, stream: int, headers: Headers, body: bytes) -> None:
        """Answer a request."""
        self._connection.send(self._connection.server, message(stream, headers, body))

    def ping(self) -> None:
        """Let the consumer see whether the connection still lives (RFC 9113 §6.7)."""
        opaque = self._wire.chance.randbytes(8)
        self._connection.send(self._connection.client, frame(_PING, 0, 0, opaque), acknowledged=False)
        self._wire.pause(120)
        self._connection.send(self._connection.server, frame(_PING, _ACK, 0, opaque))
