"""Sealed blobs: authenticated encryption in chunks, a data key each, wrapped by the room's storage key.

The layout is that of STREAM (Hoang et al. 2015): chunk i is AES-256-GCM under nonce `i (11 bytes) || last (1 byte)`,
so that chunks can be neither reordered nor cut off unnoticed. The wrapped data key lies beside the blob in an object
of its own: deleting it shreds the blob, and a new storage key is put around it without touching the blob.
"""

import hmac
import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MAGIC = b"PRQSEAL1"
CHUNK = 1 << 20  # plain bytes a chunk
TAG = 16
KEY_BYTES = 32


class BrokenSeal(Exception):
    """The bytes are not those that were sealed, or the key is another."""


@dataclass(frozen=True)
class StorageKey:
    """The key of a room, 32 bytes, and others of it that still unwrap: those before it, or one that is to follow."""

    secret: bytes = field(repr=False)
    others: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, ring: bytes) -> "StorageKey":
        """Read keys that stand one after the other; the first one wraps."""
        first, *others = (ring[start : start + KEY_BYTES] for start in range(0, len(ring), KEY_BYTES))
        return cls(first, tuple(others))

    def wrap(self, data_key: bytes, name: str) -> bytes:
        """Wrap a data key for the blob `name`; which key did it stands beside it."""
        nonce = secrets.token_bytes(12)
        sealed = AESGCM(self.secret).encrypt(nonce, data_key, name.encode())
        header = {"format": 1, "key": _key_id(self.secret), "wrapped": b64encode(nonce + sealed).decode()}
        return json.dumps(header).encode()

    def unwrap(self, wrapped: bytes, name: str) -> bytes:
        """Return the data key of the blob `name`; raise `BrokenSeal` when it is not ours.

        What does not name its key is from before there could be several: each of ours is tried.
        """
        try:
            header = json.loads(wrapped)
            raw, named = b64decode(header["wrapped"]), header.get("key")
        except (ValueError, KeyError) as error:
            raise BrokenSeal(name) from error
        for secret in (self.secret, *self.others):
            if named in (None, _key_id(secret)):
                with suppress(InvalidTag, ValueError):
                    return AESGCM(secret).decrypt(raw[:12], raw[12:], name.encode())
        raise BrokenSeal(name)

    def rewrapped(self, wrapped: bytes, name: str) -> bytes | None:
        """Return the same data key under the first key, None where it is already; raises `BrokenSeal`."""
        data_key = self.unwrap(wrapped, name)
        is_first = json.loads(wrapped).get("key") == _key_id(self.secret)
        return None if is_first else self.wrap(data_key, name)


def _key_id(secret: bytes) -> str:
    """Name a key: 64 bits of an HMAC under it, which tell keys apart and nothing of the key."""
    return hmac.digest(secret, b"pratique storage key 1", "sha256")[:8].hex()


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
