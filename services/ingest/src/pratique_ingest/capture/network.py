"""The outermost IP header of a frame, the extension headers behind it, and the transport they carry.

Own walk instead of dpkt.ip and dpkt.ip6: those raise RecursionError on nested IP, take quadratic time on extension
headers, and let IndexError and struct.error escape. The protocol numbers are dpkt's.
"""

from typing import NamedTuple

from dpkt import ip

HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION, MOBILITY, HIP, SHIM6 = 0, 43, 44, 51, 60, 135, 139, 140
IPV6_HEADERS = frozenset({HOP_BY_HOP, ROUTING, DESTINATION, MOBILITY, HIP, SHIM6})
TCP, UDP, SCTP, ICMP, ICMP6 = ip.IP_PROTO_TCP, ip.IP_PROTO_UDP, ip.IP_PROTO_SCTP, ip.IP_PROTO_ICMP, ip.IP_PROTO_ICMP6
# More than this is an attack on the reader, not a path through a network.
MAX_HEADERS = 16


class Datagram(NamedTuple):
    """Addresses as packed bytes, the transport's number, and where its bytes are in the frame.

    `part` marks any fragment, `later` one without its transport header; `offset` is a fragment's in bytes.
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


def ipv4(frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read an IPv4 header (RFC 791); None when it is cut or states fewer than five words."""
    if at + 20 > limit:
        return None
    words = frame[at] & 15
    if words < 5:
        return None
    total = frame[at + 2] << 8 | frame[at + 3]
    # A total of zero stands on frames captured before the card cut them (TSO, BIG TCP).
    end = min(at + total, limit) if total else limit
    flags = frame[at + 6] << 8 | frame[at + 7]
    offset = (flags & 0x1FFF) * 8
    more = bool(flags & 0x2000)
    return Datagram(
        frame[at + 12 : at + 16], frame[at + 16 : at + 20], frame[at + 9], min(at + words * 4, end), end,
        offset > 0 or more, offset > 0, frame[at + 4] << 8 | frame[at + 5], offset, more,
    )  # fmt: skip


def ipv6(frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read an IPv6 header and pass its extension headers (RFC 8200); None when the fixed header is cut."""
    if at + 40 > limit:
        return None
    length, following = frame[at + 4] << 8 | frame[at + 5], frame[at + 6]
    source, destination = frame[at + 8 : at + 24], frame[at + 24 : at + 40]
    position = at + 40
    end = min(position + length, limit) if length else limit  # zero: a jumbogram (RFC 2675)
    part = later = more = False
    identification = offset = 0
    for _ in range(MAX_HEADERS):
        if position + 8 > end:
            break
        if following in IPV6_HEADERS:
            following, position = frame[position], position + 8 + frame[position + 1] * 8
        elif following == FRAGMENT:
            field = frame[position + 2] << 8 | frame[position + 3]
            offset, more = field & 0xFFF8, bool(field & 1)
            identification = int.from_bytes(frame[position + 4 : position + 8], "big")
            part, later = offset > 0 or more, offset > 0
            following, position = frame[position], position + 8
            if later:
                break
        else:
            break
    return Datagram(
        source, destination, following, min(position, end), end, part, later, identification, offset, more
    )  # fmt: skip


def datagram(version: int, frame: bytes, at: int, limit: int) -> Datagram | None:
    """Read the IP header of `version` at `at`; bytes from `limit` on belong to something else."""
    found = ipv4(frame, at, limit) if version == 4 else ipv6(frame, at, limit)
    if found is not None and found.protocol == AH and not found.later and found.start + 12 <= found.end:
        # Authenticated but readable (RFC 4302): the length counts words, less two.
        start = min(found.start + (frame[found.start + 1] + 2) * 4, found.end)
        return found._replace(protocol=frame[found.start], start=start)
    return found
