"""QUIC under a greased version: negotiation in clear, then short headers (RFC 9000 §6.3, §17)."""

import struct
from random import Random

PORT = 443
_GREASED = 0x1A2A3A4A


def initial(chance: Random, ours: bytes, theirs: bytes) -> bytes:
    """Return a first packet of 1200 octets under a reserved version, which no server speaks."""
    head = struct.pack("!BI", 0xC0 | chance.getrandbits(4), _GREASED)
    head += bytes([len(theirs)]) + theirs + bytes([len(ours)]) + ours
    head += b"\0"  # no token
    rest = 1200 - len(head) - 2
    return head + struct.pack("!H", 0x4000 | rest) + chance.randbytes(rest)


def version_negotiation(ours: bytes, theirs: bytes) -> bytes:
    """Return the server's answer: the versions that it does speak (RFC 9000 §17.2.1)."""
    head = struct.pack("!BI", 0x80, 0) + bytes([len(theirs)]) + theirs + bytes([len(ours)]) + ours
    return head + struct.pack("!II", 1, 0x6B3343CF)


def protected(chance: Random, connection: bytes, size: int) -> bytes:
    """Return a short-header packet."""
    return bytes([0x40 | chance.getrandbits(6) & 0x3F]) + connection + chance.randbytes(size)
