"""GTPv2-C: how the 4G corner of the lab sets up a session between SGW and PGW (3GPP TS 29.274)."""

import struct
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from pratique_local.sample.nas import bcd
from pratique_local.sample.subscribers import PLMN

PORT = 2123
_SGW_USER, _PGW_USER, _SGW_CONTROL, _PGW_CONTROL = 4, 5, 6, 7  # interface types of §8.22
_EUTRAN = 6


def _ie(kind: int, value: bytes, instance: int = 0) -> bytes:
    return struct.pack("!BHB", kind, len(value), instance) + value


def _endpoint(interface: int, teid: int, address: str, instance: int = 0) -> bytes:
    value = struct.pack("!BI", 0x80 | interface, teid) + IPv4Address(address).packed
    return _ie(87, value, instance)


def message(kind: int, sequence: int, body: bytes, teid: int | None = None) -> bytes:
    """Return a GTPv2-C message; all but the echoes bear a tunnel endpoint (§5.1)."""
    tunnel = b"" if teid is None else teid.to_bytes(4)
    head = struct.pack("!BBH", 0x40 if teid is None else 0x48, kind, len(tunnel) + 4 + len(body))
    return head + tunnel + sequence.to_bytes(3) + b"\0" + body


def echo(sequence: int, *, answer: bool) -> bytes:
    """Return an echo request or its response (§7.1)."""
    return message(2 if answer else 1, sequence, _ie(3, b"\x01"))


@dataclass(frozen=True)
class Bearer:
    """A default bearer of one LTE subscriber: who it is, and both ends of its control and user tunnels."""

    imsi: str = field(repr=False)
    msisdn: str = field(repr=False)
    imeisv: str = field(repr=False)
    sgw: str
    pgw: str
    teid: int
    """The SGW's; those of the other three tunnels follow it."""
    address: str

    def create(self, sequence: int) -> bytes:
        """Ask for the session, naming the subscriber and the device (§7.2.1)."""
        area = PLMN + b"\x00\x01" + PLMN + struct.pack("!I", 0x0001E101)
        access_point = b"\x08internet"
        quality = bytes([0x24, 9]) + bytes(20)
        context = _ie(73, b"\x05") + _endpoint(_SGW_USER, self.teid + 1, self.sgw, 2) + _ie(80, quality)
        body = _ie(1, bcd(self.imsi)) + _ie(76, bcd(self.msisdn)) + _ie(75, bcd(self.imeisv))
        body += _ie(86, b"\x18" + area) + _ie(83, PLMN) + _ie(82, bytes([_EUTRAN]))
        body += _endpoint(_SGW_CONTROL, self.teid, self.sgw) + _ie(71, access_point) + _ie(128, b"\0")
        body += _ie(99, b"\x01") + _ie(79, b"\x01" + bytes(4)) + _ie(127, b"\0") + self._rate() + _ie(93, context)
        return message(32, sequence, body, 0)

    def created(self, sequence: int) -> bytes:
        """Grant it with an address (§7.2.2)."""
        context = _ie(73, b"\x05") + self._cause() + _endpoint(_PGW_USER, self.teid + 3, self.pgw, 2)
        body = self._cause() + _endpoint(_PGW_CONTROL, self.teid + 2, self.pgw, 1)
        body += _ie(79, b"\x01" + IPv4Address(self.address).packed) + _ie(127, b"\0") + self._rate()
        return message(33, sequence, body + _ie(93, context), self.teid)

    def delete(self, sequence: int) -> bytes:
        """End it (§7.2.9)."""
        return message(36, sequence, _ie(73, b"\x05"), self.teid + 2)

    def deleted(self, sequence: int) -> bytes:
        """Confirm its end (§7.2.10)."""
        return message(37, sequence, self._cause(), self.teid)

    def _cause(self) -> bytes:
        return _ie(2, b"\x10\x00")

    def _rate(self) -> bytes:
        return _ie(72, struct.pack("!II", 50_000, 100_000))
