"""The outermost IP header of a frame, the extension headers behind it, and the transport they carry.

Own walk instead of dpkt.ip and dpkt.ip6: those raise RecursionError on nested IP, take quadratic time on extension
headers, and let IndexError and struct.error escape. The protocol numbers are dpkt's.
"""

from typing import NamedTuple

from dpkt import ip

HOP_BY_HOP, ROUTING, FRAGMENT, AH, NO_NEXT, DESTINATION, MOBILITY, HIP, SHIM6 = 0, 43, 44, 51, 59, 60, 135, 139, 140
IPV6_HEADERS = frozenset({HOP_BY_HOP, ROUTING, DESTINATION, MOBILITY, HIP, SHIM6})
TCP, UDP, SCTP = ip.IP_PROTO_TCP, ip.IP_PROTO_UDP, ip.IP_PROTO_SCTP
# More than this is an attack on the reader, not a path through a network.
MAX_HEADERS = 16


class Datagram(NamedTuple):
    """Addresses as packed bytes, the transport's number, and where its bytes are in the frame.

    `part` marks any fragment, `later` one without its transport header; `offset` is a fragment's in bytes.
    `missing` is how many bytes the header states that were not captured.
    """

    source: bytes
    destination: bytes
    protocol: int
    start: int
    end: int
    part: bool = False
    later: bool = False
    identification: int = 0
    offset: int = 0
    more: bool = False
    missing: int = 0


def ipv4(frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read an IPv4 header (RFC 791); None when it is cut or states fewer than five words, or a total below them."""
    if at + 20 > limit:
        return None
    words = frame[at] & 15
    total = frame[at + 2] << 8 | frame[at + 3]
    if words == 5 and total >= 20 and not frame[at + 6] & 0x3F and not frame[at + 7]:  # as nearly all are
        end, missing = (at + total, 0) if at + total <= limit else (limit, at + total - limit)
        return Datagram(
            frame[at + 12 : at + 16], frame[at + 16 : at + 20], frame[at + 9], at + 20, end, missing=missing
        )
    if words < 5 or 0 < total < words * 4:
        return None
    # A total of zero stands on frames captured before the card cut them (TSO, BIG TCP).
    end = min(at + total, limit) if total else limit
    flags = frame[at + 6] << 8 | frame[at + 7]
    offset = (flags & 0x1FFF) * 8
    more = bool(flags & 0x2000)
    missing = at + total - limit
    return Datagram(
        frame[at + 12 : at + 16], frame[at + 16 : at + 20], frame[at + 9], min(at + words * 4, end), end,
        offset > 0 or more, offset > 0, frame[at + 4] << 8 | frame[at + 5], offset, more,
        missing if missing > 0 else 0,
    )  # fmt: skip


def ipv6(frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read an IPv6 header and pass its extension headers (RFC 8200); None when the fixed header is cut."""
    if at + 40 > limit:
        return None
    length, following = frame[at + 4] << 8 | frame[at + 5], frame[at + 6]
    source, destination = frame[at + 8 : at + 24], frame[at + 24 : at + 40]
    end = min(at + 40 + length, limit) if length else limit  # zero: a jumbogram (RFC 2675)
    following, position = _extensions(frame, following, at + 40, end)
    if following != FRAGMENT or position + 8 > end:
        return Datagram(
            source, destination, following, min(position, end), end, missing=max(at + 40 + length - limit, 0)
        )
    field = frame[position + 2] << 8 | frame[position + 3]
    offset, more = field & 0xFFF8, bool(field & 1)
    identification = int.from_bytes(frame[position + 4 : position + 8], "big")
    following, position = frame[position], position + 8
    if not offset and not more:  # a fragment that is all of its datagram (RFC 6946)
        following, position = _extensions(frame, following, position, end)
    return Datagram(
        source, destination, following, min(position, end), end, offset > 0 or more, offset > 0, identification, offset,
        more,
    )  # fmt: skip


def _extensions(data: bytes, following: int, at: int, end: int) -> tuple[int, int]:
    """Pass extension headers up to a fragment header; return the protocol of what follows, and where it is."""
    for _ in range(MAX_HEADERS):
        if following not in IPV6_HEADERS or at + 8 > end:
            break
        following, at = data[at], at + 8 + data[at + 1] * 8
    return following, at


def whole_datagram(header: Datagram, data: bytes) -> tuple[Datagram, bytes]:
    """Return the header of what fragments were put together to, and its bytes: extension headers may stand first."""
    following, at = (
        _extensions(data, header.protocol, 0, len(data)) if len(header.source) == 16 else (header.protocol, 0)
    )
    return header._replace(protocol=following), data[at:]


def sound(packet: bytes) -> bool:
    """Whether bytes are an IP packet by their own account: its length, and the checksum of IPv4 (RFC 791, RFC 1071).

    A checksum of zero is left to the network card, and a packet may be cut; without one the length must be exact.
    """
    if len(packet) >= 20 and packet[0] >> 4 == 4 and packet[0] & 15 >= 5:
        size = (packet[0] & 15) * 4
        total = packet[2] << 8 | packet[3]
        if total < size or size > len(packet):
            return False
        if packet[10:12] == b"\0\0":
            return total == len(packet)
        words = sum(packet[at] << 8 | packet[at + 1] for at in range(0, size, 2))
        return (words & 0xFFFF) + (words >> 16) in (0xFFFF, 0x1FFFE)
    if len(packet) < 40 or packet[0] >> 4 != 6:
        return False
    size = 40 + (packet[4] << 8 | packet[5])
    return size == len(packet) or (packet[6] == NO_NEXT and size <= len(packet))  # Teredo's trailers (RFC 6081, 4)


def datagram(version: int, frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read the IP header of `version` at `at`; bytes from `limit` on belong to something else."""
    found = ipv4(frame, at, limit) if version == 4 else ipv6(frame, at, limit)
    if found is not None and found.protocol == AH and not found.later and found.start + 12 <= found.end:
        # Authenticated but readable (RFC 4302): the length counts words, less two.
        start = min(found.start + (frame[found.start + 1] + 2) * 4, found.end)
        return found._replace(protocol=frame[found.start], start=start)
    return found
