"""TLS 1.3 as a tap sees it: hellos in clear, the rest sealed (RFC 8446)."""

import struct
from random import Random

PORT = 443
_CIPHER = 0x1301


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("!BHH", kind, 0x0303, len(body)) + body


def _handshake(kind: int, body: bytes) -> bytes:
    return _record(22, bytes([kind]) + len(body).to_bytes(3) + body)


def _extension(kind: int, body: bytes) -> bytes:
    return struct.pack("!HH", kind, len(body)) + body


def _sized(body: bytes) -> bytes:
    return struct.pack("!H", len(body)) + body


def client_hello(chance: Random, server_name: str) -> bytes:
    """Return a ClientHello that names its server (RFC 6066 §3)."""
    name = _sized(b"\0" + _sized(server_name.encode("ascii")))
    share = _sized(struct.pack("!H", 0x001D) + _sized(chance.randbytes(32)))
    extensions = _extension(0, name) + _extension(43, b"\x02\x03\x04") + _extension(10, _sized(b"\x00\x1d"))
    extensions += _extension(13, _sized(b"\x04\x03\x08\x04")) + _extension(51, share)
    session = b"\x20" + chance.randbytes(32)
    body = b"\x03\x03" + chance.randbytes(32) + session + _sized(struct.pack("!H", _CIPHER)) + b"\x01\x00"
    return _handshake(1, body + _sized(extensions))


def server_hello(chance: Random) -> bytes:
    """Return a ServerHello and what follows it at once."""
    share = struct.pack("!H", 0x001D) + _sized(chance.randbytes(32))
    extensions = _extension(43, b"\x03\x04") + _extension(51, share)
    body = b"\x03\x03" + chance.randbytes(32) + b"\x20" + chance.randbytes(32) + struct.pack("!HB", _CIPHER, 0)
    return _handshake(2, body + _sized(extensions)) + _record(20, b"\x01") + sealed(chance, 420)


def sealed(chance: Random, size: int) -> bytes:
    """Return a record that only its ends can read."""
    return _record(23, chance.randbytes(size))
