"""Rates: what a caller may ask for in a time, and how many bad keys an address may send."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.http.rates import CALLER, FAILURE, Buckets, Rate, Rates, Share, peer_name
from pratique_privacy.ics.terms import IcsTerms
from tests.unit.privacy.http.world import World, build_world, check_problem


class Clock:
    """A clock that the test winds."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def taken(share: Share | None) -> bool:
    assert share is not None
    return share.taken


def test_a_bucket_lets_a_burst_through_and_then_as_many_as_flow_in() -> None:
    clock = Clock()
    buckets = Buckets("caller", Rate(2, 3), clock=clock)
    assert [taken(buckets.take("a")) for _ in range(4)] == [True, True, True, False]
    assert taken(buckets.take("b")), "another caller has its own"
    clock.at += 0.49
    assert not taken(buckets.take("a"))
    clock.at += 0.02
    assert taken(buckets.take("a"))
    clock.at += 60
    assert [taken(buckets.take("a")) for _ in range(4)] == [True, True, True, False]


def test_a_share_tells_the_quota_its_window_what_is_left_and_when_to_come_back() -> None:
    buckets = Buckets("caller", Rate(0.5, 3), clock=Clock())
    first = buckets.take("a")
    assert first is not None
    assert first.headers() == {"RateLimit-Policy": '"caller";q=3;w=6', "RateLimit": '"caller";r=2;t=0'}
    buckets.take("a")
    buckets.take("a")
    beyond = buckets.take("a")
    assert beyond is not None
    assert (beyond.headers()["RateLimit"], beyond.retry_after) == ('"caller";r=0;t=2', 2)


def test_a_rate_of_zero_limits_nothing_and_remembers_nobody() -> None:
    buckets = Buckets("caller", Rate(0, 1))
    assert [buckets.take("a") for _ in range(10)] == [None] * 10
    assert buckets.empty("a") is None
    assert len(buckets) == 0


def test_only_so_many_callers_are_remembered_and_the_quietest_is_forgotten_first() -> None:
    buckets = Buckets("caller", Rate(1, 1), most=100, clock=Clock())
    for caller in range(1000):
        buckets.take(f"caller-{caller}")
    assert len(buckets) == 100
    assert not taken(buckets.take("caller-999"))
    assert taken(buckets.take("caller-0"))


@given(
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
    st.floats(0.1, 50),
    st.integers(1, 20),
)
@settings(deadline=None, max_examples=50)
def test_no_more_get_through_than_a_burst_and_what_flowed_in(gaps: list[float], per_second: float, burst: int) -> None:
    clock = Clock()
    buckets = Buckets("caller", Rate(per_second, burst), clock=clock)
    through = 0
    for gap in gaps:
        clock.at += gap
        through += taken(buckets.take("a"))
    assert through <= burst + sum(gaps) * per_second + 1e-6


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
        ("", ""),
        ("x" * 100, "x" * 64),
    ],
)
def test_an_address_is_counted_by_what_one_customer_has(address: str, name: str) -> None:
    assert peer_name(address) == name


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def world(tmp_path: Path, clock: Clock) -> AsyncIterator[World]:
    rates = Rates(Buckets("caller", Rate(1, 5), clock=clock), Buckets("failures", Rate(0.1, 3), clock=clock))
    made = build_world(tmp_path, rates=rates)
    yield made
    for client in made.clients:
        await client.aclose()


async def test_a_caller_beyond_its_share_is_told_when_to_come_back(world: World, clock: Clock) -> None:
    client, other = await world.client("operator"), await world.client("operator")
    answers = [await client.get("/me") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert [answer.headers["ratelimit"] for answer in answers[:2]] == ['"caller";r=4;t=0', '"caller";r=3;t=0']
    check_problem(answers[-1], 429, "too-many-requests")
    assert answers[-1].headers["retry-after"] == "1"
    assert answers[-1].headers["ratelimit-policy"] == '"caller";q=5;w=5'
    assert (await other.get("/me")).status_code == 200
    clock.at += 1
    assert (await client.get("/me")).status_code == 200


async def test_what_needs_no_key_has_no_share(world: World) -> None:
    client = world.anonymous()
    for _ in range(8):
        answer = await client.get("/version")
        assert answer.status_code == 200
        assert "ratelimit" not in answer.headers


async def test_bad_keys_are_slowed_down_and_those_who_were_let_in_go_on(world: World, clock: Clock) -> None:
    known, late = await world.client("operator"), await world.client("auditor")
    assert (await known.get("/me")).status_code == 200
    guesser = world.anonymous({"Authorization": "Bearer key_" + "0" * 26 + ".guess"})
    assert [(await guesser.get("/me")).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    refused = await guesser.get("/me")
    check_problem(refused, 429, "too-many-requests")
    assert refused.headers["retry-after"] == "10"
    assert refused.headers["ratelimit-policy"] == '"failures";q=3;w=30'
    assert (await known.get("/me")).status_code == 200, "one bad neighbour behind a proxy stops nobody"
    assert (await late.get("/me")).status_code == 429, "its key is not known yet"
    clock.at += 10
    assert (await late.get("/me")).status_code == 200


async def test_a_request_without_a_key_is_no_guess(world: World) -> None:
    client: httpx.AsyncClient = world.anonymous()
    assert {(await client.get("/me")).status_code for _ in range(10)} == {401}


async def test_a_revoked_key_that_goes_on_asking_is_slowed_down(world: World) -> None:
    key, text = await world.keys.new_api_key("acme", "operator")
    client = world.anonymous({"Authorization": f"Bearer {text}"})
    assert (await client.get("/me")).status_code == 200
    await world.keys.revoke(key.id)
    assert [(await client.get("/me")).status_code for _ in range(4)] == [401, 401, 401, 429]


async def test_the_coordinators_token_is_not_to_be_guessed(world: World, clock: Clock) -> None:
    terms = IcsTerms("http://127.0.0.1:9", "http://127.0.0.1:9", "acme", token="right")
    world.app.state.services = replace(world.app.state.services, ics=terms)
    guesser = world.anonymous({"Authorization": "Bearer wrong"})
    assert [(await guesser.get("/ics/health")).status_code for _ in range(4)] == [401, 401, 401, 429]
    coordinator = world.anonymous({"Authorization": "Bearer right"})
    assert (await coordinator.get("/ics/health")).status_code == 200, "it has its token, whoever shares its address"
    clock.at += 10
    assert (await guesser.get("/ics/health")).status_code == 401


def test_a_pipeline_at_five_hundred_a_second_never_meets_the_limit() -> None:
    clock = Clock()
    buckets = Buckets("caller", CALLER, clock=clock)
    assert all(taken(buckets.take("a")) for _ in range(5000)), "a burst"
    for _ in range(30_000):  # a minute
        clock.at += 1 / 500
        assert taken(buckets.take("a"))


def test_a_guesser_has_less_than_a_try_a_second() -> None:
    clock = Clock()
    buckets = Buckets("failures", FAILURE, clock=clock)
    through = 0
    for _ in range(3600):
        clock.at += 0.1
        through += taken(buckets.take("a"))
    assert FAILURE.burst + 350 <= through <= FAILURE.burst + 360
