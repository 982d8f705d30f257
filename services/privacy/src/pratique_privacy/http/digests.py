"""Digests: what a download carries, and what an upload is held against (RFC 9530)."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fastapi import Request

from pratique_shared.contracts.problems import BadRequest

_ALGORITHMS: Final[Mapping[str, Callable[[], Any]]] = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}
_FIELDS: Final = ("repr-digest", "content-digest")  # uploads are read as they come: the two are one here
# A dictionary of byte sequences (RFC 8941, 3.2 and 3.3.5); parameters say nothing of a digest.
_MEMBER: Final = re.compile(r"\s*(?P<key>[a-z*][a-z0-9_.*-]*)=:(?P<bytes>[A-Za-z0-9+/=]*):(?:;[^,]*)?\s*")


def digest_header(sha256_hex: str) -> str:
    """Return `Repr-Digest` or `Content-Digest` of bytes with this SHA-256."""
    return f"sha-256=:{base64.b64encode(bytes.fromhex(sha256_hex)).decode()}:"


@dataclass
class Promised:
    """The digests that an upload was announced with, and the bytes that have come so far."""

    wanted: tuple[tuple[str, bytes], ...]
    _running: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._running = {name: _ALGORITHMS[name]() for name, _ in self.wanted}

    def update(self, piece: bytes) -> None:
        """Take a piece of the upload."""
        for digest in self._running.values():
            digest.update(piece)

    def check(self) -> None:
        """Hold the whole upload against every digest; raises `BadRequest` (`digest-mismatch`)."""
        if any(self._running[name].digest() != wanted for name, wanted in self.wanted):
            raise BadRequest(
                "digest-mismatch", "The bytes received do not have the digest that was sent: send them again."
            )


def promised(request: Request) -> Promised:
    """Read the digests of an upload; algorithms that are not known here promise nothing (RFC 9530, 2).

    Raises `BadRequest` (`digest-malformed`): a digest that cannot be read would not be held, and nobody would know.
    """
    found: list[tuple[str, bytes]] = []
    for name in _FIELDS:
        for line in request.headers.getlist(name):
            found += _members(line)
    return Promised(tuple(found))


def _members(line: str) -> list[tuple[str, bytes]]:
    malformed = BadRequest("digest-malformed", "Send a digest as `sha-256=:<base64>:`, or leave the header out.")
    found = []
    for part in line.split(","):
        member = _MEMBER.fullmatch(part)
        if member is None:
            raise malformed
        if member["key"] in _ALGORITHMS:
            try:
                found.append((member["key"], base64.b64decode(member["bytes"], validate=True)))
            except binascii.Error:
                raise malformed from None
    return found
