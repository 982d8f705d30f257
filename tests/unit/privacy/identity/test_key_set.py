"""The keys of an identity provider: which are taken, how seldom they are fetched, and what a dead provider changes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from pratique_privacy.identity.key_set import (
    FRESH,
    MOST_BYTES,
    PAUSE,
    KeySet,
    NoKeySet,
    from_address,
    from_file,
    keys_in,
)
from pratique_privacy.identity.terms import check_key_address
from tests.support.issuer import Issuer, private_key

ADDRESS = "https://id.example.com/jwks"


class Clock:
    """A clock that the test winds."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


async def failing() -> bytes:
    raise NoKeySet("nobody is there")


def set_of(**changed: Any) -> bytes:  # noqa: ANN401 - members of a JSON object
    key = Issuer().public("first")
    return json.dumps(
        {"keys": [{name: value for name, value in (key | changed).items() if value is not None}]}
    ).encode()


@pytest.mark.parametrize(
    "changed",
    [
        {"use": "enc"},
        {"kid": None},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"alg": "HS256"},
        {"crv": "secp256k1"},
        {"x": "AA"},
    ],
)
def test_a_key_that_may_not_sign_for_us_is_left_out(changed: dict[str, Any]) -> None:
    assert len(keys_in(set_of())) == 1
    assert keys_in(set_of(**changed)) == {}


@pytest.mark.parametrize(("bits", "taken"), [(1024, 0), (2048, 6)])
def test_an_rsa_key_has_2048_bits_and_without_alg_stands_for_all_of_its_kind(bits: int, taken: int) -> None:
    public = json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, bits).public_key()))
    found = keys_in(json.dumps({"keys": [{**public, "kid": "a", "alg": None} | {"alg": "RS256"}]}).encode())
    assert {name for _, name in found} == ({"RS256"} if taken else set())
    del public["key_ops"]
    assert len(keys_in(json.dumps({"keys": [{**public, "kid": "a"}]}).encode())) == taken


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": [1]}', b"\xff", b"[" * 100_000])
def test_what_is_no_key_set_is_told_as_such(document: bytes) -> None:
    with pytest.raises(NoKeySet):
        keys_in(document)


async def test_an_unknown_key_is_looked_for_once_in_thirty_seconds(issuer: Issuer) -> None:
    clock = Clock()
    keys = KeySet(issuer.fetch, clock)
    assert await keys.key("first", "ES256") is not None
    clock.at += PAUSE - 1
    assert [await keys.key(f"guess-{n}", "ES256") for n in range(50)] == [None] * 50
    assert issuer.asked == 1
    clock.at += 1
    issuer.keys["second"] = ("EdDSA", private_key("EdDSA"))
    assert await keys.key("second", "EdDSA") is not None
    assert await keys.key("second", "ES256") is None
    assert issuer.asked == 2


async def test_many_who_wait_for_the_same_key_share_one_fetch(issuer: Issuer) -> None:
    async def slow() -> bytes:
        await asyncio.sleep(0.01)
        return await issuer.fetch()

    keys = KeySet(slow, Clock())
    found = await asyncio.gather(*(keys.key("first", "ES256") for _ in range(20)))
    assert all(found)
    assert issuer.asked == 1


async def test_a_caller_that_goes_away_leaves_the_fetch_to_the_others(issuer: Issuer) -> None:
    begun = asyncio.Event()

    async def slow() -> bytes:
        begun.set()
        await asyncio.sleep(0.01)
        return await issuer.fetch()

    keys = KeySet(slow, Clock())
    first = asyncio.create_task(keys.key("first", "ES256"))
    second = asyncio.create_task(keys.key("first", "ES256"))
    await begun.wait()
    first.cancel()
    assert await second is not None


async def test_an_old_set_is_renewed_beside_the_way_and_a_key_that_left_it_is_gone(issuer: Issuer) -> None:
    clock = Clock()
    keys = KeySet(issuer.fetch, clock)
    await keys.refresh()
    issuer.keys = {"second": issuer.keys["first"]}
    clock.at += FRESH + 1
    assert await keys.key("first", "ES256") is not None, "nobody waits for a renewal"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await keys.key("first", "ES256") is None
    assert await keys.key("second", "ES256") is not None


async def test_keys_stay_in_force_while_the_provider_is_down(issuer: Issuer) -> None:
    clock, up = Clock(), True

    async def fetch() -> bytes:
        return await (issuer.fetch() if up else failing())

    keys = KeySet(fetch, clock)
    await keys.refresh()
    up = False
    for _ in range(3):
        clock.at += 10 * FRESH
        assert await keys.key("first", "ES256") is not None
        assert await keys.key("other", "ES256") is None
    assert keys.is_known
    never = KeySet(failing, clock)
    assert await never.key("first", "ES256") is None
    assert not never.is_known


async def test_a_file_of_keys_is_read_and_a_missing_one_told(tmp_path: Path, issuer: Issuer) -> None:
    (tmp_path / "jwks.json").write_bytes(issuer.key_set())
    assert await from_file(tmp_path / "jwks.json")() == issuer.key_set()
    with pytest.raises(NoKeySet, match="No such file"):
        await from_file(tmp_path / "none.json")()


def answering(status: int = 200, content: bytes = b"{}", **headers: str) -> httpx.MockTransport:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    return httpx.MockTransport(lambda _: httpx.Response(status, content=pieces(), headers=headers))


async def test_keys_are_fetched_whole_within_bounds_and_without_redirects() -> None:
    assert await from_address(ADDRESS, "t", answering(content=b"x" * MOST_BYTES))() == b"x" * MOST_BYTES
    with pytest.raises(NoKeySet, match="too long"):
        await from_address(ADDRESS, "t", answering(content=b"x" * (MOST_BYTES + 1)))()
    with pytest.raises(NoKeySet, match="answered 302"):
        await from_address(ADDRESS, "t", answering(302, Location="https://elsewhere.example.com/"))()

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("id.example.com does not resolve", request=request)

    with pytest.raises(NoKeySet) as caught:
        await from_address(ADDRESS, "t", httpx.MockTransport(refuse))()
    assert str(caught.value) == "the address of the keys did not answer: ConnectError"


def is_taken(url: str) -> bool:
    try:
        check_key_address(url)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "url", [ADDRESS, "http://127.0.0.1:9/jwks", "http://localhost/jwks", "http://keycloak:8080/jwks"]
)
def test_keys_may_come_over_https_or_from_near(url: str) -> None:
    assert is_taken(url)


@pytest.mark.parametrize(
    "url", ["http://id.example.com/jwks", "ftp://x/jwks", "https:///jwks", "jwks", "https://u:p@x/"]
)
def test_keys_may_not_come_from_where_somebody_could_put_his_own(url: str) -> None:
    assert not is_taken(url)
