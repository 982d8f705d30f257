"""Forwarding: links lead to where users are, and only trusted proxies are believed."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import Headers

from pratique_privacy.http.forwarding import Front, Seen, networks, public_address, seen
from pratique_privacy.http.rates import Buckets, Rate, Rates
from tests.unit.privacy.http.world import RELEASE, World, build_world

PROXIES = Front(proxies=networks("10.0.0.0/8, 2001:db8::/64 192.0.2.1"))
PROXY, USER = "10.0.0.1", "198.51.100.7"


def headers(**given: str) -> Headers:
    return Headers({"host": "api:8080"} | {name.replace("_", "-"): value for name, value in given.items()})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Seen(PROXY, "", "http")),
        ({"x_forwarded_for": USER}, Seen(USER, "", "http")),
        ({"x_forwarded_for": USER, "x_forwarded_proto": "https"}, Seen(USER, "https://api:8080", "https")),
        (
            {"x_forwarded_for": USER, "x_forwarded_proto": "https", "x_forwarded_host": "pratique.example.com"},
            Seen(USER, "https://pratique.example.com", "https"),
        ),
        ({"x_forwarded_host": "pratique.example.com:8443"}, Seen(PROXY, "http://pratique.example.com:8443", "http")),
        ({"x_forwarded_prefix": "/pratique/"}, Seen(PROXY, "/pratique", "http")),
        (
            {"x_forwarded_proto": "https", "x_forwarded_host": "gw.example.com", "x_forwarded_prefix": "/a/b"},
            Seen(PROXY, "https://gw.example.com/a/b", "https"),
        ),
        ({"forwarded": f"for={USER};proto=https;host=gw.example.com"}, Seen(USER, "https://gw.example.com", "https")),
        (
            {"forwarded": 'For="[2001:db8:7::1]:4711"; Proto=HTTPS ;host="gw.example.com:8443"'},
            Seen("2001:db8:7::1", "https://gw.example.com:8443", "https"),
        ),
        ({"forwarded": "for=_hidden;proto=https"}, Seen(PROXY, "https://api:8080", "https")),
    ],
)
def test_a_trusted_proxy_says_from_whom_and_where_to(given: dict[str, str], expected: Seen) -> None:
    assert seen(PROXIES, PROXY, "http", headers(**given)) == expected


@pytest.mark.parametrize("peer", [USER, "2001:db8:1::1", "", "testclient"])
def test_nobody_else_is_believed(peer: str) -> None:
    told = headers(
        x_forwarded_for="192.0.2.99",
        x_forwarded_proto="https",
        x_forwarded_host="evil.example",
        x_forwarded_prefix="/x",
    )
    assert seen(PROXIES, peer, "http", told) == Seen(peer, "", "http")
    assert seen(PROXIES, peer, "http", headers(forwarded="for=192.0.2.9;host=evil.example")) == Seen(peer, "", "http")
    assert seen(Front(), PROXY, "http", told) == Seen(PROXY, "", "http")


def test_what_a_client_wrote_before_the_outermost_trusted_proxy_is_not_believed() -> None:
    chain = headers(
        x_forwarded_for=f"203.0.113.1, {USER}, 10.0.0.2",
        x_forwarded_proto="http, https, http",
        x_forwarded_host="evil.example, gw.example.com, inner",
    )
    assert seen(PROXIES, PROXY, "http", chain) == Seen(USER, "https://gw.example.com", "https")
    told = f"for=203.0.113.1;host=evil.example, for={USER};proto=https;host=gw.example.com, for=10.0.0.2;proto=http"
    assert seen(PROXIES, PROXY, "http", headers(forwarded=told)) == Seen(USER, "https://gw.example.com", "https")


def test_where_both_families_of_headers_are_there_neither_is_believed() -> None:
    both = headers(forwarded="for=203.0.113.1;host=evil.example", x_forwarded_for=USER, x_forwarded_proto="https")
    assert seen(PROXIES, PROXY, "http", both) == Seen(PROXY, "", "http")


@pytest.mark.parametrize(
    "given",
    [
        {"x_forwarded_host": "evil.example/path"},
        {"x_forwarded_host": "a b"},
        {"x_forwarded_host": 'x"><script>'},
        {"x_forwarded_proto": "javascript"},
        {"x_forwarded_prefix": "//evil.example"},
        {"x_forwarded_prefix": "/a/../b?c"},
        {"forwarded": "for=;;"},
        {"forwarded": 'host="unfinished'},
        {"forwarded": "host=evil.example/x"},
    ],
)
def test_what_is_no_host_scheme_or_path_is_left_out(given: dict[str, str]) -> None:
    assert seen(PROXIES, PROXY, "http", headers(**given)) == Seen(PROXY, "", "http")


@pytest.mark.parametrize("text", ["https://pratique.example.com", " https://gw.example.com:8443/pratique/ "])
def test_a_public_address_is_read(text: str) -> None:
    assert public_address(text) == text.strip().rstrip("/")


@pytest.mark.parametrize(
    "text", ["pratique.example.com", "ftp://x", "https://", "https://x/?a", "https://u@x", "https://x/a b"]
)
def test_what_is_no_public_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"address of ours|after a query"):
        public_address(text)


@asynccontextmanager
async def fronted(folder: Path, front: Front, rates: Rates | None = None) -> AsyncIterator[World]:
    world = build_world(folder, front=front, rates=rates)
    yield world
    for client in world.clients:
        await client.aclose()


def through(world: World, peer: str, bearer: str, **given: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(world.app, raise_app_exceptions=False, client=(peer, 1234))
    sent = {"Authorization": f"Bearer {bearer}"} | {name.replace("_", "-"): value for name, value in given.items()}
    client = httpx.AsyncClient(transport=transport, base_url="http://api:8080", headers=sent)
    world.clients.append(client)
    return client


async def links_seen_by(client: httpx.AsyncClient) -> set[str]:
    """What the links of a release and of a signing key, its `Location` and the document's server begin with."""
    made = await client.post("/releases", json=RELEASE)
    identity = made.json()["id"]
    key = (await client.get("/signing-keys")).json()["data"][0]
    document = (await client.get("/openapi.json")).json()
    return {
        made.headers["location"].removesuffix(f"/releases/{identity}"),
        made.json()["links"]["posture"].removesuffix(f"/releases/{identity}/posture"),
        key["links"]["jwks"].removesuffix("/keys/jwks.json"),
        document.get("servers", [{"url": ""}])[0]["url"],
    }


