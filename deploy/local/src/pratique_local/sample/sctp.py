"""SCTP associations as a tap sees them: set-up, bundled DATA chunks, selective acknowledgements, heartbeats."""

import struct
from dataclasses import dataclass
from enum import IntEnum

from pratique_local.sample.frames import SCTP, Endpoint
from pratique_local.sample.wire import Wire

DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK, COOKIE_ECHO, COOKIE_ACK = 0, 1, 2, 3, 4, 5, 10, 11
STREAMS = 2
WINDOW = 131072


class PayloadProtocol(IntEnum):
    """Payload protocol identifiers (IANA registry of SCTP parameters)."""

    NGAP = 60
    F1AP = 62
    E2AP = 70


def _crc32c_table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 if value & 1 else value >> 1  # noqa: PLW2901 - the register shifts in place
        table.append(value)
    return tuple(table)


_CRC32C = _crc32c_table()


def crc32c(data: bytes) -> int:
    """Return the Castagnoli checksum (RFC 9260 appendix A)."""
    register = 0xFFFFFFFF
    for octet in data:
        register = register >> 8 ^ _CRC32C[(register ^ octet) & 0xFF]
    return register ^ 0xFFFFFFFF


def chunk(kind: int, flags: int, value: bytes) -> bytes:
    """Return a chunk padded to four octets; the padding is outside its length (RFC 9260 §3.2)."""
    return struct.pack("!BBH", kind, flags, 4 + len(value)) + value + bytes(-len(value) % 4)


@dataclass
class _Side:
    tag: int
    tsn: int
    owed: int = 0
    """DATA packets of the other side that this side has not acknowledged yet."""


class Association:
    """One association that carries one application protocol; sides are named by their endpoints."""

    def __init__(self, wire: Wire, client: Endpoint, server: Endpoint, protocol: PayloadProtocol) -> None:
        self.client = client
        self.server = server
        self._wire = wire
        self._protocol = protocol
        self._sides = {
            end: _Side(tag=wire.chance.getrandbits(32) | 1, tsn=wire.chance.getrandbits(32)) for end in (client, server)
        }
        self._sequence = {(end, stream): 0 for end in (client, server) for stream in range(STREAMS)}

    def open(self) -> None:
        """Set the association up with a cookie (RFC 9260 §5.1)."""
        cookie = self._wire.chance.randbytes(56)
        self._packet(self.client, chunk(INIT, 0, self._init(self.client)), tag=0)
        self._wire.pause(200)
        state = struct.pack("!HH", 7, 4 + len(cookie)) + cookie
        self._packet(self.server, chunk(INIT_ACK, 0, self._init(self.server) + state))
        self._wire.pause(120)
        self._packet(self.client, chunk(COOKIE_ECHO, 0, cookie))
        self._wire.pause(120)
        self._packet(self.server, chunk(COOKIE_ACK, 0, b""))

    def send(self, sender: Endpoint, *messages: bytes, stream: int = 0) -> None:
        """Send messages in one packet, behind a SACK if one is owed; every second packet in a row is acknowledged."""
        chunks = [self._sack(sender)] if self._sides[sender].owed else []
        chunks += [self._data(sender, message, stream) for message in messages]
        self._wire.ledger.spoke(self._protocol.name.lower())
        self._packet(sender, *chunks)
        other = self._other(sender)
        self._sides[other].owed += 1
        if self._sides[other].owed == 2:
            self._wire.pause(60)
            self.acknowledge(other)

    def acknowledge(self, sender: Endpoint) -> None:
        """Send the SACK that `sender` owes, if any (RFC 9260 §6.2)."""
        if self._sides[sender].owed:
            self._packet(sender, self._sack(sender))

    def heartbeat(self, sender: Endpoint) -> None:
        """Probe the path and have the probe answered (RFC 9260 §8.3)."""
        information = struct.pack("!HH", 1, 12) + self._wire.chance.randbytes(8)
        self._packet(sender, chunk(HEARTBEAT, 0, information))
        self._wire.pause(150)
        self._packet(self._other(sender), chunk(HEARTBEAT_ACK, 0, information))

    def _other(self, side: Endpoint) -> Endpoint:
        return self.server if side == self.client else self.client

    def _init(self, end: Endpoint) -> bytes:
        side = self._sides[end]
        return struct.pack("!IIHHI", side.tag, WINDOW, STREAMS, STREAMS, side.tsn)

    def _data(self, sender: Endpoint, message: bytes, stream: int) -> bytes:
        side = self._sides[sender]
        sequence = self._sequence[sender, stream]
        value = struct.pack("!IHHI", side.tsn, stream, sequence, self._protocol) + message
        side.tsn = (side.tsn + 1) & 0xFFFFFFFF
        self._sequence[sender, stream] = (sequence + 1) & 0xFFFF
        return chunk(DATA, 3, value)  # flags: first and last fragment, so a whole message

    def _sack(self, sender: Endpoint) -> bytes:
        self._sides[sender].owed = 0
        last = (self._sides[self._other(sender)].tsn - 1) & 0xFFFFFFFF
        return chunk(SACK, 0, struct.pack("!IIHH", last, WINDOW, 0, 0))

    def _packet(self, sender: Endpoint, *chunks: bytes, tag: int | None = None) -> None:
        other = self._other(sender)
        # A packet bears the tag that its receiver chose; only INIT has none yet.
        verification = self._sides[other].tag if tag is None else tag
        head = struct.pack("!HHI", sender.port, other.port, verification)
        body = b"".join(chunks)
        total = struct.pack("<I", crc32c(head + bytes(4) + body))
        self._wire.carry(sender.ip, other.ip, SCTP, head + total + body)
