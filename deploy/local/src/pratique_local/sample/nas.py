"""NAS of 5GS: what a phone and its AMF say to each other (3GPP TS 24.501)."""

import struct
from ipaddress import IPv4Address

from pratique_local.sample.subscribers import (
    AMF_POINTER,
    AMF_REGION,
    AMF_SET,
    PLMN,
    ROUTING_INDICATOR,
    Concealment,
    Slice,
    Subscriber,
)

_MOBILITY, _SESSION = 0x7E, 0x2E
_INTEGRITY, _CIPHERED, _NEW_CONTEXT, _NEW_CONTEXT_CIPHERED = 1, 2, 3, 4
CIPHERED, HEADER = frozenset({_CIPHERED, _NEW_CONTEXT_CIPHERED}), 7
"""Security header types of ciphered messages, and the octets before what is ciphered (§9.3, §9.1.1)."""
_INITIAL, _MOBILITY_UPDATING = 0x79, 0x0A  # follow-on request and registration type, below the key set identifier
_UE_CAPABILITY = bytes.fromhex("2e02f0f0")


def bcd(digits: str, filler: str = "f") -> bytes:
    """Return digits two to an octet, the first in the low half (TS 24.008 §10.5.4.7)."""
    digits += filler * (len(digits) % 2)
    return bytes(int(digits[i + 1] + digits[i], 16) for i in range(0, len(digits), 2))


def suci_identity(subscriber: Subscriber) -> bytes:
    """Return the SUCI as a 5GS mobile identity (§9.11.3.4): null scheme, or profile A under key 1."""
    head = b"\x01" + PLMN + bcd(ROUTING_INDICATOR)
    if subscriber.concealment is Concealment.ECIES:
        return head + b"\x01\x01" + subscriber.concealed
    return head + b"\x00\x00" + bcd(subscriber.msin)


def guti_identity(tmsi: int) -> bytes:
    """Return a 5G-GUTI as a 5GS mobile identity (§9.11.3.4)."""
    return b"\xf2" + PLMN + struct.pack("!BHI", AMF_REGION, AMF_SET << 6 | AMF_POINTER, tmsi)


def imeisv_identity(imeisv: str) -> bytes:
    """Return an IMEISV as a 5GS mobile identity (§9.11.3.4): sixteen digits, so the last half octet is filler."""
    return bytes([int(imeisv[0]) << 4 | 5]) + bcd(imeisv[1:])


