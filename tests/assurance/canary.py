"""Canaries: known values in every spelling in which they could lie in a file, in a log or on a wire."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

LEAST = 8  # bytes: what is shorter is found anywhere
Mark = tuple[int, str]
AROUND = 40  # bytes by chance on either side of a planted canary, at most


def spellings(value: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the ways of writing a value: as it is, UTF-16, hex, base64 at each alignment, digits in nibbles.

    Digits are packed straight and swapped (TBCD, 3GPP TS 29.002), from the first and from the second one on, since a
    number may begin in the middle of a byte.
    """
    yield "plain", value
    yield "hex", value.hex().encode()
    yield "HEX", value.hex().upper().encode()
    text = _text(value)
    if text:
        yield "UTF-16LE", text.encode("utf-16-le")
        yield "UTF-16BE", text.encode("utf-16-be")
    for shift in range(3):
        whole = base64.b64encode(bytes(shift) + value + bytes(-(shift + len(value)) % 3))
        # The characters at both ends hold bits of neighbours too.
        inner = whole[-(-8 * shift // 6) : 8 * (shift + len(value)) // 6]
        yield "base64", inner
        yield "base64url", inner.replace(b"+", b"-").replace(b"/", b"_")
    if is_number(text):
        for first in range(2):
            pairs = [text[place : place + 2] for place in range(first, len(text) - 1, 2)]
            yield "BCD", bytes.fromhex("".join(pairs))
            yield "TBCD", bytes.fromhex("".join(pair[::-1] for pair in pairs))


def planted(value: bytes, chance: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Yield texts that hold a value among others, each written as a whole: the control of `spellings`."""
    before, after = (chance.bytes(int(chance.integers(AROUND))) for _ in range(2))
    yield "plain", before + value + after
    yield "hex", (before + value + after).hex().encode()
    yield "HEX", (before + value + after).hex().upper().encode()
    yield "base64", base64.b64encode(before + value + after)
    yield "base64url", base64.urlsafe_b64encode(before + value + after)
    text = _text(value)
    if text:
        told = f"{before.hex()}{text}{after.hex()}"
        yield "UTF-16LE", told.encode("utf-16-le")
        yield "UTF-16BE", told.encode("utf-16-be")
    if is_number(text):
        digits = "".join(str(digit) for digit in chance.integers(10, size=int(chance.integers(AROUND)))) + text
        digits += "0" * (len(digits) % 2)
        yield "BCD", bytes.fromhex(digits)
        yield "TBCD", bytes.fromhex("".join(digits[place + 1] + digits[place] for place in range(0, len(digits), 2)))


def is_number(text: str) -> bool:
    """Whether a value has digits enough, zeros left out, to be told from chance when they are packed."""
    return text.isascii() and text.isdecimal() and len(text.replace("0", "")) >= LEAST


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return ""


@dataclass
class Flock:
    """Canaries: their kinds by number, and what they look like."""

    values: list[tuple[str, bytes]] = field(default_factory=list, repr=False)
    _looks: list[tuple[bytes, Mark]] = field(default_factory=list, repr=False)

    def add(self, kind: str, values: Iterable[bytes | str]) -> None:
        """Let values be looked for, under the name of their kind."""
        known = {value for _, value in self.values}
        for value in values:
            raw = value.encode() if isinstance(value, str) else value
            assert len(raw) >= LEAST, f"a canary of the kind {kind} is too short to be told from chance"
            if raw not in known:
                number = len(self.values)
                self.values.append((kind, raw))
                self._looks += [(look, (number, name)) for name, look in spellings(raw)]
                known.add(raw)

    def without(self, *kinds: str) -> "Flock":
        """Return the canaries of all other kinds."""
        rest = Flock()
        for kind, value in self.values:
            if kind not in kinds:
                rest.add(kind, [value])
        return rest

    def seen(self, content: bytes) -> set[Mark]:
        """Return which canaries stand in some bytes, and in which spelling."""
        return {mark for look, mark in self._looks if look in content}

    def named(self, marks: Iterable[Mark]) -> list[str]:
        """Return marks as kinds and spellings: never the value."""
        return sorted({f"{self.values[number][0]} ({name})" for number, name in marks})

    def control(self, content: bytes, chance: np.random.Generator) -> tuple[int, int]:
        """Plant every canary in every spelling in a copy; return how many were planted, and how many are found."""
        copy, marks = [], set()
        for number, (_, value) in enumerate(self.values):
            for name, text in planted(value, chance):
                copy.append(text)
                marks.add((number, name))
        step = len(content) // (len(copy) + 1) + 1
        whole = b"".join(content[place * step : (place + 1) * step] + text for place, text in enumerate(copy))
        return len(marks), len(marks & self.seen(whole + content[len(copy) * step :]))
