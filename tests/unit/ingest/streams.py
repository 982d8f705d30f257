"""Streams made by hand: HTTP/2 with a dynamic table, WebSocket frames, and segments cut, late and repeated."""

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from pratique_ingest.profile import Profile
from tests.unit.ingest.crafted import AMF, SMF, ethernet, ipv4, pcap, profiled, tcp

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
CLIENT, SERVER = 40_000, 7777
DATA, HEADERS, CONTINUATION = 0, 1, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind: int, payload: bytes, *, flags: int = 0, stream: int = 1) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Encoder:
    """A sender's table (RFC 7541): a field that was sent is an index, another one a literal that enters the table."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes, bytes]] = []

    def block(self, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Encode fields, none longer than 126 bytes and no more of them than the table holds."""
        coded = b""
        for name, value in fields:
            if (name, value) in self.sent:
                coded += bytes([0x80 | 62 + self.sent[::-1].index((name, value))])
            else:
                coded += b"\x40" + bytes([len(name)]) + name + bytes([len(value)]) + value
                self.sent.append((name, value))
        return coded


def request(
    encoder: Encoder, stream: int, path: str, body: bytes = b"", *, parts: int = 1, kind: bytes = b"",
    coding: bytes = b"",
) -> bytes:  # fmt: skip
    """A request whose header block is in so many frames, and whose body is in two."""
    fields = [(b":method", b"POST"), (b":path", path.encode()), (b"content-type", kind), (b"content-encoding", coding)]
    block = encoder.block([field for field in fields if field[1]])
    size = -(-len(block) // parts)
    pieces = [block[at : at + size] for at in range(0, len(block), size)]
    last = len(pieces) - 1
    sent = b"".join(
        frame(
            CONTINUATION if number else HEADERS, piece, stream=stream,
            flags=(END_HEADERS if number == last else 0) | (END_STREAM if not number and not body else 0),
        )
        for number, piece in enumerate(pieces)
    )  # fmt: skip
    if body:
        half = len(body) // 2
        sent += frame(DATA, body[:half], stream=stream) + frame(DATA, body[half:], stream=stream, flags=END_STREAM)
    return sent


def cut(stream: bytes, at: Iterable[int], *, start: int = 1) -> list[tuple[int, bytes]]:
    """Segments with their sequence numbers, from cuts at these places."""
    places = sorted({0, len(stream), *(place for place in at if 0 < place < len(stream))})
    return [(start + low, stream[low:high]) for low, high in pairwise(places)]


def captured(segments: Sequence[tuple[int, bytes]], *, port: int = SERVER) -> bytes:
    """A capture of one direction."""
    return pcap(ethernet(ipv4(AMF, SMF, 6, tcp(CLIENT, port, data, at))) for at, data in segments)


def heard(*segments: tuple[int, bytes], port: int = SERVER) -> Profile:
    return profiled(captured(segments, port=port))


@st.composite
def disorder(draw: st.DrawFn, segments: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The first segment first; of the others, some late by a few places and some twice."""
    rest = [(number + draw(st.integers(0, 4)), number, one) for number, one in enumerate(segments[1:])]
    again = [(draw(st.integers(number, number + 9)), number, one) for _, number, one in rest if draw(st.booleans())]
    return [segments[0], *(one for _, _, one in sorted(rest + again))]
