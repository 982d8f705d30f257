"""The classic pcap file: one link type, records with a 16-byte header (draft-ietf-opsawg-pcap)."""

import struct
from collections.abc import Iterator

import numpy as np

from pratique_ingest.capture.chunks import Chunk, pcap_chunk
from pratique_ingest.capture.frames import MAX_EMPTY, MAX_FRAME, Frame
from pratique_ingest.capture.stream import Stream

# Magic as the first four bytes stand in the file -> (byte order, nanoseconds a tick, extra bytes in a record header).
MAGICS: dict[bytes, tuple[str, int, int]] = {
    b"\xa1\xb2\xc3\xd4": (">", 1000, 0),
    b"\xd4\xc3\xb2\xa1": ("<", 1000, 0),
    b"\xa1\xb2\x3c\x4d": (">", 1, 0),
    b"\x4d\x3c\xb2\xa1": ("<", 1, 0),
    # Alexey Kuznetsov's "modified" format: interface index, protocol and packet type follow the lengths.
    b"\xa1\xb2\xcd\x34": (">", 1000, 8),
    b"\x34\xcd\xb2\xa1": ("<", 1000, 8),
}
# The upper bits of the link type field hold the length of a frame check sequence.
LINK_TYPE_MASK = 0x0000FFFF


class PcapFile:
    """Frames of a classic pcap file whose four magic bytes are already read."""

    def __init__(self, stream: Stream, magic: bytes) -> None:
        self._stream = stream
        self._order, self._tick, self._extra = MAGICS[magic]
        self.ended_by: str | None = None
        self.link_types: dict[int, None] = {}
        self._link_type = self._empty = 0
        header = stream.take(20)
        self.valid = len(header) == 20
        if self.valid:
            self._link_type = struct.unpack(self._order + "HHiIII", header)[5] & LINK_TYPE_MASK
            self.link_types[self._link_type] = None

    def chunk(self, window: int, most: int) -> Chunk | None:
        """Take whole frames, at most so many, from about `window` bytes; None where only the exact reader can go on."""
        data, at = self._stream.look(window)
        buffer = np.frombuffer(data, np.uint8)[: at + window]
        taken = pcap_chunk(buffer, at, most, self._order, self._tick, self._extra, self._link_type)
        if taken is None:
            return None
        self._stream.advance(taken[1])
        self._empty = 0
        return taken[0]

    def __iter__(self) -> Iterator[Frame]:
        """Yield frames until the file ends, is cut, or a length cannot be true."""
        unpack, size = struct.Struct(self._order + "IIII").unpack_from, 16 + self._extra
        take, tick, link_type = self._stream.take, self._tick, self._link_type
        while header := take(size):
            if len(header) < size:
                self.ended_by = "cut-file"
                return
            seconds, fraction, captured, length = unpack(header)
            self._empty = 0 if captured else self._empty + 1
            if captured > MAX_FRAME or self._empty > MAX_EMPTY:
                self.ended_by = "damaged-length"
                return
            data = take(captured)
            if len(data) < captured:
                self.ended_by = "cut-file"
                return
            yield Frame(link_type, seconds * 1_000_000_000 + fraction * tick, length, data)
