"""RADIUS (RFC 2865, RFC 2866): the subscriber's identities on the way from a gateway to its AAA server (TS 29.061)."""

from collections.abc import Iterator

from pratique_ingest.protocols.digits import packed_digits
from pratique_ingest.protocols.findings import Findings

HEADER = 20
# Access and accounting (RFC 2865, 3; RFC 2866, 3), status (RFC 5997), and what a server asks by itself (RFC 5176).
CODES = frozenset({1, 2, 3, 4, 5, 11, 12, 13, *range(40, 46)})
FRAMED_ADDRESS, VENDOR, CALLING_STATION, PORT_TYPE = 8, 26, 31, 61
# Where the calling station is a machine's address, not a telephone number (RFC 2865, 5.41): Ethernet, Wi-Fi, cable.
LOCAL_PORTS = frozenset({15, 17, 19})
# Left to the gateway to choose, so no address (RFC 2865, 5.8).
CHOSEN_LATER = frozenset({b"\xff\xff\xff\xff", b"\xff\xff\xff\xfe"})
THE_3GPP = 10_415
# TS 29.061, 16.4.7: digits as text, the IMEISV perhaps packed.
IMSI, IMEISV = 1, 20
PACKED_IMEISV = 8


def _attributes(data: bytes, at: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield type and value: the length covers its own two bytes, so that a message has at most 2,038."""
    while at + 2 <= end:
        size = data[at + 1]
        if size < 2 or at + size > end:
            return
        yield data[at], data[at + 2 : at + size]
        at += size


def _digits(value: bytes) -> str:
    return value.decode("ascii", "ignore")


def _of_3gpp(value: bytes, found: Findings) -> None:
    for kind, inside in _attributes(value, 4, len(value)):
        if kind == IMSI:
            found.identity("imsi", _digits(inside))
        elif kind == IMEISV:
            found.identity("imei", packed_digits(inside) if len(inside) == PACKED_IMEISV else _digits(inside))


def radius(data: bytes, found: Findings) -> bool:
    """Read one RADIUS message, also one that is cut; False when the bytes are none."""
    if len(data) < HEADER or data[0] not in CODES:
        return False
    size = data[2] << 8 | data[3]
    if not HEADER <= size <= 4096:
        return False
    attributes = list(_attributes(data, HEADER, min(size, len(data))))
    if size > HEADER and not attributes:
        return False
    found.protocols.add("radius")
    local = any(kind == PORT_TYPE and int.from_bytes(value, "big") in LOCAL_PORTS for kind, value in attributes)
    mobile = [value for kind, value in attributes if kind == VENDOR and int.from_bytes(value[:4], "big") == THE_3GPP]
    for value in mobile:
        _of_3gpp(value, found)
    for kind, value in attributes:
        if kind == CALLING_STATION and not local:
            found.identity("msisdn", _digits(value).removeprefix("+"))
        elif kind == FRAMED_ADDRESS and mobile and len(value) == 4 and value not in CHOSEN_LATER:
            found.subscribers.add(value)
    return True
