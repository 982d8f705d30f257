"""Capture files: the frames as pcapng, or as classic pcap."""

import struct
from collections.abc import Iterable

LINKTYPE_ETHERNET = 1
SNAPLEN = 262144
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6

Frame = tuple[int, bytes]
"""Microseconds since 1970, and the octets of an Ethernet frame."""


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng(frames: Iterable[Frame]) -> bytes:
    """Return a pcapng file of one little-endian section and one interface (draft-ietf-opsawg-pcapng §4)."""
    end = struct.pack("<HH", 0, 0)
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(4, b"pratique sample") + end
    interface = struct.pack("<HHI", LINKTYPE_ETHERNET, 0, SNAPLEN) + _option(2, b"lab0") + _option(9, b"\x06") + end
    blocks = [_block(_SECTION, section), _block(_INTERFACE, interface)]
    for moment, data in frames:
        head = struct.pack("<IIIII", 0, moment >> 32, moment & 0xFFFFFFFF, len(data), len(data))
        blocks.append(_block(_PACKET, head + _padded(data)))
    return b"".join(blocks)


def pcap(frames: Iterable[Frame]) -> bytes:
    """Return a classic pcap file, little-endian, microseconds (draft-ietf-opsawg-pcap §4)."""
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAPLEN, LINKTYPE_ETHERNET)]
    for moment, data in frames:
        seconds, microseconds = divmod(moment, 1_000_000)
        records.append(struct.pack("<IIII", seconds, microseconds, len(data), len(data)) + data)
    return b"".join(records)
