"""Download: a file that appears under its name only when it is whole and has the announced digest."""

import base64
import binascii
import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

import httpx

from pratique.errors import DigestMismatch
from pratique.upload import Progress

# The media types under which a table leaves; the keys are the words of `?format=`.
MEDIA_TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
}
SHA256_MEMBER = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):")


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


def keep(response: httpx.Response, path: Path, progress: Progress | None = None) -> Download:
    """Write an open answer to `path` by a file beside it, which takes the name only if the digest is right.

    A file already at `path` is replaced at that moment and not before. Raises DigestMismatch, or OSError for the disk.
    """
    announced = announced_sha256(response.headers.get("repr-digest"))
    total = int(response.headers.get("content-length", 0))
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    digest, size = hashlib.sha256(), 0
    try:
        with part.open("xb") as file:
            for piece in response.iter_raw():
                file.write(piece)
                digest.update(piece)
                size += len(piece)
                if progress is not None:
                    progress(size, total)
            file.flush()
            os.fsync(file.fileno())
        if digest.digest() != announced:
            raise DigestMismatch("digest-mismatch", "The bytes received do not have the SHA-256 that was announced.")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return Download(path, size, digest.hexdigest())
