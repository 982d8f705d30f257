"""GTP: the tunnels of the user plane (TS 29.281), and the identities in its control planes (TS 29.060, TS 29.274)."""

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
    21: 1, 22: 1, 23: 1, 24: 1, 25: 2, 26: 2, 27: 2, 28: 2, 29: 1, 127: 4,
}  # fmt: skip
V1_IMSI, V1_END_USER, V1_MSISDN, V1_IMEI = 2, 128, 134, 154
V1_CREATE, V1_CREATED, V1_UPDATE, V1_UPDATED, V1_DELETE, V1_DELETED = 16, 17, 18, 19, 20, 21
V1_SIZE = 8


class Tunnelled(NamedTuple):
    """The inner packet of a G-PDU, and whether its PDU session container says uplink, downlink or nothing."""

    packet: bytes
    uplink: bool | None


def user_plane(data: bytes) -> Tunnelled | None:
    """Return what a GTP-U message carries: empty for signalling; None when the bytes are not GTP-U version 1."""
    if len(data) < 8 or data[0] >> 5 != 1 or not data[0] & 0x10:
        return None
    length = data[2] << 8 | data[3]
    if length > len(data) - 8 and data[1] != G_PDU:
        return None
    if data[1] not in (1, 2, 26, 31, 253, 254, G_PDU):
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
    return Tunnelled(data[at : 8 + length] if data[1] == G_PDU else b"", uplink)


def _v1(data: bytes, found: Findings) -> bool:
    """Read a GTPv1-C message: elements below 128 have fixed lengths, those from 128 on state theirs."""
    found.protocols.add("gtp")
    kind, at = data[1], 12 if data[0] & 7 else 8
    if kind in (V1_CREATE, V1_UPDATE, V1_DELETE):
        found.signs(Sign.GTPV1_SGSN, Sign.GTPV1_GGSN)
    elif kind in (V1_CREATED, V1_UPDATED, V1_DELETED):
        found.signs(Sign.GTPV1_GGSN, Sign.GTPV1_SGSN)
    end = min(len(data), 8 + (data[2] << 8 | data[3]))
    while at < end:
        element = data[at]
        if element < 128:
            if element not in V1_FIXED:
                break
            value, at = data[at + 1 : at + 1 + V1_FIXED[element]], at + 1 + V1_FIXED[element]
        else:
            size = int.from_bytes(data[at + 1 : at + 3], "big")
            value, at = data[at + 3 : at + 3 + size], at + 3 + size
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


def _v2(data: bytes, found: Findings) -> bool:
    """Read a GTPv2-C message: elements of type, length, instance; grouped ones carry no identity of their own."""
    found.protocols.add("gtpv2")
    at = 12 if data[0] & 8 else 8
    end = min(len(data), 4 + (data[2] << 8 | data[3]))
    while at + 4 <= end:
        element, size, instance = data[at], data[at + 1] << 8 | data[at + 2], data[at + 3] & 15
        value = data[at + 4 : min(at + 4 + size, end)]
        at += 4 + size
        if element == F_TEID and instance == 0 and value and data[1] in CREATE_SESSION:
            owner = value[0] & 0x3F
            if owner in TEID_OWNERS:
                found.signs(TEID_OWNERS[owner], TEID_PEERS[owner])
        else:
            _v2_element(element, value, found)
    return True


def control_plane(data: bytes, found: Findings) -> bool:
    """Read a GTP-C message of version 1 or 2; False when the bytes are none.

    The stated length must be that of the datagram, less a piggybacked message: other traffic uses these ports.
    """
    if len(data) < V1_SIZE:
        return False
    version = data[0] >> 5
    length = data[2] << 8 | data[3]
    if version == 2 and (4 + length == len(data) or (data[0] & 0x10 and 4 + length < len(data))):
        return _v2(data, found)
    if version == 1 and data[0] & 0x18 == 0x10 and 8 + length == len(data):
        return _v1(data, found)
    return False