async def test_links_begin_with_the_public_address_where_it_is_set(tmp_path: Path) -> None:
    async with fronted(tmp_path, Front("https://gw.example.com/pratique", PROXIES.proxies)) as world:
        _, key = await world.keys.new_api_key("acme", "operator")
        client = through(world, PROXY, key, x_forwarded_host="other.example.com")
        assert await links_seen_by(client) == {"https://gw.example.com/pratique"}


async def test_links_are_paths_where_nobody_says_more(tmp_path: Path) -> None:
    async with fronted(tmp_path, PROXIES) as world:
        _, key = await world.keys.new_api_key("acme", "operator")
        assert await links_seen_by(through(world, USER, key, x_forwarded_host="evil.example")) == {""}
        told = {"x_forwarded_host": "gw.example.com", "x_forwarded_proto": "https", "x_forwarded_prefix": "/p"}
        assert await links_seen_by(through(world, PROXY, key, **told)) == {"https://gw.example.com/p"}
        assert await links_seen_by(through(world, PROXY, key)) == {""}, "one answer leaves nothing to the next"


async def test_what_a_link_made_is_named_in_the_log_whatever_it_begins_with(tmp_path: Path) -> None:
    async with fronted(tmp_path, Front("https://gw.example.com")) as world:
        _, key = await world.keys.new_api_key("acme", "operator")
        made = (await through(world, USER, key).post("/releases", json=RELEASE)).json()["id"]
        assert made in json.dumps([entry.object for entry in await world.audit.every("acme")])


async def test_bad_keys_are_counted_by_who_stands_behind_a_trusted_proxy(tmp_path: Path) -> None:
    rates = Rates(failures=Buckets("failures", Rate(0.001, 1)))
    async with fronted(tmp_path, PROXIES, rates) as world:
        for user in ("198.51.100.1", "198.51.100.2"):
            client = through(world, PROXY, "key_x.y", x_forwarded_for=user)
            assert [(await client.get("/me")).status_code for _ in range(2)] == [401, 429]
        spoofing = [through(world, USER, "key_x.y", x_forwarded_for=f"203.0.113.{n}") for n in range(3)]
        assert [(await client.get("/me")).status_code for client in spoofing] == [401, 429, 429]
