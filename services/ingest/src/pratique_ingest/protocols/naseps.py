"""NAS of 4G (TS 24.301): the mobile identities in attach, tracking area, identity, security and detach messages."""

from collections.abc import Iterator

from pratique_ingest.protocols.ciphering import UeContext
from pratique_ingest.protocols.digits import network, packed_digits
from pratique_ingest.protocols.findings import Findings

MOBILITY = 0x7
ATTACH_REQUEST, ATTACH_ACCEPT, DETACH_REQUEST, UPDATE_REQUEST, UPDATE_ACCEPT = 0x41, 0x42, 0x45, 0x48, 0x49
GUTI_REALLOCATION, IDENTITY_RESPONSE, SECURITY_MODE_COMPLETE = 0x50, 0x56, 0x5E
SECURITY_MODE_COMMAND, SECURITY_MODE_REJECT = 0x5D, 0x5F
CIPHERED = (2, 4)  # security header types (TS 24.301, 9.3.1)
MESSAGE_TYPES = frozenset((*range(0x41, 0x4A), *range(0x4B, 0x57), 0x5C, *range(0x5D, 0x65), 0x68, 0x69))
MAX_NESTING = 4
IMSI, IMEI, IMEISV, GUTI = 1, 2, 3, 6
GUTI_IEI, IMEISV_IEI, CONTAINER_IEI = 0x50, 0x23, 0x79
# Elements without a length field: TAI, P-TMSI signature, LAI, EMM cause, timers, local and universal time.
FIXED = {0x52: 6, 0x19: 4, 0x13: 6, 0x53: 2, 0x17: 2, 0x59: 2, 0x5A: 2, 0x35: 2, 0x47: 2, 0x48: 8}


def guti(data: bytes) -> str:
    """Return a GUTI as mcc-mnc-group-code-tmsi, the last three in hex, the M-TMSI in eight digits (TS 23.003, 2.8)."""
    mcc, mnc = network(data)
    return f"{mcc}-{mnc}-{data[3] << 8 | data[4]:x}-{data[5]:x}-{data[6:10].hex()}"


def mobile_identity(data: bytes, found: Findings) -> None:
    """Keep an EPS mobile identity (TS 24.301, 9.9.3.12), or the older one of TS 24.008 that identity responses use."""
    if not data:
        return
    kind = data[0] & 7
    if kind == GUTI and len(data) >= 11:
        value = guti(data[1:11])
        if data[1:11].strip(b"\0") and value.replace("-", "")[:5].isdecimal():
            found.identity("guti_4g", value)
    elif kind in (IMSI, IMEI, IMEISV):
        digits = f"{data[0] >> 4:x}" + packed_digits(data[1:])
        found.identity("imsi" if kind == IMSI else "imei", digits)


def _optional(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at < len(data):
        kind = data[at]
        if kind & 0x80:
            at += 1
        elif kind in FIXED:
            at += FIXED[kind]
        elif kind & 0xF8 == 0x78:  # two-byte length (TS 24.007, 11.2.4)
            end = at + 3 + int.from_bytes(data[at + 1 : at + 3], "big")
            yield kind, data[at + 3 : end]
            at = end
        elif at + 1 < len(data):
            end = at + 2 + data[at + 1]
            yield kind, data[at + 2 : end]
            at = end
        else:
            return


def _short(data: bytes, at: int) -> tuple[bytes, int]:
    """Return a value behind a one-byte length, and the offset after it."""
    if at >= len(data):
        return b"", len(data)
    end = at + 1 + data[at]
    return data[at + 1 : end], end


def _plain(data: bytes, found: Findings, depth: int) -> None:
    kind, at = data[1], 2
    if kind in (ATTACH_REQUEST, UPDATE_REQUEST, DETACH_REQUEST):
        identity, at = _short(data, 3)
        mobile_identity(identity, found)
        if kind == ATTACH_REQUEST:
            _, at = _short(data, at)  # UE network capability
            at += 2 + int.from_bytes(data[at : at + 2], "big")  # ESM message container
    elif kind == ATTACH_ACCEPT:
        _, at = _short(data, 4)  # tracking areas, behind result and timer
        at += 2 + int.from_bytes(data[at : at + 2], "big")
    elif kind == UPDATE_ACCEPT:
        at = 3
    elif kind in (GUTI_REALLOCATION, IDENTITY_RESPONSE):
        identity, at = _short(data, 2)
        mobile_identity(identity, found)
    elif kind != SECURITY_MODE_COMPLETE:
        return
    for kind, value in _optional(data, at):
        if kind in (GUTI_IEI, IMEISV_IEI):
            mobile_identity(value, found)
        elif kind == CONTAINER_IEI:
            naseps(value, found, depth + 1)


def _selected(data: bytes, context: UeContext | None) -> None:
    """Keep the ciphering algorithm that a security mode command selects (TS 24.301, 9.9.3.23); a rejection ends it."""
    if context is None:
        return
    if data[1] == SECURITY_MODE_COMMAND and len(data) > 2:
        context.select(data[2] >> 4 & 7)
    elif data[1] == SECURITY_MODE_REJECT:
        context.select(None)


def naseps(data: bytes, found: Findings, depth: int = 0, context: UeContext | None = None) -> bool:
    """Read one EPS NAS message and note its identities; False when the bytes are none.

    A ciphered message (TS 24.301, 9.3) is opened when its UE has the null cipher, and counted when it has another; when
    that is not known, it is opened if what follows its header is in clear.
    """
    if len(data) < 2 or depth > MAX_NESTING:
        return False
    discriminator, header = data[0] & 15, data[0] >> 4
    if discriminator == 2:
        found.protocols.add("nas-eps")
        return True
    if discriminator != MOBILITY:
        return False
    if header == 0:
        if data[1] not in MESSAGE_TYPES:
            return False
        found.protocols.add("nas-eps")
        _selected(data, context)
        _plain(data, found, depth)
        return True
    if header >= 12:  # a service request protects itself in four bytes
        found.protocols.add("nas-eps")
        return True
    if header > 5 or len(data) < 8:
        return False
    found.protocols.add("nas-eps")
    inner, algorithm = data[6:], context.algorithm if context is not None and header in CIPHERED else None
    if algorithm:
        found.troubles.append("nas-ciphered")
    elif (inner[0] & 15 == MOBILITY and inner[0] >> 4 == 0 and inner[1] in MESSAGE_TYPES) or (
        inner[0] & 15 == 2 and (header in (1, 3) or algorithm == 0)
    ):
        naseps(inner, found, depth + 1, context)
    elif header in CIPHERED:
        found.troubles.append("nas-ciphered")
    return True
