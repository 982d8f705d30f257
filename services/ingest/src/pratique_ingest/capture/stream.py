"""The byte stream of a capture file, expanded when it is gzip or zstd, never beyond a limit."""

from collections.abc import Iterator
from typing import BinaryIO

from pratique_ingest.capture.expansion import CHUNK, DamagedCompression, compressed, expand

# Beyond the first 64 MiB a file that expands a thousandfold is made to: captures reach 50, frames of zeros some 300.
FREE, RATIO = 64 << 20, 1000


class Stream:
    """Sequential reading with a memory of one chunk.

    `position` counts expanded bytes that were taken, `consumed` bytes of the file that were read; `trouble` names why
    the bytes ended before the file did.
    """

    def __init__(self, source: BinaryIO, limit: int) -> None:
        head = source.read(CHUNK)
        while len(head) < 4 and (more := source.read(CHUNK)):  # a pipe gives what it has
            head += more
        self.compressed = compressed(head)
        self.trouble: str | None = None
        self.position, self.consumed = 0, 0
        self._reason: str | None = None
        chunks = self._raw(source, head)
        if self.compressed:
            chunks = expand(chunks, head)
        self._chunks, self._limit, self._expanded = chunks, limit, 0
        self._chunk, self._at = b"", 0

    def _raw(self, source: BinaryIO, head: bytes) -> Iterator[bytes]:
        chunk = head
        while chunk:
            self.consumed += len(chunk)
            yield chunk
            chunk = source.read(CHUNK)

    def _next(self) -> bytes | None:
        """Fetch the next chunk; None at the end, at the limit and where the compression is damaged."""
        if self._reason:
            return None
        try:
            chunk = next(self._chunks)
            while not chunk:
                chunk = next(self._chunks)
        except StopIteration:
            return None
        except DamagedCompression:
            self._reason = "damaged-compression"
            return None
        self._expanded += len(chunk)
        if self.compressed and self._expanded > min(self._limit, FREE + RATIO * self.consumed):
            self._reason = "expanded-limit"
            return None
        return chunk

    def _refill(self) -> bool:
        chunk = self._next()
        if chunk is None:
            self.trouble = self._reason
            return False
        self._chunk, self._at = chunk, 0
        return True

    def look(self, size: int) -> tuple[bytes, int]:
        """Return the bytes at hand and where in them the present position is: half of `size` follow, fewer at the end.

        Nothing is taken, and an end that lies ahead is no trouble yet. Fetching more copies what is at hand, so it is
        left until half of it is used up: each byte is copied twice at most.
        """
        missing = size - (len(self._chunk) - self._at)
        if missing > size // 2:
            parts = [self._chunk[self._at :]]
            while missing > 0 and (chunk := self._next()) is not None:
                parts.append(chunk)
                missing -= len(chunk)
            if len(parts) > 1:
                self._chunk, self._at = b"".join(parts), 0
        return self._chunk, self._at

    def advance(self, size: int) -> None:
        """Take `size` bytes that were looked at."""
        self._at += size
        self.position += size

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
