"""Expansion of gzip and zstd, in steps so small that what was whole before a damage is never lost with it."""

import zlib
from collections.abc import Iterator

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Sixteen magics of frames that a reader passes over (RFC 8878, 3.1.2): 184D2A50 to 184D2A5F, low byte first.
SKIPPABLE = frozenset(bytes([0x50 | low]) + b"\x2a\x4d\x18" for low in range(16))
CHUNK = 1 << 18
# Frames made with a window beyond this need `zstd --long=31`; the window is memory that the file's author would choose.
ZSTD_WINDOW = 1 << 27
RLE_BLOCK = 1
DICTIONARY_SIZES, CONTENT_SIZES = (0, 1, 2, 4), (0, 2, 4, 8)


class DamagedCompression(ValueError):
    """The compressed bytes are damaged, or end inside a member."""


def compressed(head: bytes) -> bool:
    """Whether a file that begins so is gzip or zstd; a zstd file may begin with a frame that is passed over."""
    return head[:2] == GZIP_MAGIC or head[:4] == ZSTD_MAGIC or head[:4] in SKIPPABLE


def expand(chunks: Iterator[bytes], head: bytes) -> Iterator[bytes]:
    """Yield the expanded bytes of a file that begins with `head`; raises DamagedCompression after the last good one."""
    return _gunzip(chunks) if head[:2] == GZIP_MAGIC else _unzstd(_Input(chunks))


def _salvage(member: "zlib._Decompress", data: bytes) -> bytes:
    """Return what comes out before the byte that breaks: zlib keeps back the whole output of a call that fails."""
    parts, size = [], 0
    try:
        for at in range(len(data)):
            parts.append(member.decompress(data[at : at + 1]))
            size += len(parts[-1])
            if size > 2 * CHUNK:  # the call that failed could not give more
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Expand the members of a gzip file one after the other (RFC 1952, section 2.2), at most `CHUNK` bytes a step."""
    member, begun = zlib.decompressobj(wbits=31), False
    for chunk in chunks:
        rest = chunk
        while rest and (begun or rest.strip(b"\0")):  # zeros behind a member are a tape's padding
            begun, before = True, member.copy()
            try:
                yield member.decompress(rest, CHUNK)
            except zlib.error:
                yield _salvage(before, rest)
                raise DamagedCompression from None
            rest = member.unconsumed_tail
            if member.eof:
                rest, begun = member.unused_data, False
                member = zlib.decompressobj(wbits=31)
    if begun:
        if tail := member.flush():
            yield tail
        raise DamagedCompression


class _Input:
    """Compressed bytes, taken in the sizes that their format states."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._chunk, self._at = chunks, b"", 0

    def take(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end; no block of zstd is larger than 128 KiB."""
        while len(self._chunk) - self._at < size and (more := next(self._chunks, b"")):
            self._chunk, self._at = self._chunk[self._at :] + more, 0
        taken = self._chunk[self._at : self._at + size]
        self._at += len(taken)
        return taken

    def exactly(self, size: int) -> bytes:
        """Return `size` bytes; raises DamagedCompression when they are not there."""
        taken = self.take(size)
        if len(taken) < size:
            raise DamagedCompression
        return taken

    def skip(self, size: int) -> None:
        """Pass over `size` bytes."""
        while size:
            size -= len(self.exactly(min(size, CHUNK)))


def _unzstd(source: _Input) -> Iterator[bytes]:
    """Expand the frames of a zstd file (RFC 8878)."""
    while magic := source.take(4):
        if magic in SKIPPABLE:
            source.skip(int.from_bytes(source.exactly(4), "little"))
        elif magic == ZSTD_MAGIC:
            yield from _zstd_frame(source)
        else:
            raise DamagedCompression


def _zstd_frame(source: _Input) -> Iterator[bytes]:
    """Expand one frame block by block (RFC 8878, 3.1.1): each gives 128 KiB at most, whatever follows it."""
    expander = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
    descriptor = source.exactly(1)
    single, checked = descriptor[0] & 0x20, descriptor[0] & 4
    size = (0 if single else 1) + DICTIONARY_SIZES[descriptor[0] & 3]
    size += CONTENT_SIZES[descriptor[0] >> 6] or (1 if single else 0)
    try:
        yield expander.decompress(ZSTD_MAGIC + descriptor + source.exactly(size))
        last = 0
        while not last:
            head = source.exactly(3)
            word = int.from_bytes(head, "little")
            last, kind, size = word & 1, word >> 1 & 3, word >> 3
            yield expander.decompress(head + source.exactly(1 if kind == RLE_BLOCK else size))
        if checked:
            yield expander.decompress(source.exactly(4))
    except zstandard.ZstdError:
        raise DamagedCompression from None
