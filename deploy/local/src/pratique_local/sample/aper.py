"""Packed encoding rules: the few constructs that the control-plane messages of the sample need (ITU-T X.691)."""

import struct
from collections.abc import Iterable
from enum import IntEnum


class Criticality(IntEnum):
    """What a receiver does with an element that it does not know (3GPP TS 38.413 §10.3)."""

    REJECT = 0
    IGNORE = 0x40
    NOTIFY = 0x80


class Outcome(IntEnum):
    """First octet of a PDU: an extensible choice of three in NGAP and E2AP, a closed one of four in F1AP."""

    INITIATING = 0
    SUCCESSFUL = 0x20
    SUCCESSFUL_OF_FOUR = 0x40


class Bits:
    """A string of bits that grows at its end; methods return it, so that calls chain."""

    def __init__(self) -> None:
        self._value = 0
        self._width = 0

    def put(self, value: int, width: int) -> "Bits":
        """Append `value` in `width` bits."""
        self._value = self._value << width | value
        self._width += width
        return self

    def align(self) -> "Bits":
        """Fill up to a whole octet."""
        return self.put(0, -self._width % 8)

    def octets(self, data: bytes) -> "Bits":
        """Append octets, aligned."""
        return self.align().put(int.from_bytes(data), 8 * len(data))

    def loose(self, data: bytes) -> "Bits":
        """Append octets where the last bit ended, as strings of up to two octets and the unaligned variant do."""
        return self.put(int.from_bytes(data), 8 * len(data))

    def integer(self, value: int, octets: int) -> "Bits":
        """Append an integer of a range above 64K whose largest value fills `octets`: length, then value (§11.5.7.4)."""
        size = max(1, (value.bit_length() + 7) // 8)
        return self.put(size - 1, (octets - 1).bit_length()).octets(value.to_bytes(size))

    def string(self, data: bytes) -> "Bits":
        """Append an octet string without a bound: length determinant, then content."""
        return self.octets(length(len(data)) + data)

    def name(self, text: str, widest: int = 150) -> "Bits":
        """Append an extensible PrintableString of 1..`widest` characters."""
        self.put(0, 1)
        if widest > 256:
            self.octets(struct.pack("!H", len(text) - 1))
        else:
            self.put(len(text) - 1, (widest - 1).bit_length())
        return self.octets(text.encode("ascii"))

    def done(self) -> bytes:
        """Return the octets, the last one filled with zeros; an empty encoding is one octet."""
        self.align()
        return self._value.to_bytes(self._width // 8) or b"\0"


def length(count: int) -> bytes:
    """Return a length determinant below 16K (§11.9.3)."""
    return bytes([count]) if count < 128 else struct.pack("!H", 0x8000 | count)


Element = tuple[int, Criticality, bytes]
"""A protocol IE: its id, its criticality and its encoded value."""


def element(ident: int, criticality: Criticality, value: bytes) -> bytes:
    """Return one protocol IE: id, criticality and the value as an open type."""
    return struct.pack("!HB", ident, criticality) + length(len(value)) + value


def container(elements: Iterable[Element]) -> bytes:
    """Return an extensible sequence that holds a list of protocol IEs and nothing else."""
    encoded = [element(*each) for each in elements]
    return struct.pack("!BH", 0, len(encoded)) + b"".join(encoded)


def pdu(outcome: Outcome, procedure: int, criticality: Criticality, elements: Iterable[Element]) -> bytes:
    """Return a PDU of NGAP, F1AP or E2AP, which share this frame."""
    body = container(elements)
    return struct.pack("!BBB", outcome, procedure, criticality) + length(len(body)) + body
