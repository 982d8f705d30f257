"""Headers: IP and the transport behind it, of many packets of one version at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pratique_ingest.capture.lanes import Bytes, Places
from pratique_ingest.capture.network import AH, FRAGMENT, IPV6_HEADERS, SCTP, TCP, UDP
from pratique_ingest.capture.transport import DATA, I_DATA
from pratique_ingest.dissection import GRE, IP_IN_IP, IPV6_IN_IP
from pratique_ingest.fast.rows import Column, Flags, Rows

# What of the transport and its payload is gathered with the IP header: a GTP-U header with one extension fits.
BEYOND = 32
SIZE = {4: 20, 6: 40}
TCP_SIZE = 20


def _odd(*protocols: int) -> Flags:
    table = np.zeros(256, dtype=np.bool_)
    table[list(protocols)] = True
    return table


# A transport header that is cut tells nothing, or half of it: the exact path knows. SCTP with its first chunk's header.
LEAST = np.zeros(256, dtype=np.int64)
LEAST[[TCP, UDP, SCTP]] = TCP_SIZE, 8, 16
# Protocols with something inside that only the exact path reads; all others that are neither TCP nor UDP have a name.
ODD = {
    4: _odd(IP_IN_IP, IPV6_IN_IP, GRE, AH),
    6: _odd(IP_IN_IP, IPV6_IN_IP, GRE, AH, FRAGMENT, *IPV6_HEADERS),
}


@dataclass(frozen=True, slots=True)
class Headers:
    """Fields of packets: addresses as key columns, and where in the buffer transport and packet begin and end.

    `plain` says which of them are what the fast path understands: no options, extension headers or fragments.
    """

    rows: Rows
    transport_at: int
    addresses: tuple[Column, ...]
    protocol: Places
    start: Places
    end: Places
    plain: Flags

    @classmethod
    def read(cls, version: int, buffer: Bytes, at: Places, limit: Places) -> Self:
        """Read the headers that begin at `at`; nothing from `limit` on belongs to the packets."""
        size = SIZE[version]
        rows = Rows(buffer, at, size + BEYOND)
        start = at + size
        if version == 4:
            total, protocol = rows.short(2), rows.byte(9)
            end = np.where(total == 0, limit, np.minimum(at + total, limit))
            unfragmented = (rows.byte(6) & 0xBF == 0) & (rows.byte(7) == 0)
            plain = (rows.byte(0) == 0x45) & unfragmented & (end >= start) & (start <= limit)
            addresses: tuple[Column, ...] = (rows.raw(12),)
        else:
            length, protocol = rows.short(4), rows.byte(6)
            end = np.where(length == 0, limit, np.minimum(start + length, limit))
            plain = start <= limit
            addresses = (rows.raw(8), rows.raw(16), rows.raw(24), rows.raw(32))
        plain &= ~ODD[version][protocol]
        room = end - start
        plain &= room >= LEAST[protocol]
        return cls(rows, size, addresses, protocol.astype(np.int64), start, end, plain)

    def of(self, protocol: int) -> Places:
        """Return which plain packets have this protocol."""
        return np.flatnonzero(self.plain & (self.protocol == protocol))

    def ports(self, chosen: Places) -> tuple[Places, Places]:
        """Return source and destination ports."""
        return self.rows.short(self.transport_at)[chosen], self.rows.short(self.transport_at + 2)[chosen]

    def bears(self, chosen: Places) -> Flags:
        """Return which packets of SCTP may bear data: all but those of one chunk of another type (RFC 9260, 3.2)."""
        rows, at = self.rows, self.transport_at + 12
        kind, length = rows.byte(at)[chosen], rows.short(at + 2)[chosen]
        room = self.end[chosen] - self.start[chosen]
        alone = (length < 4) | (12 + (length + 3 & ~3) + 4 > room)
        bearing: Flags = (kind == DATA) | (kind == I_DATA) | ~alone
        return bearing

    def udp_payload(self, chosen: Places) -> tuple[Places, Places, Places]:
        """Return where payloads of UDP begin and end, and what of them is missing.

        The stated length only ever shortens a payload; what it states beyond the packet was not captured.
        """
        start, length = self.start[chosen], self.rows.short(self.transport_at + 4)[chosen]
        room = self.end[chosen] - start
        end = start + np.where((length >= 8) & (length <= room), length, room)
        return start + 8, end, np.maximum(length - room, 0)

    def tcp_payload(self, chosen: Places) -> tuple[Places, Places, Places]:
        """Return where payloads of TCP begin, how long they are, and the flags before them."""
        offset = (self.rows.byte(self.transport_at + 12)[chosen] >> 4).astype(np.int64) * 4
        start = self.start[chosen] + np.maximum(offset, TCP_SIZE)
        flags = self.rows.byte(self.transport_at + 13)[chosen].astype(np.int64)
        return start, np.maximum(self.end[chosen] - start, 0), flags
