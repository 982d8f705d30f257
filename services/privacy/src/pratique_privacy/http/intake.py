"""Intake: a capture's bytes on their way into the store, hashed and checked without being held in memory."""

import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Final

from fastapi import Query, Request

from pratique_privacy.http.digests import promised
from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.problems import FieldError, TooLarge, Unprocessable, Unsupported
from pratique_shared.contracts.releases import Pilot
from pratique_shared.runtime.artifacts import Room

# pcap in both byte orders: both precisions and Kuznetsov's modified form; and pcapng (draft-ietf-opsawg-pcap,
# draft-ietf-opsawg-pcapng).
_PLAIN: Final = tuple(
    bytes.fromhex(magic)
    for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "a1b2cd34", "34cdb2a1", "0a0d0d0a")
)
_PACKED: Final = (bytes.fromhex("1f8b"), bytes.fromhex("28b52ffd"))  # gzip (RFC 1952), zstd (RFC 8878)
HEAD = 4  # bytes that tell a capture
MOST_RECIPIENTS = 100
_RECIPIENT: Final = re.compile(r"[^\x00-\x1f\x7f,]{1,200}")


@dataclass(frozen=True)
class Labels:
    """What is said of a source when it is sent: its name, its pilot, and the recipients who may ask for releases.

    `given` names the labels that were said at all: one that was not says nothing about a capture that is here already.
    """

    name: str
    pilot: str | None
    open_to: tuple[str, ...]
    given: frozenset[str] = frozenset()


def labels(
    request: Request,
    name: Annotated[str, Query(max_length=200, description="A name for lists.")] = "",
    pilot: Annotated[Pilot | None, Query(description="The site it comes from.")] = None,
    open_to: Annotated[
        tuple[str, ...], Query(description="Recipients who may ask for releases; repeat it, or put commas between.")
    ] = (),
) -> Labels:
    """Read the labels of a source from the query."""
    names = tuple(dict.fromkeys(part.strip() for given in open_to for part in given.split(",") if part.strip()))
    if len(names) > MOST_RECIPIENTS or not all(map(_RECIPIENT.fullmatch, names)):
        advice = f"must name at most {MOST_RECIPIENTS} recipients of at most 200 characters each"
        raise Unprocessable("query-invalid", "A parameter is wrong.", [FieldError("/open_to", advice)])
    return Labels(name, pilot, names, frozenset(request.query_params))


@dataclass
class CaptureStream:
    """The pieces of an upload; refuses what is no capture before anything is stored, and what is too large."""

    request: Request = field(repr=False)
    limit: int
    length: int = 0

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body; raises `Unsupported` (`not-a-capture`) or `TooLarge` (`body-too-large`)."""
        source = self.request.stream()
        head = b""
        async for piece in source:
            head += piece
            if len(head) >= HEAD:
                break
        self._sniff(head)
        yield self._counted(head)
        async for piece in source:
            yield self._counted(piece)

    def _sniff(self, head: bytes) -> None:
        if not (head.startswith(_PACKED) or head[:HEAD] in _PLAIN):
            detail = "This is neither pcap nor pcapng (plain, gzip or zstd): send the file that the capture tool wrote."
            raise Unsupported("not-a-capture", detail)

    def _counted(self, piece: bytes) -> bytes:
        self.length += len(piece)
        if self.length > self.limit:
            raise TooLarge("body-too-large", f"A capture may have at most {self.limit} bytes: split it.")
        return piece


async def store_capture(room: Room, key: str, request: Request, limit: int) -> Blob:
    """Stream a capture into the store; on a refusal nothing of it is left."""
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and int(announced[:20]) > limit:
        raise TooLarge("body-too-large", f"A capture may have at most {limit} bytes: split it.")
    digests = promised(request)
    stream = CaptureStream(request, limit).pieces()
    head = await anext(stream)  # refuses before a data key is made
    digests.update(head)

    async def whole() -> AsyncIterator[bytes]:
        yield head
        async for piece in stream:
            digests.update(piece)
            yield piece

    stored = False
    try:
        blob = await room.put_blob(key, whole())
        digests.check()
        stored = True
    finally:
        if not stored:
            await room.shred(Blob(key=key, sha256="", bytes=0))
    return blob


def sha256_of(data: bytes) -> bytes:
    """Return the SHA-256 of a body in memory."""
    return hashlib.sha256(data).digest()
