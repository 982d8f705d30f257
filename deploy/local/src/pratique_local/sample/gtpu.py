"""GTP-U: user packets inside tunnels between gNB and UPF, and between SGW and PGW (3GPP TS 29.281)."""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from pratique_local.sample.frames import Endpoint, ipv4, send_datagram
from pratique_local.sample.wire import Wire

PORT = 2152
_USER_DATA = 255


def echo(sequence: int, *, answer: bool) -> bytes:
    """Return an echo request, or its response with the recovery element (§7.2)."""
    body = b"\x0e\x00" if answer else b""
    return struct.pack("!BBHIHBB", 0x32, 2 if answer else 1, 4 + len(body), 0, sequence, 0, 0) + body


def user_packet(teid: int, packet: bytes, *, uplink: bool | None) -> bytes:
    """Return a tunnelled packet; in 5G with the PDU session container of QoS flow 1 (TS 38.415 §5.5.2)."""
    if uplink is None:
        return struct.pack("!BBHI", 0x30, _USER_DATA, len(packet), teid) + packet
    extension = bytes([1, 0x10 if uplink else 0x00, 1, 0])
    body = struct.pack("!HBB", 0, 0, 0x85) + extension + packet
    return struct.pack("!BBHI", 0x34, _USER_DATA, len(body), teid) + body


@dataclass
class Tunnel:
    """A pair of tunnels for one user address; what leaves it towards the data network can be seen there as well."""

    wire: Wire
    user: str
    access: tuple[str, int]
    """Address and TEID of the gNB or SGW: where the downlink goes."""
    anchor: tuple[str, int]
    """Address and TEID of the UPF or PGW: where the uplink goes."""
    containers: bool
    mirrored: Callable[[str], bool]
    """Whether the tap also sees the packets to and from a server behind the anchor."""
    carried: Callable[[int], None] | None = None
    """What is told the number of each frame that goes through the tunnel."""
    _ident: int = 0

    def carry(self, source: str, destination: str, protocol: int, payload: bytes) -> None:
        """Send one inner packet through the tunnel, up or down, and past the tap behind the anchor."""
        uplink = source == self.user
        server = destination if uplink else source
        if not uplink and self.mirrored(server):
            self.wire.carry(source, destination, protocol, payload)
        self._ident += 1
        packet = ipv4(source, destination, protocol, payload, ident=self._ident)
        here, there = (self.access, self.anchor) if uplink else (self.anchor, self.access)
        outer = user_packet(there[1], packet, uplink=uplink if self.containers else None)
        first = len(self.wire.frames)
        send_datagram(self.wire.carry, Endpoint(here[0], PORT), Endpoint(there[0], PORT), outer)
        if self.carried is not None:
            self.carried(first)
        if uplink and self.mirrored(server):
            self.wire.carry(source, destination, protocol, payload)
