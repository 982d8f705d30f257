"""GTP: the tunnels of the user plane (TS 29.281), and the identities in its control planes (TS 29.060, TS 29.274)."""

from collections.abc import Iterator
from typing import NamedTuple

from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import Findings, Sign

G_PDU, MAX_EXTENSIONS, PDU_SESSION_CONTAINER = 255, 16, 0x85
# GTPv2-C elements
IMSI, MSISDN, MEI, F_TEID, PAA = 1, 76, 75, 87, 79
CREATE_SESSION = frozenset({32, 33})
# GTPv2-C interface types of an F-TEID (TS 29.274, 8.22), by the node that owns the tunnel end.
TEID_OWNERS = {10: Sign.S11_MME, 11: Sign.S11_SGW, 6: Sign.S5_SGW, 7: Sign.S5_PGW}
TEID_PEERS = {10: Sign.S11_SGW, 11: Sign.S11_MME, 6: Sign.S5_PGW, 7: Sign.S5_SGW}
# GTPv1-C elements without a length field, by type (TS 29.060, 7.7).
V1_FIXED = {
    1: 1, 2: 8, 3: 6, 4: 4, 5: 4, 8: 1, 9: 28, 11: 1, 12: 3, 13: 1, 14: 1, 15: 1, 16: 4, 17: 4, 18: 5, 19: 1, 20: 1,
    21: 1, 22: 9, 23: 1, 24: 1, 25: 2, 26: 2, 27: 2, 28: 2, 29: 1, 127: 4,
}  # fmt: skip
V1_IMSI, V1_END_USER, V1_MSISDN, V1_IMEI = 2, 128, 134, 154
V1_CREATE, V1_CREATED, V1_UPDATE, V1_UPDATED, V1_DELETE, V1_DELETED = 16, 17, 18, 19, 20, 21
MAX_ELEMENTS = 512
# The messages of either version (TS 29.060, 7.1; TS 29.274, 6.1), and those of version 2 that have no TEID.
V1_MESSAGES = frozenset((*range(1, 8), *range(16, 36), *range(48, 64), 70, *range(96, 106), *range(112, 122), 128, 129))
V2_MESSAGES = frozenset((
    *range(1, 4), *range(32, 41), *range(64, 74), *range(95, 105), *range(128, 142), *range(149, 172), 176, 177, 179,
    180, *range(200, 202), 211, 212, *range(231, 237),
))  # fmt: skip
V2_WITHOUT_TEID = frozenset({1, 2, 3})
SHORT, LONG = 6, 20
V2_BARE = 3  # version not supported: a header and no element


class Tunnelled(NamedTuple):
    """The inner packet of a G-PDU, and whether its PDU session container says uplink, downlink or nothing.

    `exact` says that the stated length is that of the datagram; some stacks forget their extension headers in it.
    `teid` names the tunnel of a G-PDU.
    """

    packet: bytes
    uplink: bool | None
    exact: bool
    teid: int | None = None


def user_plane(data: bytes, missing: int = 0) -> Tunnelled | None:
    """Return what a GTP-U message carries: empty for signalling; None when the bytes are not GTP-U version 1.

    Of its datagram `missing` bytes were not captured.
    """
    if len(data) < 8 or data[0] >> 5 != 1 or not data[0] & 0x10:
        return None
    length = data[2] << 8 | data[3]
    exact = 8 + length == len(data) + missing
    if not (exact or data[1] == G_PDU) or data[1] not in (1, 2, 26, 31, 253, 254, G_PDU):
        return None
    at, uplink = 8, None
    if data[0] & 7:
        following, at = (data[11] if data[0] & 4 and len(data) > 11 else 0), 12
        for _ in range(MAX_EXTENSIONS):
            if not following or at >= len(data) or not data[at]:
                break
            size = data[at] * 4
            if following == PDU_SESSION_CONTAINER and at + 1 < len(data):
                uplink = data[at + 1] >> 4 == 1
            following, at = (data[at + size - 1] if at + size <= len(data) else 0), at + size
    if data[1] != G_PDU:
        return Tunnelled(b"", uplink, exact)
    return Tunnelled(data[at : 8 + length], uplink, exact, int.from_bytes(data[4:8], "big"))


