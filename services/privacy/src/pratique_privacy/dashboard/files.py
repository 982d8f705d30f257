"""Files of the dashboard: read once, named by what they hold, so that a browser may keep them for good."""

import gzip
import hashlib
import json
import re
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).parent / "static"
PAGE: Final = "index.html"
SMALL: Final = 1024  # bytes below which compression gains nothing

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_IMPORT_MAP: Final = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class StaticFile:
    """A file as it is sent: its media type, its bytes, and the same compressed where that is shorter."""

    media: str
    body: bytes = field(repr=False)
    packed: bytes | None = field(repr=False)

    @property
    def tag(self) -> str:
        """The strong entity tag of the plain bytes."""
        return hashlib.sha256(self.body).hexdigest()


@dataclass(frozen=True)
class StaticTree:
    """All files of the dashboard under one digest; `page` names it wherever it names another file."""

    digest: str
    files: dict[str, StaticFile] = field(repr=False)
    page: StaticFile = field(repr=False)
    import_map: str  # the hash by which the policy lets the page's import map pass (CSP level 3, 8.4)


def stamp_of(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file does: names, sizes, times."""
    found = ((path, path.stat()) for path in sorted(root.rglob("*")) if path.suffix in _TYPES)
    return tuple((path.as_posix(), about.st_size, about.st_mtime_ns) for path, about in found)


def read_tree(root: Path) -> StaticTree:
    """Read the files below a folder. `{static}` in the page becomes the place of this very set of files."""
    files = {
        path.relative_to(root).as_posix(): _file(path.read_bytes(), path.suffix)
        for path in sorted(root.rglob("*"))
        if path.suffix in _TYPES
    }
    page = files.pop(PAGE)
    listing = json.dumps([(name, found.tag) for name, found in files.items()])
    digest = hashlib.sha256((listing + page.tag).encode()).hexdigest()[:20]
    text = page.body.decode().replace("{static}", f"/static/{digest}")
    mapped = _IMPORT_MAP.search(text)
    hashed = b64encode(hashlib.sha256(mapped[1].encode() if mapped else b"").digest()).decode()
    return StaticTree(digest, files, _file(text.encode(), ".html"), f"sha256-{hashed}")


def _file(body: bytes, suffix: str) -> StaticFile:
    packed = gzip.compress(body, 6, mtime=0) if len(body) > SMALL else None
    return StaticFile(_TYPES[suffix], body, packed if packed and len(packed) < len(body) else None)
