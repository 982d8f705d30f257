"""Downloads: a result as a file, whole or in part, under a strong tag and a digest."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from fastapi import Request, Response

from pratique_privacy.http.answers import is_known, private
from pratique_privacy.http.digests import digest_header
from pratique_privacy.http.heads import is_head
from pratique_privacy.http.ranges import Beyond, Part, range_asked
from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.problems import RangeNotSatisfiable
from pratique_shared.runtime.artifacts import Room

RANGES = {"Accept-Ranges": "bytes"}


@dataclass(frozen=True)
class Download:
    """The bytes of one representation: what they are, how many, their digest, and how to read a part of them."""

    media: str
    length: int
    sha256: str
    read: Callable[[int, int], Awaitable[bytes]] = field(repr=False)
    name: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def stored(room: Room, blob: Blob, media: str, name: str) -> Download:
    """Return a stored file; the whole is held against its fact's digest, a part against the seals of its chunks."""

    async def read(start: int, stop: int) -> bytes:
        if (start, stop) == (0, blob.bytes):
            return await room.blob_bytes(blob)
        return await room.blob_range(blob, start, stop)

    return Download(media, blob.bytes, blob.sha256, read, name)


def made(data: bytes, media: str, name: str | None = None, headers: Mapping[str, str] | None = None) -> Download:
    """Return a file that was made for this answer; the same question gives the same bytes, so a part of it stands."""

    async def read(start: int, stop: int) -> bytes:
        return data[start:stop]

    return Download(media, len(data), sha256(data).hexdigest(), read, name, headers or {})


async def served(request: Request, download: Download, keep: Mapping[str, str] | None = None) -> Response:
    """Answer 200 with the whole, 206 with a range of it, or 304; raises `RangeNotSatisfiable` (RFC 9110, 13 and 14).

    `keep` replaces what is said of caches.
    """
    tag = f'"{download.sha256}"'
    kept = {**private(tag), **(keep or {})}
    digest = {"Repr-Digest": digest_header(download.sha256)}
    if is_known(request, tag):
        return Response(None, 304, {**kept, **digest})  # whoever has a copy can hold it against that
    asked = request.headers.get("range"), request.headers.get("if-range")
    sent = {**kept, **RANGES, **digest, **download.headers}
    if download.name is not None:
        sent["Content-Disposition"] = f'attachment; filename="{download.name}"'
    match range_asked(*asked, tag, download.length):
        case Beyond() as beyond:
            raise RangeNotSatisfiable(beyond.content_range)
        case Part(start=start, stop=stop) as part:
            data = await download.read(start, stop)
            sent |= {"Content-Range": part.content_range, "Content-Digest": digest_header(sha256(data).hexdigest())}
            return Response(data, 206, sent, media_type=download.media)
        case None:
            # Whoever asks for the head alone is told the length that the fact names; nothing is decrypted for it.
            data = b"" if is_head(request) else await download.read(0, download.length)
            return Response(data, 200, {**sent, "Content-Length": str(download.length)}, media_type=download.media)
