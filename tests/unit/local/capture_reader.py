"""A second reader of captures, slow and literal: it shares no code with the builder or the ingest service."""

import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address


@dataclass(frozen=True)
class Packet:
    """One IP packet of a capture, with the payload of its last header."""

    source: str
    destination: str
    protocol: int
    header: bytes
    payload: bytes
    fragment: bool


def frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (microseconds, frame) of a little-endian pcapng or pcap file."""
    if data[:4] == bytes.fromhex("d4c3b2a1"):
        at = 24
        while at < len(data):
            seconds, micros, size, original = struct.unpack_from("<IIII", data, at)
            assert size == original
            yield seconds * 1_000_000 + micros, data[at + 16 : at + 16 + size]
            at += 16 + size
        return
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0
        assert struct.unpack_from("<I", data, at + size - 4)[0] == size
        if kind == 6:
            _, high, low, captured, original = struct.unpack_from("<IIIII", data, at + 8)
            assert captured == original
            yield high << 32 | low, data[at + 28 : at + 28 + captured]
        at += size


def packets(data: bytes) -> Iterator[Packet]:
    """Yield the outermost IP packets; ARP makes none."""
    for _, frame in frames(data):
        at = 16 if frame[12:14] == b"\x81\x00" else 12
        if frame[at : at + 2] == b"\x08\x00":
            start = at + 2
            end = start + int.from_bytes(frame[start + 2 : start + 4])
            head, body = frame[start : start + 20], frame[start + 20 : end]
            source, destination = (str(ip_address(head[i : i + 4])) for i in (12, 16))
            yield Packet(source, destination, head[9], head, body, bool(int.from_bytes(head[6:8]) & 0x3FFF))
        elif frame[at : at + 2] == b"\x86\xdd":
            head = frame[at + 2 : at + 42]
            body = frame[at + 42 : at + 42 + int.from_bytes(head[4:6])]
            source, destination = (str(ip_address(head[i : i + 16])) for i in (8, 24))
            yield Packet(source, destination, head[6], head, body, fragment=False)


def hosts(data: bytes) -> dict[str, tuple[int, int]]:
    """Count packets and distinct peers of each outermost address."""
    count: Counter[str] = Counter()
    peers: defaultdict[str, set[str]] = defaultdict(set)
    for packet in packets(data):
        for here, there in ((packet.source, packet.destination), (packet.destination, packet.source)):
            count[here] += 1
            peers[here].add(there)
    return {ip: (count[ip], len(peers[ip])) for ip in count}


def folded(data: bytes) -> int:
    """Return the one's complement sum of 16-bit words: 0xFFFF over data with a correct checksum in it."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"))
        total = (total & 0xFFFF) + (total >> 16)
    return total


def covered(packet: Packet) -> bytes:
    """Return pseudo-header and payload: what a TCP, UDP or ICMPv6 checksum covers."""
    ends = ip_address(packet.source).packed + ip_address(packet.destination).packed
    return ends + struct.pack("!II", len(packet.payload), packet.protocol) + packet.payload


def chunks(packet: Packet) -> list[tuple[int, bytes]]:
    """Return (type, value) of the chunks of an SCTP packet; every chunk must start on four octets."""
    found, at = [], 12
    while at < len(packet.payload):
        kind, _, size = struct.unpack_from("!BBH", packet.payload, at)
        found.append((kind, packet.payload[at + 4 : at + size]))
        at += size + -size % 4
    assert at == len(packet.payload)
    return found
