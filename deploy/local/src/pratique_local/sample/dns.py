"""DNS and its multicast cousin: queries and answers (RFC 1035, RFC 6762)."""

import struct
from ipaddress import ip_address

PORT, MULTICAST_PORT = 53, 5353
_IN = 1
_A, _PTR, _AAAA = 1, 12, 28


def encode_name(name: str) -> bytes:
    """Return a domain name as labels."""
    return b"".join(bytes([len(label)]) + label.encode("ascii") for label in name.split(".")) + b"\0"


def query(ident: int, name: str, *, ipv6: bool = False) -> bytes:
    """Ask for the address of `name`."""
    head = struct.pack("!HHHHHH", ident, 0x0100, 1, 0, 0, 0)
    return head + encode_name(name) + struct.pack("!HH", _AAAA if ipv6 else _A, _IN)


def answer(ident: int, name: str, address: str) -> bytes:
    """Give the address of `name`; the answer points back at the name in the question."""
    packed = ip_address(address).packed
    kind = _AAAA if len(packed) == 16 else _A
    head = struct.pack("!HHHHHH", ident, 0x8180, 1, 1, 0, 0)
    question = encode_name(name) + struct.pack("!HH", kind, _IN)
    return head + question + struct.pack("!HHHIH", 0xC00C, kind, _IN, 300, len(packed)) + packed


def browse(service: str) -> bytes:
    """Ask the link who offers a service (RFC 6763 §4)."""
    return struct.pack("!HHHHHH", 0, 0, 1, 0, 0, 0) + encode_name(service) + struct.pack("!HH", _PTR, _IN)


def offer(service: str, instance: str) -> bytes:
    """Say on the link that one offers a service."""
    target = encode_name(f"{instance}.{service}")
    head = struct.pack("!HHHHHH", 0, 0x8400, 0, 1, 0, 0)
    return head + encode_name(service) + struct.pack("!HHIH", _PTR, _IN, 4500, len(target)) + target
