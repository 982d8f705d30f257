"""Upload: a file on its way to the service, read in pieces and never held whole."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pratique.errors import LocalFault

PIECE = 1 << 20

# Called with what is done and the total, which is 0 while nobody knows it.
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class Upload:
    """The first `size` bytes of a file, with their SHA-256: what is appended to the file meanwhile stays out."""

    path: Path
    size: int
    sha256: bytes

    @property
    def headers(self) -> dict[str, str]:
        """Content-Length, and the Repr-Digest (RFC 9530) by which the service notices a damaged transfer."""
        digest = base64.b64encode(self.sha256).decode("ascii")
        return {"Content-Length": str(self.size), "Repr-Digest": f"sha-256=:{digest}:"}

    def pieces(self, progress: Progress | None = None) -> Iterator[bytes]:
        """Read the file anew, piece by piece; raises LocalFault if it has become shorter."""
        sent = 0
        for piece in _read(self.path, self.size):
            yield piece
            sent += len(piece)
            if progress is not None:
                progress(sent, self.size)


def measure(path: str | Path) -> Upload:
    """Take size and digest of a file in one pass; raises LocalFault if it is none, OSError if it cannot be read."""
    file = Path(path)
    size = file.stat().st_size
    if not file.is_file():
        raise LocalFault("not-a-file", f"{file} is not a regular file.")
    digest = hashlib.sha256()
    for piece in _read(file, size):
        digest.update(piece)
    return Upload(file, size, digest.digest())


def _read(path: Path, size: int) -> Iterator[bytes]:
    left = size
    with path.open("rb") as stream:
        while left:
            piece = stream.read(min(PIECE, left))
            if not piece:
                raise LocalFault("file-changed", f"{path} became shorter while it was read.")
            left -= len(piece)
            yield piece
