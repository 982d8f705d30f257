"""Sealed blobs: authenticated encryption in chunks, a data key each, wrapped by the room's storage key.

The layout is that of STREAM (Hoang et al. 2015): chunk i is AES-256-GCM under nonce `i (11 bytes) || last (1 byte)`,
so that chunks can be neither reordered nor cut off unnoticed. The wrapped data key lies beside the blob in an object
of its own: deleting it shreds the blob, and a new storage key could be put around it without touching the blob.
"""

import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"PRQSEAL1"
CHUNK = 1 << 20  # plain bytes a chunk
TAG = 16


class BrokenSeal(Exception):
    """The bytes are not those that were sealed, or the key is another."""


@dataclass(frozen=True)
class StorageKey:
    """The key of a room. `secret` is 32 bytes."""

    secret: bytes = field(repr=False)

    def wrap(self, data_key: bytes, name: str) -> bytes:
        """Wrap a data key for the blob `name`."""
        nonce = secrets.token_bytes(12)
        sealed = AESGCM(self.secret).encrypt(nonce, data_key, name.encode())
        return json.dumps({"format": 1, "wrapped": b64encode(nonce + sealed).decode()}).encode()

    def unwrap(self, wrapped: bytes, name: str) -> bytes:
        """Return the data key of the blob `name`; raise `BrokenSeal` when it is not ours."""
        try:
            raw = b64decode(json.loads(wrapped)["wrapped"])
            return AESGCM(self.secret).decrypt(raw[:12], raw[12:], name.encode())
        except (InvalidTag, ValueError, KeyError) as error:
            raise BrokenSeal(name) from error


def new_data_key() -> bytes:
    """Return a fresh data key."""
    return AESGCM.generate_key(256)


def _nonce(index: int, *, last: bool) -> bytes:
    return index.to_bytes(11, "big") + bytes([last])


class Sealer:
    """Takes plain bytes in pieces of any size and gives sealed ones."""

    def __init__(self, data_key: bytes) -> None:
        self._cipher = AESGCM(data_key)
        self._pending = bytearray()
        self._index = 0

    def update(self, piece: bytes) -> bytes:
        """Take a piece; return what is sealed so far and was not returned yet."""
        self._pending += piece
        out = bytearray(MAGIC) if self._index == 0 and len(self._pending) > CHUNK else bytearray()
        while len(self._pending) > CHUNK:  # one chunk is always kept: the last one is marked
            out += self._cipher.encrypt(_nonce(self._index, last=False), bytes(self._pending[:CHUNK]), MAGIC)
            del self._pending[:CHUNK]
            self._index += 1
        return bytes(out)

    def finish(self) -> bytes:
        """Seal the last chunk."""
        head = MAGIC if self._index == 0 else b""
        return head + self._cipher.encrypt(_nonce(self._index, last=True), bytes(self._pending), MAGIC)


@dataclass(frozen=True)
class Chunks:
    """Chunks `first` .. `last` of the sealed form of `length` plain bytes: those that hold bytes start .. stop - 1.

    Each proves itself: its tag covers its number and whether it is the last, under a key that no other blob has.
    """

    length: int
    start: int
    stop: int

    @property
    def first(self) -> int:
        """The number of the first chunk."""
        return self.start // CHUNK

    @property
    def last(self) -> int:
        """The number of the last chunk that is needed."""
        return (self.stop - 1) // CHUNK

    @property
    def sealed(self) -> range:
        """Where they lie in the sealed form."""
        whole = len(MAGIC) + self.length + TAG * (self._final + 1)
        size = CHUNK + TAG
        return range(len(MAGIC) + self.first * size, min(len(MAGIC) + (self.last + 1) * size, whole))

    @property
    def _final(self) -> int:
        return max(self.length - 1, 0) // CHUNK

    def open(self, data_key: bytes, sealed: bytes) -> bytes:
        """Return plain bytes start .. stop - 1; raise `BrokenSeal` where a chunk is not the one that was sealed."""
        cipher, size, plain = AESGCM(data_key), CHUNK + TAG, []
        for index in range(self.first, self.last + 1):
            place = (index - self.first) * size
            try:
                nonce = _nonce(index, last=index == self._final)
                plain.append(cipher.decrypt(nonce, sealed[place : place + size], MAGIC))
            except (InvalidTag, ValueError) as error:  # ValueError: shorter than a tag
                raise BrokenSeal(f"chunk {index}") from error
        offset = self.first * CHUNK
        return b"".join(plain)[self.start - offset : self.stop - offset]


class Opener:
    """Takes sealed bytes in pieces of any size and gives the plain chunks that they prove to hold."""

    def __init__(self, data_key: bytes) -> None:
        self._cipher = AESGCM(data_key)
        self._pending = bytearray()
        self._index = 0
        self._started = False

    def update(self, piece: bytes) -> Iterator[bytes]:
        """Take a piece; yield every chunk that is whole and not the last."""
        self._pending += piece
        if not self._started and len(self._pending) >= len(MAGIC):
            if self._pending[: len(MAGIC)] != MAGIC:
                raise BrokenSeal("magic")
            del self._pending[: len(MAGIC)]
            self._started = True
        start = 0
        while self._started and len(self._pending) - start > CHUNK + TAG:
            yield self._open(bytes(self._pending[start : start + CHUNK + TAG]), last=False)
            start += CHUNK + TAG
            self._index += 1
        del self._pending[:start]

    def finish(self) -> bytes:
        """Return the last chunk."""
        if not self._started:
            raise BrokenSeal("magic")
        return self._open(bytes(self._pending), last=True)

    def _open(self, chunk: bytes, *, last: bool) -> bytes:
        try:
            return self._cipher.decrypt(_nonce(self._index, last=last), chunk, MAGIC)
        except InvalidTag as error:
            raise BrokenSeal(f"chunk {self._index}") from error
