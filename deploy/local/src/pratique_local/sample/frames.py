"""Link, network and datagram headers: addresses and payload in, bytes with correct checksums out."""

import struct
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, Protocol

ETHERTYPE_ARP = 0x0806
ETHERTYPE_VLAN = 0x8100
BROADCAST_MAC = b"\xff" * 6
ICMP, TCP, UDP, ICMP6, SCTP = 1, 6, 17, 58, 132

Address = IPv4Address | IPv6Address


class Endpoint(NamedTuple):
    """One end of a conversation: an IP address in text and a port."""

    ip: str
    port: int


class Carry(Protocol):
    """What takes one IP payload from a source to a destination: the wire itself, or a tunnel over it."""

    def __call__(self, source: str, destination: str, protocol: int, payload: bytes) -> None:
        """Send `payload` of IP protocol `protocol`."""


def checksum(data: bytes) -> int:
    """Return the Internet checksum of `data` (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    words: tuple[int, ...] = struct.unpack(f"!{len(data) // 2}H", data)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport_checksum(source: str, destination: str, protocol: int, segment: bytes) -> int:
    """Return the checksum over pseudo-header and segment (RFC 9293 §3.1, RFC 8200 §8.1)."""
    ends = ip_address(source).packed + ip_address(destination).packed
    size = struct.pack("!HH", protocol, len(segment)) if len(ends) == 8 else struct.pack("!II", len(segment), protocol)
    return checksum(ends + size + segment)


def ipv4(
    source: str, destination: str, protocol: int, payload: bytes, *, ident: int, ttl: int = 64, fragment: int = 0x4000
) -> bytes:
    """Return an IPv4 packet (RFC 791); `fragment` is the flags-and-offset word, don't-fragment by default."""
    ends = IPv4Address(source).packed + IPv4Address(destination).packed
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), ident & 0xFFFF, fragment, ttl, protocol, 0) + ends
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(source: str, destination: str, protocol: int, payload: bytes, *, hops: int) -> bytes:
    """Return an IPv6 packet without extension headers (RFC 8200)."""
    head = struct.pack("!IHBB", 6 << 28, len(payload), protocol, hops)
    return head + IPv6Address(source).packed + IPv6Address(destination).packed + payload


def datagram(source: Endpoint, destination: Endpoint, payload: bytes) -> bytes:
    """Return a UDP datagram (RFC 768); a checksum of zero is sent as all ones."""
    head = struct.pack("!HHHH", source.port, destination.port, 8 + len(payload), 0)
    total = transport_checksum(source.ip, destination.ip, UDP, head + payload) or 0xFFFF
    return head[:6] + struct.pack("!H", total) + payload


def send_datagram(carry: Carry, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
    """Send one UDP datagram over `carry`."""
    carry(source.ip, destination.ip, UDP, datagram(source, destination, payload))


def icmp(kind: int, code: int, rest: bytes) -> bytes:
    """Return an ICMP message (RFC 792); `rest` is everything after the checksum."""
    return struct.pack("!BBH", kind, code, checksum(struct.pack("!BBH", kind, code, 0) + rest)) + rest


def icmp6(source: str, destination: str, kind: int, rest: bytes) -> bytes:
    """Return an ICMPv6 message of code 0 (RFC 4443)."""
    total = transport_checksum(source, destination, ICMP6, struct.pack("!BBH", kind, 0, 0) + rest)
    return struct.pack("!BBH", kind, 0, total) + rest


def hardware_address(address: Address) -> bytes:
    """Return the MAC of an IP address: locally administered, or the group's own (RFC 1112 §6.4, RFC 2464 §7)."""
    if address.is_multicast:
        low = address.packed[-4:]
        return b"\x33\x33" + low if address.version == 6 else b"\x01\x00\x5e" + bytes([low[1] & 0x7F]) + low[2:]
    if address.version == 4 and address.packed[-1] == 255:
        return BROADCAST_MAC
    return (b"\x02\x06" if address.version == 6 else b"\x02\x04") + address.packed[-4:]


def ethernet(target: bytes, sender: bytes, ethertype: int, payload: bytes, *, vlan: int | None = None) -> bytes:
    """Return an Ethernet frame, tagged if it is in a VLAN (IEEE 802.1Q), padded to the minimum of 60 octets."""
    tag = struct.pack("!HH", ETHERTYPE_VLAN, vlan) if vlan is not None else b""
    frame = target + sender + tag + struct.pack("!H", ethertype) + payload
    return frame + bytes(max(0, 60 - len(frame)))


def arp(operation: int, sender: str, target: str) -> bytes:
    """Return an ARP packet: operation 1 asks who has `target`, 2 answers it (RFC 826)."""
    here, there = IPv4Address(sender), IPv4Address(target)
    there_mac = hardware_address(there) if operation == 2 else bytes(6)
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    return head + hardware_address(here) + here.packed + there_mac + there.packed