def _v1_elements(data: bytes, at: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the elements: those below 128 have fixed lengths, those from 128 on state theirs."""
    for _ in range(MAX_ELEMENTS):
        if at >= end:
            return
        element = data[at]
        if element < 128:
            if element not in V1_FIXED:
                return
            start, at = at + 1, at + 1 + V1_FIXED[element]
        else:
            start, at = at + 3, at + 3 + int.from_bytes(data[at + 1 : at + 3], "big")
        yield element, data[start : min(at, end)]


def _v1(data: bytes, found: Findings) -> bool:
    """Read a GTPv1-C message, behind its extension headers (TS 29.281, 5.2)."""
    found.protocols.add("gtp")
    kind, at = data[1], 12
    if kind in (V1_CREATE, V1_UPDATE, V1_DELETE):
        found.signs(Sign.GTPV1_SGSN, Sign.GTPV1_GGSN)
    elif kind in (V1_CREATED, V1_UPDATED, V1_DELETED):
        found.signs(Sign.GTPV1_GGSN, Sign.GTPV1_SGSN)
    following = data[11] if data[0] & 4 else 0
    for _ in range(MAX_EXTENSIONS):
        if not following or at >= len(data) or not data[at]:
            break
        size = data[at] * 4
        following, at = (data[at + size - 1] if at + size <= len(data) else 0), at + size
    for element, value in _v1_elements(data, at, len(data)):
        if element == V1_IMSI:
            found.identity("imsi", packed_digits(value))
        elif element == V1_MSISDN and len(value) > 1:
            found.identity("msisdn", packed_digits(value[1:]))
        elif element == V1_IMEI:
            found.identity("imei", packed_digits(value))
        elif element == V1_END_USER and value[1:2] == b"\x21" and len(value) == 6:
            found.subscribers.add(value[2:])
    return True


def _v2_element(element: int, value: bytes, found: Findings) -> None:
    if element == IMSI:
        found.identity("imsi", packed_digits(value))
    elif element == MSISDN:
        found.identity("msisdn", packed_digits(value))
    elif element == MEI:
        found.identity("imei", packed_digits(value))
    elif element == PAA and value:
        if value[0] & 7 == 1 and len(value) == 5:
            found.subscribers.add(value[1:])
        elif value[0] & 7 == 3 and len(value) == 22:
            found.subscribers.add(value[18:])


def _v2_elements(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield type, instance and value of the elements, as long as their lengths can be true."""
    at, end = 12 if data[0] & 8 else 8, 4 + (data[2] << 8 | data[3])
    for _ in range(MAX_ELEMENTS):
        if at + 4 > end:
            return
        element, size, instance = data[at], data[at + 1] << 8 | data[at + 2], data[at + 3] & 15
        if at + 4 + size > end:
            return
        yield element, instance, data[at + 4 : at + 4 + size]
        at += 4 + size


def _v2(data: bytes, found: Findings) -> bool:
    """Read a GTPv2-C message: elements of type, length, instance; grouped ones carry no identity of their own."""
    found.protocols.add("gtpv2")
    for element, instance, value in _v2_elements(data):
        if element == F_TEID and instance == 0 and value and data[1] in CREATE_SESSION:
            owner = value[0] & 0x3F
            if owner in TEID_OWNERS:
                found.signs(TEID_OWNERS[owner], TEID_PEERS[owner])
        else:
            _v2_element(element, value, found)
    return True


def charging(data: bytes, missing: int = 0) -> bool:
    """Whether a datagram is of GTP' (TS 32.295, 6.1.1) or of GTP version 0 (GSM 09.60, 6): they share port 3386.

    Its spare bits are ones, and it fills its datagram, of which `missing` bytes were not captured. A header of version
    0 has the 20 bytes of GTP, unless GTP' says by its last bit that it is the short one.
    """
    if len(data) < SHORT or data[0] & 0x0E != 0x0E or data[0] >> 5 > 2 or not data[1]:
        return False
    header = LONG if data[0] >> 5 == 0 and not data[0] & 1 else SHORT
    return header + (data[2] << 8 | data[3]) == len(data) + missing


def _v2_header(data: bytes) -> bool:
    """Whether a header is a possible one: a known message with its TEID, spare bits clear, and an element."""
    tunnelled, kind = bool(data[0] & 8), data[1]
    if data[0] & 3 or kind not in V2_MESSAGES or tunnelled == (kind in V2_WITHOUT_TEID):
        return False
    if len(data) < (12 if tunnelled else 8) or data[11 if tunnelled else 7] & (0x0F if data[0] & 4 else 0xFF):
        return False
    return kind == V2_BARE or next(_v2_elements(data), None) is not None


def control_plane(data: bytes, found: Findings) -> bool:
    """Read a GTP-C message of version 1 or 2; False when the bytes are none.

    The stated length must be that of the datagram, less a piggybacked message: other traffic uses these ports.
    """
    if len(data) < 8:
        return False
    version = data[0] >> 5
    length = data[2] << 8 | data[3]
    if version == 2 and (4 + length == len(data) or (data[0] & 0x10 and 4 + length < len(data))):
        return _v2_header(data) and _v2(data, found)
    if version == 1 and data[0] & 0x18 == 0x10 and 8 + length == len(data):
        # A control message always has its sequence number (TS 29.060, 6).
        return data[1] in V1_MESSAGES and bool(data[0] & 2) and len(data) >= 12 and _v1(data, found)
    return False
