"""Transport headers: ports and payloads of UDP and TCP, and the messages inside SCTP packets.

dpkt's SCTP class is not used: it reads a padded chunk's padding as the next chunk. Every walk here is bounded by the
packet.
"""

from collections.abc import Iterator
from typing import NamedTuple

# Chunks that one packet may bundle: a 64 KiB packet of smallest chunks has 16,384, and no stack sends that many.
MAX_CHUNKS = 4096
DATA, I_DATA = 0, 64
FIN, SYN, RST, ACK = 1, 2, 4, 16  # flags of TCP


class Segment(NamedTuple):
    """A UDP datagram or TCP segment; `sequence`, `flags` and `acknowledged` are zero for UDP.

    `missing` is how many bytes the UDP header, or for TCP the IP header, states that were not captured.
    """

    source_port: int
    destination_port: int
    payload: bytes
    sequence: int = 0
    flags: int = 0
    missing: int = 0
    acknowledged: int = 0


class Chunk(NamedTuple):
    """A DATA chunk of SCTP: user data with its stream and payload protocol (RFC 9260, 3.3.1).

    I-DATA (RFC 8260, 2.1) has a message, as stream and number; `tsn` is then the fragment's number in it.
    """

    tsn: int
    stream: int
    protocol: int
    first: bool
    last: bool
    payload: bytes
    message: tuple[int, int] | None = None


def udp(data: bytes) -> Segment | None:
    """Read a UDP header; the stated length only ever shortens the payload."""
    if len(data) < 8:
        return None
    length = data[4] << 8 | data[5]
    end = length if 8 <= length <= len(data) else len(data)
    missing = max(length - len(data), 0)
    return Segment(data[0] << 8 | data[1], data[2] << 8 | data[3], data[8:end], missing=missing)


def tcp(data: bytes, missing: int = 0) -> Segment | None:
    """Read a TCP header; a data offset below five words is taken as five. `missing` bytes were not captured."""
    if len(data) < 14:
        return None
    start = max((data[12] >> 4) * 4, 20)
    sequence, acknowledged = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    ports = data[0] << 8 | data[1], data[2] << 8 | data[3]
    return Segment(*ports, data[start:], sequence, data[13], missing, acknowledged)


def _data(data: bytes, at: int, flags: int, payload: bytes) -> Chunk:
    return Chunk(
        int.from_bytes(data[at + 4 : at + 8], "big"), data[at + 8] << 8 | data[at + 9],
        int.from_bytes(data[at + 12 : at + 16], "big"), bool(flags & 2), bool(flags & 1), payload,
    )  # fmt: skip


def _interleaved(data: bytes, at: int, flags: int, payload: bytes) -> Chunk:
    """Read I-DATA: the last field is the protocol in a first fragment, whose number is zero, else the number."""
    stream, first = data[at + 8] << 8 | data[at + 9], bool(flags & 2)
    field = int.from_bytes(data[at + 16 : at + 20], "big")
    # Ordered and unordered messages of a stream are numbered apart.
    message = (stream << 1 | bool(flags & 4), int.from_bytes(data[at + 12 : at + 16], "big"))
    return Chunk(0 if first else field, stream, field if first else 0, first, bool(flags & 1), payload, message)


def whole_messages(data: bytes) -> list[tuple[int, bytes]] | None:
    """Return payload protocol and user data of the messages in an SCTP packet; None where one is a fragment or I-DATA.

    That is what nearly every packet is, and half the cost of `sctp_chunks`.
    """
    at, size, messages = 12, len(data), []
    for _ in range(MAX_CHUNKS):
        if at + 4 > size:
            break
        kind, length = data[at], data[at + 2] << 8 | data[at + 3]
        if length < 4:
            break
        if kind == DATA:
            if data[at + 1] & 3 != 3:
                return None
            start = at + 16
            if start > size:
                break
            protocol = data[at + 12] << 24 | data[at + 13] << 16 | data[at + 14] << 8 | data[at + 15]
            messages.append((protocol, data[start : at + length]))
        elif kind == I_DATA:
            return None
        at += length + 3 & ~3
    return messages


def sctp_chunks(data: bytes) -> Iterator[Chunk]:
    """Yield the DATA and I-DATA chunks of an SCTP packet."""
    at = 12
    for _ in range(MAX_CHUNKS):
        if at + 4 > len(data):
            return
        kind, flags, length = data[at], data[at + 1], data[at + 2] << 8 | data[at + 3]
        if length < 4:
            return
        if kind in (DATA, I_DATA):
            start = at + (16 if kind == DATA else 20)
            if start > len(data):
                return
            yield (_data if kind == DATA else _interleaved)(data, at, flags, data[start : at + length])
        at += length + 3 & ~3
