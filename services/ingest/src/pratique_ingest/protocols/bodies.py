"""Bodies of HTTP messages: text as it comes, compressed text within a bound, and the binary parts of multipart ones.

What a body is shows in its first bytes: header fields may stand before the capture, or in an unknown table.
"""

import re
import zlib
from contextlib import suppress
from typing import Final

from pratique_ingest.protocols.findings import Findings
from pratique_ingest.protocols.nas5g import nas5g
from pratique_ingest.protocols.ngap import ngap
from pratique_ingest.protocols.written import Trail

GZIP, DELIMITER, DECIDING = b"\x1f\x8b\x08", b"--", 3
# The bodies of a direction may expand to this much, and by so much a byte that came: JSON compresses to a tenth.
FREE, RATIO, MAX_EXPANDED = 4096, 32, 1 << 20
# What zlib keeps of a stream beside our own: its window, and its tables.
INFLATER = 48 << 10
MAX_KEPT, MAX_PARTS = 65_536, 16
PART_TYPE = re.compile(rb"(?:\A|\n)content-type:[ \t]{0,16}application/vnd\.3gpp\.(5gnas|ngap)\b", re.IGNORECASE)
NOT_READ: Final = "body-not-read"
PART_PROTOCOLS: Final = frozenset({"nas-5gs"})


class Growth:
    """How many bytes the compressed bodies of one direction may still expand to."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = FREE


class Body:
    """One body: the identifiers of its text, and those of its parts once it has ended (TS 29.500, 6.2.5)."""

    __slots__ = ("_begun", "_expanded", "_growth", "_inflater", "_parts", "_trail")

    def __init__(self, growth: Growth) -> None:
        self._begun: bytes | None = b""
        self._inflater: zlib._Decompress | None = None
        self._growth, self._expanded = growth, 0
        self._trail = Trail()
        self._parts: bytearray | None = None

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return len(self._trail.tail) + len(self._parts or b"") + (INFLATER if self._inflater else 0)

    def take(self, data: bytes, found: Findings) -> None:
        """Read the next piece."""
        if self._begun is not None:
            data = self._begun + data
            if len(data) < DECIDING:
                self._begun = data
                return
            self._decide(data)
        self._read(data, found)

    def _decide(self, data: bytes) -> None:
        self._begun = None
        if data.startswith(GZIP):
            self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        elif data.lstrip(b"\r\n").startswith(DELIMITER):
            self._parts = bytearray()

    def _read(self, data: bytes, found: Findings) -> None:
        if self._inflater is not None:
            data = self._expand(self._inflater, data, found)
        if self._parts is not None:
            if len(self._parts) + len(data) <= MAX_KEPT:
                self._parts += data
            else:
                self._parts = None
        self._trail.take(data, found)

    def _expand(self, inflater: "zlib._Decompress", data: bytes, found: Findings) -> bytes:
        """Return what compressed bytes expand to; one that is damaged, or grows too much, is read no further."""
        if not data or self._expanded >= MAX_EXPANDED:
            return b""
        growth, text = self._growth, b""
        growth.left += RATIO * len(data)
        with suppress(zlib.error):
            text = inflater.decompress(data, min(growth.left, MAX_EXPANDED - self._expanded))
            growth.left -= len(text)
            self._expanded += len(text)
            if not inflater.unconsumed_tail:
                return text
        self._expanded = MAX_EXPANDED
        found.troubles.append(NOT_READ)
        return text

    def skip(self) -> None:
        """Know that bytes are missing: what waits for them, or is built on them, is given up."""
        self._trail.cut()
        self._parts = None
        if self._inflater is not None or self._begun:
            self._expanded = MAX_EXPANDED
        self._begun = None

    def end(self, found: Findings) -> None:
        """Read what waited for the end."""
        if self._begun:
            self._read(self._begun, found)
        self._trail.end(found)
        if self._parts:
            _multipart(bytes(self._parts), found)
            self._parts = None


def _multipart(data: bytes, found: Findings) -> None:
    """Read the NAS and NGAP parts of a multipart body (RFC 2046, 5.1.1) for identities: no side of N2 is here."""
    data = data.lstrip(b"\r\n")
    boundary = data.split(b"\r\n", 1)[0].rstrip(b" \t")
    if not 2 < len(boundary) <= 72:
        return
    for part in data.split(boundary)[1 : MAX_PARTS + 1]:
        head, separator, content = part.partition(b"\r\n\r\n")
        kind = PART_TYPE.search(head)
        if not separator or kind is None:
            continue
        inside = Findings()
        (nas5g if kind[1].lower() == b"5gnas" else ngap)(content.removesuffix(b"\r\n"), inside)
        found.identities |= inside.identities
        found.protocols |= inside.protocols & PART_PROTOCOLS
        found.troubles += inside.troubles
