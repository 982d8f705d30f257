"""Key set: the public keys of an identity provider (RFC 7517), kept, and fetched anew as seldom as will do."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import httpx
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

_log = logging.getLogger("pratique.identity")

# Signatures that only the provider can make; `none` and the HMAC family are none of them (RFC 8725, 3.1 and 3.2).
_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_BY_CURVE: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA"}
ALGORITHMS: Final = (*_RSA, *_BY_CURVE.values())
LEAST_RSA_BITS: Final = 2048  # RFC 7518, 3.3
FRESH: Final = 600.0  # seconds that a set is used without looking for a newer one
PAUSE: Final = 30.0  # seconds between two fetches, whoever asks
WHOLE: Final = 5.0  # seconds that a fetch may take
MOST_BYTES: Final = 256 << 10
MOST_KEYS: Final = 64

Fetch = Callable[[], Awaitable[bytes]]
_Keys = Mapping[tuple[str, str], PyJWK]


class NoKeySet(Exception):
    """The keys could not be fetched; the text says why, without the address."""


def keys_in(document: bytes) -> _Keys:
    """Return the keys of a set by id and algorithm; those for other uses, and weak ones, are left out.

    A key without `alg` stands for every algorithm of its kind. Raises `NoKeySet` for what is no key set.
    """
    try:
        listed = json.loads(document)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoKeySet("what was fetched is no JSON Web Key Set") from None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise NoKeySet("what was fetched is no JSON Web Key Set")
    found: dict[tuple[str, str], PyJWK] = {}
    for entry in listed[:MOST_KEYS]:
        for algorithm in _algorithms(entry):
            if (key := _key(entry, algorithm)) is not None:
                found[entry["kid"], algorithm] = key
    return found


def _algorithms(entry: Mapping[str, Any]) -> tuple[str, ...]:
    if not isinstance(entry.get("kid"), str) or entry.get("use", "sig") != "sig":
        return ()
    curve, possible = entry.get("crv"), tuple[str, ...]()
    match entry.get("kty"):
        case "RSA":
            possible = _RSA
        case "EC" | "OKP" if isinstance(curve, str) and curve in _BY_CURVE:
            possible = (_BY_CURVE[curve],)
        case _:
            return ()
    return tuple(name for name in possible if entry.get("alg", name) == name)


def _key(entry: Mapping[str, Any], algorithm: str) -> PyJWK | None:
    public = {name: entry[name] for name in ("kty", "kid", "n", "e", "crv", "x", "y") if name in entry}
    try:
        key = PyJWK(public, algorithm)
    except (PyJWTError, ValueError, TypeError):
        return None
    is_weak = isinstance(key.key, RSAPublicKey) and key.key.key_size < LEAST_RSA_BITS
    return None if is_weak else key


def from_file(path: Path) -> Fetch:
    """Return what reads a key set from a file."""

    async def fetch() -> bytes:
        try:
            return await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise NoKeySet(f"the file of keys cannot be read: {error.strerror}") from None

    return fetch


def from_address(url: str, agent: str, transport: httpx.AsyncBaseTransport | None = None) -> Fetch:
    """Return what fetches a key set: no redirects, no proxy of the environment, `MOST_BYTES` and `WHOLE` at most."""
    tls = ssl.create_default_context()

    async def fetch() -> bytes:
        carrier = transport or httpx.AsyncHTTPTransport(verify=tls)
        try:
            async with (
                asyncio.timeout(WHOLE),
                httpx.AsyncClient(transport=carrier, timeout=WHOLE, trust_env=False) as client,
                client.stream("GET", url, headers={"User-Agent": agent, "Accept-Encoding": "identity"}) as answer,
            ):
                if answer.status_code != httpx.codes.OK:
                    raise NoKeySet(f"the address of the keys answered {answer.status_code}")
                return await _read(answer)
        except (httpx.HTTPError, OSError, TimeoutError) as error:
            raise NoKeySet(f"the address of the keys did not answer: {type(error).__name__}") from None

    return fetch


async def _read(answer: httpx.Response) -> bytes:
    data = b""
    async for piece in answer.aiter_raw():
        data += piece
        if len(data) > MOST_BYTES:
            raise NoKeySet("what was fetched is too long for a key set")
    return data


class KeySet:
    """The keys of one provider. A fetch that fails leaves those that are known in force."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch, self._clock = fetch, clock
        self._keys: _Keys | None = None
        self._fetched = self._tried = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    @property
    def is_known(self) -> bool:
        """Whether a set was ever fetched."""
        return self._keys is not None

    async def key(self, kid: str, algorithm: str) -> PyJWK | None:
        """Return a key. An unknown one has the set fetched anew, once in `PAUSE` seconds; an old set beside the way."""
        found = (self._keys or {}).get((kid, algorithm))
        if found is None or self._clock() - self._fetched > FRESH:
            fetching = self._begin()
            if found is None and fetching is not None:
                # Shielded: whoever asked may go away, and others wait for the same keys.
                await asyncio.shield(fetching)
        return found or (self._keys or {}).get((kid, algorithm))

    async def refresh(self) -> None:
        """Fetch the set now; raises `NoKeySet`."""
        self._tried = self._clock()
        self._keys = keys_in(await self._fetch())
        self._fetched = self._clock()

    def _begin(self) -> "asyncio.Task[None] | None":
        """Return the fetch that is under way, a new one where it is time for it, else None."""
        if self._fetching is None or self._fetching.done():
            if self._clock() - self._tried < PAUSE:
                return None
            self._fetching = asyncio.create_task(self._try())
        return self._fetching

    async def _try(self) -> None:
        try:
            await self.refresh()
        except NoKeySet as problem:
            _log.warning("the keys of the identity provider were not fetched: %s", problem)
