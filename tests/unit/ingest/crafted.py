"""Captures made by hand: packets and files whose every byte is known to the test that builds them."""

import io
import struct
import time
from collections.abc import Iterable
from ipaddress import ip_address

from pratique_ingest.profile import Profile, profile_capture

AMF, GNB, UPF, SMF = "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"
START = 1_767_225_600  # 2026-01-01T00:00:00Z


def ipv4(
    source: str, destination: str, protocol: int, payload: bytes, fragment: int = 0, identification: int = 1
) -> bytes:
    """An IPv4 packet; `fragment` is the field of flags and offset."""
    head = struct.pack(
        ">BBHHHBBH", 0x45, 0, 20 + len(payload), identification, fragment, 64, protocol, 0
    )  # fmt: skip
    return head + ip_address(source).packed + ip_address(destination).packed + payload


def ipv6(source: str, destination: str, following: int, payload: bytes) -> bytes:
    head = struct.pack(">IHBB", 6 << 28, len(payload), following, 64)
    return head + ip_address(source).packed + ip_address(destination).packed + payload


def udp(source: int, destination: int, payload: bytes) -> bytes:
    return struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def tcp(
    source: int, destination: int, payload: bytes, sequence: int = 1, flags: int = 0x18, acknowledged: int = 0
) -> bytes:
    return struct.pack(">HHIIBBHHH", source, destination, sequence, acknowledged, 0x50, flags, 1024, 0, 0) + payload


def chunk(payload: bytes, protocol: int, flags: int = 3, tsn: int = 1) -> bytes:
    """A DATA chunk, padded to a word as the wire wants it."""
    head = struct.pack(">BBHIHHI", 0, flags, 16 + len(payload), tsn, 0, 0, protocol)
    return head + payload + bytes(-len(payload) % 4)


def sctp(source: int, destination: int, *chunks: bytes) -> bytes:
    return struct.pack(">HHII", source, destination, 1, 0) + b"".join(chunks)


def ethernet(packet: bytes, *tags: bytes) -> bytes:
    """An Ethernet frame around an IP packet; `tags` stand between the addresses and the type."""
    kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    return bytes.fromhex("0200000000010200000000 02".replace(" ", "")) + b"".join(tags) + kind + packet


def pcap(frames: Iterable[bytes], link_type: int = 1, order: str = "<", magic: int = 0xA1B2C3D4) -> bytes:
    """A classic capture file with one frame a second from `START` on."""
    extra = bytes(8) if magic == 0xA1B2CD34 else b""
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65_535, link_type)]
    for number, frame in enumerate(frames):
        parts += struct.pack(order + "IIII", START + number, 0, len(frame), len(frame)), extra, frame
    return b"".join(parts)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A pcapng block with both of its lengths."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link_type: int = 1, order: str = "<", options: bytes = b"", snaplen: int = 0) -> bytes:
    return block(1, struct.pack(order + "HHI", link_type, 0, snaplen) + options, order)


def enhanced(frame: bytes, ticks: int, index: int = 0, order: str = "<") -> bytes:
    head = struct.pack(order + "IIIII", index, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame, order)


def profiled(file: bytes) -> Profile:
    return profile_capture(io.BytesIO(file), pilot="lab")


def counts(profile: Profile) -> dict[str, tuple[int, int]]:
    """Packets and peers by address."""
    return {host.ip: (host.packets, host.peer_count) for host in profile.hosts}


def cpu() -> float:
    """Seconds of the processor so far."""
    return time.process_time()