def _lv(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def _lve(value: bytes) -> bytes:
    return struct.pack("!H", len(value)) + value


def _plain(kind: int, body: bytes = b"") -> bytes:
    return bytes([_MOBILITY, 0, kind]) + body


def protect(header: int, code: bytes, count: int, message: bytes) -> bytes:
    """Put the security header before a plain message; under NEA0 the message stays as it is (§9.1.1)."""
    return bytes([_MOBILITY, header]) + code + bytes([count & 0xFF]) + message


def registration_request(subscriber: Subscriber) -> bytes:
    """Return the first message of a phone that has no security context."""
    return _plain(0x41, bytes([_INITIAL]) + _lve(suci_identity(subscriber)) + _UE_CAPABILITY)


def returning_request(subscriber: Subscriber, code: bytes) -> bytes:
    """Return the first message of a phone that still has a 5G-GUTI: integrity-protected, not ciphered."""
    plain = _plain(0x41, bytes([_MOBILITY_UPDATING]) + _lve(guti_identity(subscriber.old_tmsi)) + _UE_CAPABILITY)
    return protect(_INTEGRITY, code, 5, plain)


def identity_request() -> bytes:
    """Ask for the SUCI."""
    return _plain(0x5B, b"\x01")


def identity_response(subscriber: Subscriber) -> bytes:
    """Answer with the SUCI."""
    return _plain(0x5C, _lve(suci_identity(subscriber)))


def authentication_request(rand: bytes, autn: bytes) -> bytes:
    """Challenge the phone (§8.2.1)."""
    return _plain(0x56, b"\x00\x02\x00\x00\x21" + rand + b"\x20" + _lv(autn))


def authentication_response(res: bytes) -> bytes:
    """Answer the challenge (§8.2.2)."""
    return _plain(0x57, b"\x2d" + _lv(res))


def security_mode_command(code: bytes, *, ciphered: bool) -> bytes:
    """Select NEA0 or 128-NEA2, and 128-NIA2; replay the capabilities, ask for the IMEISV (§8.2.25)."""
    chosen = b"\x22" if ciphered else b"\x02"
    return protect(_NEW_CONTEXT, code, 0, _plain(0x5D, chosen + b"\x00\x02\xf0\xf0\xe1"))


def security_mode_complete(subscriber: Subscriber, code: bytes) -> bytes:
    """Give the IMEISV and repeat the registration request (§8.2.26)."""
    imeisv = b"\x77" + _lve(imeisv_identity(subscriber.imeisv))
    return protect(
        _NEW_CONTEXT_CIPHERED, code, 0, _plain(0x5E, imeisv + b"\x71" + _lve(registration_request(subscriber)))
    )


def registration_accept(subscriber: Subscriber, area: int, code: bytes) -> bytes:
    """Hand out a new 5G-GUTI, the registration area and the allowed slice, under null ciphering (§8.2.7)."""
    body = b"\x01\x01\x77" + _lve(guti_identity(subscriber.tmsi))
    body += b"\x54" + _lv(b"\x00" + PLMN + area.to_bytes(3)) + b"\x15" + _lv(_lv(subscriber.slice.octets()))
    return protect(_CIPHERED, code, 1, _plain(0x42, body + b"\x5e\x01\x06"))


def configuration_update(tmsi: int, code: bytes) -> bytes:
    """Give the phone a new 5G-GUTI and ask for an acknowledgement (§8.2.19)."""
    return protect(_CIPHERED, code, 4, _plain(0x54, b"\xd1\x77" + _lve(guti_identity(tmsi))))


def configuration_updated(code: bytes) -> bytes:
    """Acknowledge it (§8.2.20)."""
    return protect(_CIPHERED, code, 4, _plain(0x55))


def registration_complete(code: bytes) -> bytes:
    """Confirm the new 5G-GUTI."""
    return protect(_CIPHERED, code, 1, _plain(0x43))


def _name(dnn: str) -> bytes:
    return _lv(_lv(dnn.encode("ascii")))


def session_request(chosen: Slice, code: bytes) -> bytes:
    """Ask for PDU session 1 on a slice (§8.2.10 around §8.3.1)."""
    inner = bytes([_SESSION, 1, 1, 0xC1, 0xFF, 0xFF, 0x91])
    outer = b"\x01" + _lve(inner) + b"\x12\x01\x81\x22" + _lv(chosen.octets()) + b"\x25" + _name(chosen.dnn)
    return protect(_CIPHERED, code, 2, _plain(0x67, outer))


def session_accept(subscriber: Subscriber, code: bytes) -> bytes:
    """Grant PDU session 1: one match-all rule, a rate limit, the address (§8.2.11 around §8.3.2)."""
    rule = bytes.fromhex("010006313101 01ff01")
    rate = bytes.fromhex("0600640600c8")
    inner = bytes([_SESSION, 1, 1, 0xC2, 0x11]) + _lve(rule) + _lv(rate)
    inner += b"\x29" + _lv(b"\x01" + IPv4Address(subscriber.address).packed)
    inner += b"\x22" + _lv(subscriber.slice.octets()) + b"\x25" + _name(subscriber.slice.dnn)
    return protect(_CIPHERED, code, 2, _plain(0x68, b"\x01" + _lve(inner) + b"\x12\x01"))


def deregistration_request(tmsi: int, code: bytes) -> bytes:
    """Say good-bye, not switched off (§8.2.12)."""
    return protect(_CIPHERED, code, 3, _plain(0x45, b"\x01" + _lve(guti_identity(tmsi))))


def deregistration_accept(code: bytes) -> bytes:
    """Confirm the good-bye."""
    return protect(_CIPHERED, code, 3, _plain(0x46))
