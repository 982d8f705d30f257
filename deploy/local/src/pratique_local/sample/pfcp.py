"""PFCP: how an SMF steers its UPF (3GPP TS 29.244)."""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

from pratique_local.sample.nas import bcd

PORT = 8805
_ACCEPTED = 1
_NTP_EPOCH = 2_208_988_800


def _ie(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value


def _node(address: str) -> bytes:
    return _ie(60, b"\x00" + IPv4Address(address).packed)


def _cause() -> bytes:
    return _ie(19, bytes([_ACCEPTED]))


def _started(moment_us: int) -> bytes:
    return _ie(96, struct.pack("!I", moment_us // 1_000_000 + _NTP_EPOCH & 0xFFFFFFFF))


def message(kind: int, sequence: int, body: bytes, seid: int | None = None) -> bytes:
    """Return a PFCP message; those about a session bear its endpoint identifier (§7.2.2)."""
    session = b"" if seid is None else seid.to_bytes(8)
    head = struct.pack("!BBH", 0x20 if seid is None else 0x21, kind, len(session) + 4 + len(body))
    return head + session + sequence.to_bytes(3) + b"\0" + body


def heartbeat(sequence: int, started_us: int, *, answer: bool) -> bytes:
    """Return a heartbeat request or its response (§7.4.2)."""
    return message(2 if answer else 1, sequence, _started(started_us))


def association(sequence: int, node: str, started_us: int, *, answer: bool) -> bytes:
    """Return an association set-up request or its response (§7.4.4)."""
    body = _node(node) + (_cause() if answer else b"") + _started(started_us)
    return message(6 if answer else 5, sequence, body)


@dataclass(frozen=True)
class Session:
    """The user plane of one PDU session: its control endpoints and its tunnels."""

    smf: str
    upf: str
    smf_seid: int
    upf_seid: int
    uplink_teid: int
    address: str
    dnn: str

    def establishment(self, sequence: int, imsi: str) -> bytes:
        """Ask for the session: one rule up, one down (§7.5.2); the user's IMSI goes with it."""
        label = _ie(22, bytes([len(self.dnn)]) + self.dnn.encode("ascii"))
        tunnel = _ie(21, b"\x01" + self._teid(self.upf))
        ue = IPv4Address(self.address).packed
        up = _ie(20, b"\0") + tunnel + label + _ie(93, b"\x02" + ue)
        down = _ie(20, b"\x01") + label + _ie(93, b"\x06" + ue)
        body = _node(self.smf) + self._control(self.smf, self.smf_seid)
        body += self._rule(1, up, _ie(95, b"\0")) + self._rule(2, down, b"")
        body += self._forwarding(1, b"\x01", label) + self._forwarding(2, b"\x00", b"")
        digits = bcd(imsi)
        return message(50, sequence, body + _ie(141, b"\x01" + bytes([len(digits)]) + digits), 0)

    def established(self, sequence: int) -> bytes:
        """Grant it (§7.5.3)."""
        created = _ie(8, _ie(56, b"\x00\x01") + _ie(21, b"\x01" + self._teid(self.upf)))
        body = _node(self.upf) + _cause() + self._control(self.upf, self.upf_seid) + created
        return message(51, sequence, body, self.smf_seid)

    def modification(self, sequence: int, gnb: str, teid: int) -> bytes:
        """Point the downlink at the gNB's tunnel (§7.5.4)."""
        outer = _ie(84, b"\x01\x00" + teid.to_bytes(4) + IPv4Address(gnb).packed)
        parameters = _ie(11, _ie(42, b"\x00") + outer)
        update = _ie(10, _ie(108, struct.pack("!I", 2)) + _ie(44, b"\x02\x00") + parameters)
        return message(52, sequence, update, self.upf_seid)

    def modified(self, sequence: int) -> bytes:
        """Confirm it (§7.5.5)."""
        return message(53, sequence, _cause(), self.smf_seid)

    def deletion(self, sequence: int) -> bytes:
        """End the session (§7.5.6)."""
        return message(54, sequence, b"", self.upf_seid)

    def deleted(self, sequence: int) -> bytes:
        """Confirm its end (§7.5.7)."""
        return message(55, sequence, _cause(), self.smf_seid)

    def _control(self, node: str, seid: int) -> bytes:
        return _ie(57, b"\x02" + seid.to_bytes(8) + IPv4Address(node).packed)

    def _teid(self, node: str) -> bytes:
        return self.uplink_teid.to_bytes(4) + IPv4Address(node).packed

    def _rule(self, number: int, detection: bytes, removal: bytes) -> bytes:
        head = _ie(56, struct.pack("!H", number)) + _ie(29, struct.pack("!I", 255))
        return _ie(1, head + _ie(2, detection) + removal + _ie(108, struct.pack("!I", number)))

    def _forwarding(self, number: int, interface: bytes, network: bytes) -> bytes:
        head = _ie(108, struct.pack("!I", number)) + _ie(44, b"\x02\x00")
        return _ie(3, head + _ie(4, _ie(42, interface) + network))
