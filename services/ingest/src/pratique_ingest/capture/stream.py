"""The byte stream of a capture file, expanded when it is gzip or zstd, never beyond a limit."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 18
# Frames made with a window beyond this need `zstd --long=31`; the window is memory that the file's author would choose.
ZSTD_WINDOW = 1 << 27
ZSTD_STEP = 512


class _CutMember(ValueError):
    """The compressed bytes end inside a member."""


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Expand the members of a gzip file one after the other (RFC 1952, section 2.2), at most `CHUNK` bytes a step."""
    member, begun = zlib.decompressobj(wbits=31), False
    for chunk in chunks:
        rest = chunk
        while rest and (begun or rest.strip(b"\0")):  # zeros behind a member are a tape's padding
            begun = True
            yield member.decompress(rest, CHUNK)
            rest = member.unconsumed_tail
            if member.eof:
                rest, begun = member.unused_data, False
                member = zlib.decompressobj(wbits=31)
    if begun:
        if tail := member.flush():
            yield tail
        raise _CutMember


def _unzstd(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Expand the frames of a zstd file (RFC 8878), a little input a step: four bytes of it can make 128 KiB."""
    expander = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame, begun = expander.decompressobj(), False
    for chunk in chunks:
        for at in range(0, len(chunk), ZSTD_STEP):
            rest = chunk[at : at + ZSTD_STEP]
            while rest:
                begun = True
                yield frame.decompress(rest)
                rest = b""
                if frame.eof:
                    rest, begun = frame.unused_data, False
                    frame = expander.decompressobj()
    if begun:
        raise _CutMember


class Stream:
    """Sequential reading with a memory of one chunk.

    `position` counts expanded bytes that were taken, `consumed` bytes of the file that were read; `trouble` names why
    the bytes ended before the file did.
    """

    def __init__(self, source: BinaryIO, limit: int) -> None:
        head = source.read(CHUNK)
        while len(head) < len(ZSTD_MAGIC) and (more := source.read(CHUNK)):  # a pipe gives what it has
            head += more
        self.compressed = head[:2] == GZIP_MAGIC or head[:4] == ZSTD_MAGIC
        self.trouble: str | None = None
        self.position, self.consumed = 0, 0
        chunks = self._raw(source, head)
        if head[:2] == GZIP_MAGIC:
            chunks = _gunzip(chunks)
        elif head[:4] == ZSTD_MAGIC:
            chunks = _unzstd(chunks)
        self._chunks, self._limit, self._expanded = chunks, limit, 0
        self._chunk, self._at = b"", 0

    def _raw(self, source: BinaryIO, head: bytes) -> Iterator[bytes]:
        chunk = head
        while chunk:
            self.consumed += len(chunk)
            yield chunk
            chunk = source.read(CHUNK)

    def _refill(self) -> bool:
        """Fetch the next chunk; False at the end, at the limit and where the compression is damaged."""
        if self.trouble:
            return False
        try:
            chunk = next(self._chunks)
            while not chunk:
                chunk = next(self._chunks)
        except StopIteration:
            return False
        except (zlib.error, zstandard.ZstdError, _CutMember):
            self.trouble = "damaged-compression"
            return False
        self._expanded += len(chunk)
        if self.compressed and self._expanded > self._limit:
            self.trouble = "expanded-limit"
            return False
        self._chunk, self._at = chunk, 0
        return True

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end; what is not there is never reserved."""
        start, end = self._at, self._at + size
        if end <= len(self._chunk):
            self._at = end
            self.position += size
            return self._chunk[start:end]
        parts, missing = [self._chunk[start:]], end - len(self._chunk)
        self._at = len(self._chunk)
        while missing and self._refill():
            part = self._chunk[:missing]
            self._at = len(part)
            parts.append(part)
            missing -= len(part)
        taken = b"".join(parts)
        self.position += len(taken)
        return taken

    def skip(self, size: int) -> bool:
        """Pass over `size` bytes without keeping them; False when they are not all there."""
        while size > 0:
            passed = len(self.take(min(size, CHUNK)))
            if not passed:
                return False
            size -= passed
        return True
