"""The pcapng file: sections of blocks, each interface with its own link type and clock (draft-ietf-opsawg-pcapng)."""

import struct
from collections.abc import Iterator

import numpy as np

from pratique_ingest.capture.chunks import MAX_BLOCK, Chunk, Face, pcapng_chunk
from pratique_ingest.capture.frames import MAX_EMPTY, Frame
from pratique_ingest.capture.stream import Stream

SECTION_MAGIC = b"\x0a\x0d\x0d\x0a"
BYTE_ORDERS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
INTERFACE, PACKET_OLD, SIMPLE_PACKET, ENHANCED_PACKET = 1, 2, 3, 6
OPTION_TSRESOL, OPTION_TSOFFSET = 9, 14
MAX_INTERFACES = 65_536


def _options(body: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 0:
            return
        yield code, body[at + 4 : at + 4 + length]
        at += 4 + (length + 3 & ~3)


def interface(body: bytes, order: str) -> Face:
    """Read the body of an Interface Description Block; ticks are microseconds unless if_tsresol says otherwise."""
    link_type, _, snaplen = struct.unpack_from(order + "HHI", body)
    ticks, offset = 1_000_000, 0
    for code, value in _options(body[8:], order):
        if code == OPTION_TSRESOL and value:
            exponent = value[0] & 0x7F
            ticks = 1 << exponent if value[0] & 0x80 else 10 ** min(exponent, 30)
        elif code == OPTION_TSOFFSET and len(value) == 8:
            (offset,) = struct.unpack(order + "q", value)
    return Face(link_type, snaplen, ticks, offset)


class PcapngFile:
    """Frames of a pcapng file whose first block type is already read."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._order = "<"
        self._empty = 0
        self._interfaces: list[Face] = []
        self.ended_by: str | None = None
        self.link_types: dict[int, None] = {}
        self.valid = self._open_section()

    def _open_section(self) -> bool:
        """Read a Section Header Block behind its type: the byte order of all that follows, until the next one."""
        fixed = self._stream.take(8)
        order = BYTE_ORDERS.get(fixed[4:8])
        if order is None:
            return False
        (length,) = struct.unpack(order + "I", fixed[:4])
        if length < 28 or length > MAX_BLOCK:
            return False
        body = self._stream.take(length - 12)  # version, section length, options and the trailing length
        if len(body) < length - 12 or struct.unpack_from(order + "H", body)[0] != 1:
            return False
        self._order, self._interfaces = order, []
        return True

    def _frame(self, kind: int, body: bytes) -> Frame | None:
        """Return the frame of a packet block; None where its interface or lengths are untrue."""
        order, high, low = self._order, 0, 0
        if kind == ENHANCED_PACKET:
            index, high, low, captured, length = struct.unpack_from(order + "IIIII", body)
            start = 20
        elif kind == PACKET_OLD:
            index, _, high, low, captured, length = struct.unpack_from(order + "HHIIII", body)
            start = 20
        else:
            (length,) = struct.unpack_from(order + "I", body)
            index, start, captured = 0, 4, min(length, len(body) - 4)
        if index >= len(self._interfaces):
            return None
        face = self._interfaces[index]
        if kind == SIMPLE_PACKET:
            captured = min(captured, face.snaplen or captured)
        if captured > len(body) - start:
            return None
        time = None
        if kind != SIMPLE_PACKET:
            time = (high << 32 | low) * 1_000_000_000 // face.ticks + face.offset * 1_000_000_000
        return Frame(face.link_type, time, length, body[start : start + captured])

    def _describe(self, body: bytes) -> None:
        if len(self._interfaces) < MAX_INTERFACES:
            face = interface(body, self._order)
            self._interfaces.append(face)
            self.link_types[face.link_type] = None

    def _body(self, length: int) -> bytes | None:
        """Return the body of a block and pass its trailing length; None when cut or when the lengths disagree."""
        body = self._stream.take(length - 12 + 4)
        if len(body) < length - 8:
            self.ended_by = "cut-file"
            return None
        if struct.unpack_from(self._order + "I", body, length - 12)[0] != length:
            self.ended_by = "damaged-length"
            return None
        return body[:-4]

    def _pass(self, length: int) -> bool:
        """Pass over a block behind its head; False when it is cut or its two lengths disagree."""
        whole = self._stream.skip(length - 12)
        trailing = self._stream.take(4) if whole else b""
        if len(trailing) < 4:
            self.ended_by = "cut-file"
        elif struct.unpack(self._order + "I", trailing)[0] != length:
            self.ended_by = "damaged-length"
        return self.ended_by is None

    def _next_block(self) -> tuple[int, bytes] | None:
        """Return the next block that matters; None at the end of the file or of what can be read of it."""
        while raw := self._stream.take(4):
            if raw == SECTION_MAGIC:
                if not self._open_section():
                    self.ended_by = self.ended_by or "damaged-section"
                    return None
                continue
            head = raw + self._stream.take(4)
            if len(head) < 8:
                self.ended_by = "cut-file"
                return None
            kind, length = struct.unpack(self._order + "II", head)
            if length < 12 or length % 4:
                self.ended_by = "damaged-length"
                return None
            if kind not in (INTERFACE, PACKET_OLD, SIMPLE_PACKET, ENHANCED_PACKET):
                if not self._pass(length):
                    return None
                continue
            if length > MAX_BLOCK:
                self.ended_by = "damaged-length"
                return None
            body = self._body(length)
            return None if body is None else (kind, body)
        return None

    def chunk(self, window: int, most: int) -> Chunk | None:
        """Take whole frames, at most so many, from about `window` bytes; None where only the exact reader can go on."""
        data, at = self._stream.look(window)
        buffer = np.frombuffer(data, np.uint8)[: at + window]
        taken = pcapng_chunk(buffer, at, most, self._order, self._interfaces)
        if taken is None:
            return None
        self._stream.advance(taken[1])
        self._empty = 0
        return taken[0]

    def __iter__(self) -> Iterator[Frame]:
        """Yield frames until the file ends, is cut, or a block cannot be true."""
        while (block := self._next_block()) is not None:
            kind, body = block
            try:
                if kind == INTERFACE:
                    self._describe(body)
                    continue
                frame = self._frame(kind, body)
            except struct.error:
                frame = None
            if frame is None:
                self.ended_by = "damaged-block"
                return
            self._empty = 0 if frame.data else self._empty + 1
            if self._empty > MAX_EMPTY:
                self.ended_by = "damaged-length"
                return
            yield frame
