"""Download: a file that appears under its name only when it is whole and has the announced digest."""

import base64
import binascii
import hashlib
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import IO

from pratique.errors import DigestMismatch
from pratique.exchange import Ask, Head
from pratique.upload import Progress

# The media types under which a table leaves; the keys are the words of `?format=`.
MEDIA_TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
}
SHA256_MEMBER = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):")
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


@dataclass(frozen=True)
class Download:
    """A file that was received whole: its path, its size in bytes, its SHA-256 in hex."""

    path: Path
    size: int
    sha256: str


def announced_sha256(header: str | None) -> bytes:
    """Return the `sha-256` member of a Repr-Digest header (RFC 9530); raises DigestMismatch if there is none."""
    member = SHA256_MEMBER.search(header or "")
    try:
        digest = base64.b64decode(member.group(1), validate=True) if member else b""
    except binascii.Error:
        digest = b""
    if len(digest) != hashlib.sha256().digest_size:
        raise DigestMismatch(
            "digest-missing", "The answer announces no SHA-256, so its bytes cannot be held against it."
        )
    return digest


class Receiving:
    """An exchange that writes its answer to a file beside its place, which takes the name if the digest is right.

    A file already at the place is replaced at that moment and not before. Where the connection breaks off and the
    service has said `Accept-Ranges: bytes`, the next attempt asks for the rest only (RFC 9110, 14), held together by
    the ETag. `expect` is a SHA-256 in hex that is known from elsewhere; `known` the ETag of a copy at hand, for which
    the end may be None, and `copy` the SHA-256 of that copy. Raises DigestMismatch, or OSError for the disk.
    """

    raw = True  # the announced digest is that of the bytes as they travel (RFC 9530)

    def __init__(
        self,
        ask: Ask,
        place: Path | Callable[[str], Path],
        progress: Progress | None = None,
        *,
        expect: str | None = None,
        known: str | None = None,
        copy: str | None = None,
    ) -> None:
        self._asked, self._place, self._progress = ask, place, progress
        self._expect, self._known, self._copy = expect, known, copy
        self._part: Path | None = None
        self._file: IO[bytes] | None = None
        self._announced, self._digest = b"", hashlib.sha256()
        self._size, self._total = 0, 0
        self._resume: str | None = None  # the ETag under which the rest may be asked for
        self._unchanged = False
        self.etag: str | None = None

    def ask(self) -> Ask:
        """Return the request: for the whole, or for what is missing."""
        headers = {**self._asked.headers, "Accept-Encoding": "identity"}
        if self._known is not None:
            headers["If-None-Match"] = self._known
        if self._resuming:
            headers |= {"Range": f"bytes={self._size}-", "If-Range": str(self._resume)}
        return replace(self._asked, headers=headers)

    @property
    def _resuming(self) -> bool:
        return self._resume is not None and 0 < self._size < self._total

    def accepts(self, status: int) -> bool:
        """Whether the answer is the file, the rest of it, or the word that the copy at hand is still it."""
        if status == HTTPStatus.NOT_MODIFIED:
            return self._known is not None
        return status == HTTPStatus.OK or (status == HTTPStatus.PARTIAL_CONTENT and self._resuming)

    def begin(self, head: Head) -> None:
        """Take in what is announced, and open the file or go on with it."""
        self._unchanged = head.status == HTTPStatus.NOT_MODIFIED
        if self._unchanged:
            self._hold_copy(head)
            return
        announced = announced_sha256(head.headers.get("repr-digest"))
        if self._expect is not None and announced.hex() != self._expect:
            raise DigestMismatch("digest-mismatch", "The service announces another file than the one asked for.")
        if head.status == HTTPStatus.PARTIAL_CONTENT:
            self._go_on(head, announced)
            return
        self._announced, self._digest, self._size = announced, hashlib.sha256(), 0
        length = head.headers.get("content-length", "")
        self._total = int(length) if length.isdecimal() else 0
        self.etag = head.headers.get("etag")
        strong = self.etag is not None and not self.etag.startswith("W/")
        self._resume = self.etag if strong and head.headers.get("accept-ranges") == "bytes" else None
        self._open()

    def _hold_copy(self, head: Head) -> None:
        """Hold the copy at hand against the digest that comes with the word that it is still the file."""
        told = head.headers.get("repr-digest")  # services before this release say none
        if told is not None and self._copy is not None and announced_sha256(told).hex() != self._copy:
            raise DigestMismatch("digest-mismatch", "The copy at hand is not the file that the service gives there.")

    def _go_on(self, head: Head, announced: bytes) -> None:
        told = CONTENT_RANGE.fullmatch(head.headers.get("content-range", ""))
        if told is None or int(told[1]) != self._size or announced != self._announced:
            raise DigestMismatch("digest-mismatch", "The rest of the file that came is of another place or file.")

    def _open(self) -> None:
        if self._file is not None:  # an earlier attempt left something that cannot be gone on with
            self._file.seek(0)
            self._file.truncate()
            return
        place = self._place if isinstance(self._place, Path) else self._place(self._announced.hex())
        self._part = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
        self._file = self._part.open("xb")

    def take(self, piece: bytes) -> None:
        """Write a piece."""
        if self._file is None or self._unchanged:
            return
        self._file.write(piece)
        self._digest.update(piece)
        self._size += len(piece)
        if self._progress is not None:
            self._progress(self._size, self._total)

    def end(self) -> Download | None:
        """Give the file its name; None where the copy at hand is still it."""
        if self._unchanged:
            return None
        assert self._file is not None
        assert self._part is not None
        if self._digest.digest() != self._announced:
            raise DigestMismatch("digest-mismatch", "The bytes received do not have the SHA-256 that was announced.")
        self._file.flush()
        os.fsync(self._file.fileno())
        sha256 = self._announced.hex()
        place = self._place if isinstance(self._place, Path) else self._place(sha256)
        self._part.replace(place)
        return Download(place, self._size, sha256)

    def close(self) -> None:
        """Remove what did not become a file."""
        if self._file is not None:
            self._file.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)
