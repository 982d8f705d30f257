"""The cache: released files by their digest, each asked for again before it is used and held against its bytes.

A file is used only after the service said that this key may have it and that it is still the one (ETag, 304). What was
withdrawn is removed.
"""

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path

from pratique.download import Download, Receiving
from pratique.errors import DigestMismatch, Refused
from pratique.exchange import Ask
from pratique.plan import Plan, Work, call
from pratique.upload import Progress

FOLDER = "pratique"
NOT_OURS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


def cache_folder(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Return `PRATIQUE_CACHE`, else the place for caches of the platform (XDG Base Directory Specification)."""
    known = os.environ if environ is None else environ
    if known.get("PRATIQUE_CACHE"):
        return Path(known["PRATIQUE_CACHE"])
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / FOLDER
    if platform == "win32" and known.get("LOCALAPPDATA"):
        return Path(known["LOCALAPPDATA"]) / FOLDER / "Cache"
    base = known.get("XDG_CACHE_HOME", "")
    # A relative path there is to be ignored, says the specification.
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / FOLDER


@dataclass(frozen=True)
class Entry:
    """What is known of a file in the cache."""

    etag: str
    sha256: str
    size: int

    @property
    def is_sound(self) -> bool:
        """Whether an entry that was read is one that was written: it may have been altered meanwhile."""
        texts = isinstance(self.etag, str) and isinstance(self.sha256, str)
        return texts and isinstance(self.size, int) and self.etag.isascii() and self.etag.isprintable()


@dataclass(frozen=True)
class Cache:
    """A folder of files named by their SHA-256, and of entries that say which request each one answers."""

    folder: Path

    @property
    def files(self) -> Path:
        """Where the files are; made for this user alone where it is not there yet."""
        place = self.folder / "sha256"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place

    def find(self, request: str) -> Entry | None:
        """Return the entry of a request whose file is there and undamaged; a damaged one is removed."""
        try:
            entry = Entry(**json.loads(self._index(request).read_text(encoding="utf-8")))
            if not entry.is_sound:
                return None
            path = self.path(entry.sha256)
            with path.open("rb") as file:
                whole = hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256
        except (OSError, ValueError, TypeError):
            return None
        if not whole:
            path.unlink(missing_ok=True)
        return entry if whole else None

    def path(self, sha256: str) -> Path:
        """Return the path of a file."""
        if len(sha256) != hashlib.sha256().digest_size * 2 or not sha256.isalnum():
            raise ValueError(sha256)
        return self.files / sha256

    def remember(self, request: str, entry: Entry) -> None:
        """Note which file answers a request."""
        place = self._index(request)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        part.write_text(json.dumps(asdict(entry)), encoding="utf-8")
        part.replace(place)

    def forget(self, request: str) -> None:
        """Remove a file and its entry."""
        if (entry := self.find(request)) is not None:
            self.path(entry.sha256).unlink(missing_ok=True)
        self._index(request).unlink(missing_ok=True)

    def _index(self, request: str) -> Path:
        return self.folder / "requests" / hashlib.sha256(request.encode()).hexdigest()


def cached(
    cache: Cache, where: str, ask: Ask, progress: Progress | None = None, expect: str | None = None
) -> Plan[Download]:
    """Return a file of the service from the cache, or receive it into the cache; raises as a download.

    A copy that is another file than the service gives, whatever the folder says of it, is removed and received anew.
    Files of the cache may be shared: read them, and write to none.
    """
    request = f"{where} {ask.path} {ask.query}"
    entry: Entry | None = yield Work(lambda: cache.find(request))
    if entry is not None and expect not in (None, entry.sha256):
        entry = None
    try:
        try:
            receiving = _receiving(cache, ask, progress, expect, entry)
            received = yield from call(receiving)
        except DigestMismatch:
            if entry is None:
                raise
            yield Work(lambda: cache.forget(request))
            receiving = _receiving(cache, ask, progress, expect, None)
            received = yield from call(receiving)
    except Refused as refused:
        if refused.status in NOT_OURS:
            yield Work(lambda: cache.forget(request))
        raise
    if received is None:
        assert entry is not None
        return Download(cache.path(entry.sha256), entry.size, entry.sha256)
    if receiving.etag is not None:
        kept = Entry(receiving.etag, received.sha256, received.size)
        yield Work(lambda: cache.remember(request, kept))
    return received


def _receiving(cache: Cache, ask: Ask, progress: Progress | None, expect: str | None, entry: Entry | None) -> Receiving:
    known, copy = (None, None) if entry is None else (entry.etag, entry.sha256)
    return Receiving(ask, cache.path, progress, expect=expect, known=known, copy=copy)
