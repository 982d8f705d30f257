"""TCP connections as a tap sees them: handshake, segments in order, acknowledgements, orderly end."""

import struct

from pratique_local.sample.frames import TCP, Carry, Endpoint, transport_checksum
from pratique_local.sample.wire import Wire

MSS = 1360  # leaves room for the headers of a GTP-U tunnel within an MTU of 1500
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


class Connection:
    """One connection between a client and a server; sides are named by their endpoints."""

    def __init__(self, wire: Wire, client: Endpoint, server: Endpoint, *, carry: Carry | None = None) -> None:
        self.client = client
        self.server = server
        self._wire = wire
        self._carry = carry or wire.carry
        self._next = {client: wire.chance.getrandbits(32), server: wire.chance.getrandbits(32)}

    def open(self) -> None:
        """Shake hands (RFC 9293 §3.5)."""
        self._segment(self.client, SYN, options=True)
        self._wire.pause(150)
        self._segment(self.server, SYN | ACK, options=True)
        self._wire.pause(60)
        self._segment(self.client, ACK)

    def send(self, sender: Endpoint, data: bytes, *, acknowledged: bool = True) -> None:
        """Send `data` in as many segments as it needs, and have it acknowledged unless an answer follows at once."""
        for start in range(0, len(data), MSS):
            part = data[start : start + MSS]
            self._segment(sender, ACK | (PSH if start + MSS >= len(data) else 0), part)
        if acknowledged:
            self._wire.pause(80)
            self._segment(self._other(sender), ACK)

    def close(self) -> None:
        """End it from the client's side (RFC 9293 §3.6)."""
        self._segment(self.client, FIN | ACK)
        self._wire.pause(100)
        self._segment(self.server, FIN | ACK)
        self._wire.pause(60)
        self._segment(self.client, ACK)

    def refuse(self) -> None:
        """Ask for a connection and be told that nobody listens."""
        self._segment(self.client, SYN, options=True)
        self._wire.pause(90)
        self._segment(self.server, RST | ACK)

    def _other(self, side: Endpoint) -> Endpoint:
        return self.server if side == self.client else self.client

    def _segment(self, sender: Endpoint, flags: int, data: bytes = b"", *, options: bool = False) -> None:
        other = self._other(sender)
        acknowledged = self._next[other] if flags & ACK else 0
        extra = struct.pack("!BBHBBBB", 2, 4, MSS, 1, 1, 4, 2) if options else b""
        window = 0 if flags & RST else 64240
        head = struct.pack("!HHII", sender.port, other.port, self._next[sender], acknowledged)
        head += struct.pack("!BBHHH", (20 + len(extra)) << 2, flags, window, 0, 0) + extra
        total = transport_checksum(sender.ip, other.ip, TCP, head + data)
        self._carry(sender.ip, other.ip, TCP, head[:16] + struct.pack("!H", total) + head[18:] + data)
        # SYN and FIN take a sequence number each.
        self._next[sender] = (self._next[sender] + len(data) + bool(flags & (SYN | FIN))) & 0xFFFFFFFF
