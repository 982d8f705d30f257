"""The outer shape of the RAN's application protocols in aligned PER (X.691): a message and its information elements.

NGAP, S1AP, F1AP, E1AP, XnAP, X2AP and E2AP share it: choice, procedure code, criticality, and a list of elements.
Values are handed out as bytes; nothing nested is parsed unless a decoder asks for it.
"""

from typing import NamedTuple

INITIATING, SUCCESSFUL, UNSUCCESSFUL = 0, 1, 2
# The longest messages of the real captures have 30 elements; 3GPP's own bound is 65,535.
MAX_ELEMENTS = 512
MAX_VALUE = 262_144


class NotAper(ValueError):
    """The bytes have not the shape of a message."""


class Message(NamedTuple):
    """One message: which of the three outcomes, its procedure, and its elements in order."""

    outcome: int
    procedure: int
    elements: list[tuple[int, bytes]]

    @property
    def initiating(self) -> bool:
        """Whether the message opens a procedure; the two outcomes answer one."""
        return self.outcome == INITIATING

    def first(self, identity: int) -> bytes | None:
        """Return the value of the first element with this id."""
        for each, value in self.elements:
            if each == identity:
                return value
        return None


def sized(data: bytes, at: int) -> tuple[bytes, int]:
    """Return a value behind its length determinant, and the offset after it (X.691, 11.9); fragments are joined."""
    parts: list[bytes] = []
    total = 0
    while True:
        if at >= len(data):
            raise NotAper
        head = data[at]
        if head < 0x80:
            size, at = head, at + 1
        elif head < 0xC0:
            if at + 2 > len(data):
                raise NotAper
            size, at = (head & 0x3F) << 8 | data[at + 1], at + 2
        else:
            size, at = (head & 0x3F) * 16_384, at + 1
            if not 16_384 <= size <= 65_536:
                raise NotAper
        end = at + size
        total += size
        if end > len(data) or total > MAX_VALUE:
            raise NotAper
        if head < 0xC0 and not parts:
            return data[at:end], end
        parts.append(data[at:end])
        at = end
        if head < 0xC0:
            return b"".join(parts), end


def content(value: bytes) -> bytes:
    """Return the bytes of an element that is an OCTET STRING; nothing when its length is untrue."""
    try:
        return sized(value, 0)[0]
    except NotAper:
        return b""


def elements(data: bytes, at: int) -> list[tuple[int, bytes]]:
    """Return the (id, value) pairs of a protocol IE list whose two-byte count stands at `at`."""
    size = len(data)
    if at + 2 > size:
        raise NotAper
    count = data[at] << 8 | data[at + 1]
    at += 2
    found: list[tuple[int, bytes]] = []
    for _ in range(min(count, MAX_ELEMENTS)):
        if at + 3 >= size:
            raise NotAper
        identity, start = data[at] << 8 | data[at + 1], at + 4
        at = start + data[at + 3]
        if at < start + 0x80 and at <= size:  # nearly all are shorter than 128 bytes
            found.append((identity, data[start:at]))
        else:
            value, at = sized(data, start - 1)
            found.append((identity, value))
    return found


def message(data: bytes) -> Message:
    """Read one message; raises NotAper when lengths, choice or criticality are impossible."""
    if len(data) < 6 or data[0] & 0x9F or data[0] >> 5 > UNSUCCESSFUL or data[2] & 0x3F or data[2] >> 6 > 2:
        raise NotAper
    if data[3] < 0x80 and 4 + data[3] == len(data):  # short and alone: no copy is needed
        return Message(data[0] >> 5, data[1], elements(data, 5))
    value, _ = sized(data, 3)
    return Message(data[0] >> 5, data[1], elements(value, 1))
