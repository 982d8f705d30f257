"""The meters and the log of requests: who reads them, and that nothing of a caller's words gets into either."""

import json
import logging
from dataclasses import replace

import httpx
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from pratique_privacy.http.app import create_app, operations
from pratique_privacy.http.meters import look_at_queues
from pratique_privacy.http.rates import Buckets, Rate, Rates
from pratique_privacy.keys import Role
from pratique_shared.runtime.meters import OTHER, REGISTRY
from pratique_shared.runtime.telemetry import JsonLines
from tests.unit.privacy.http.world import PCAP, RELEASE, World

TOKEN = "the-token-of-the-scraper"
CANARY = "001010000000001"  # an IMSI of the test network (3GPP TS 23.003, 2.2)


def with_services(world: World, token: str, rates: Rates | None = None) -> None:
    """Build the app of a world anew, with a token of the scraper."""
    world.app = create_app(replace(world.app.state.services, metrics_token=token, rates=rates or Rates()))


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def all_series() -> set[str]:
    """Every series there is, by name and labels."""
    return {line.rpartition(" ")[0] for line in generate_latest(REGISTRY).decode().splitlines() if line[0] != "#"}


async def test_the_meters_are_for_the_scrapers_token_or_an_admin_of_the_house(world: World) -> None:
    with_services(world, TOKEN)
    assert (await world.anonymous().get("/metrics")).json()["code"] == "key-missing"
    assert (await world.anonymous({"Authorization": "Bearer wrong"}).get("/metrics")).status_code == 401
    others: tuple[tuple[str, Role], ...] = (("acme", "admin"), ("operator", "auditor"), ("operator", "operator"))
    for tenant, role in others:
        client = await world.client(role, tenant=tenant)
        assert (await client.get("/metrics")).json()["code"] == "house-only", (tenant, role)
    readers = world.anonymous({"Authorization": f"Bearer {TOKEN}"}), await world.client("admin", tenant="operator")
    for reader in readers:
        answer = await reader.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=1.0.0")
        assert answer.headers["cache-control"] == "private, no-store"
        names = {family.name for family in text_string_to_metric_families(answer.text)}
        assert {"pratique_http_requests", "pratique_queue_waiting_jobs", "pratique_workers"} <= names


async def test_an_admin_key_of_the_house_reads_the_meters_within_its_scopes_only(world: World) -> None:
    admin = await world.client("admin", tenant="operator")
    for scopes, status in ((["webhooks"], 403), (["getMetrics"], 200)):
        made = await admin.post("/api-keys", json={"role": "admin", "name": "narrow", "scopes": scopes})
        key = world.anonymous({"Authorization": f"Bearer {made.json()['key']}"})
        assert (await key.get("/metrics")).status_code == status, scopes


async def test_a_guesser_of_the_token_waits(world: World) -> None:
    rates = Rates(failures=Buckets("failures", Rate(0.001, 3)))
    with_services(world, TOKEN, rates)
    client = world.anonymous({"Authorization": "Bearer wrong"})
    before = counted("pratique_http_rate_limited_total", bucket="failures")
    assert [(await client.get("/metrics")).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    assert counted("pratique_http_rate_limited_total", bucket="failures") == before + 2


async def test_a_request_is_counted_under_its_operation_and_a_refusal_under_its_code(
    world: World, operator: httpx.AsyncClient
) -> None:
    taken = {"operation": "createRelease", "method": "POST", "status": "2xx"}
    gone = {"operation": "getRelease", "method": "HEAD", "status": "4xx"}
    before = [counted("pratique_http_requests_total", **labels) for labels in (taken, gone)]
    missing = counted("pratique_http_refusals_total", code="not-found")
    written = counted("pratique_audit_entries_total", outcome="written")
    assert (await operator.post("/releases", json=RELEASE)).status_code == 202
    assert (await operator.head("/releases/rel_" + "0" * 26)).status_code == 404
    after = [counted("pratique_http_requests_total", **labels) for labels in (taken, gone)]
    assert after == [before[0] + 1, before[1] + 1]
    assert counted("pratique_http_refusals_total", code="not-found") == missing + 1
    assert counted("pratique_audit_entries_total", outcome="written") >= written + 2  # asked, answered
    assert counted("pratique_http_requests_in_flight") == 0


async def test_the_queues_are_seen_and_a_server_that_is_away_too(world: World) -> None:
    world.bell.workers = {"privacy"}
    await look_at_queues(world.bell)
    assert [counted("pratique_workers", queue=queue) for queue in ("privacy", "attack")] == [1, 0]
    assert counted("pratique_queue_server_up") == 1
    world.bell.away = True
    await look_at_queues(world.bell)
    assert counted("pratique_queue_server_up") == 0


async def assail(client: httpx.AsyncClient, number: int) -> None:
    """Send what a hostile caller would, with words of its own everywhere."""
    word = f"{CANARY}{number}"
    with_word = {"X-Request-Id": word, "traceparent": f"00-{word:0>32}-{word:0>16}-01", "User-Agent": word}
    await client.get(f"/releases/{word}", headers=with_word)
    await client.get(f"/{word}/../{word}?imsi={word}")
    await client.get(f"/releases/rel_{word:0>26}")  # the form of an id
    await client.get("/releases", params={word: word, "after": word})
    await client.request(f"IMSI{number}", "/releases", headers={"Authorization": f"Bearer {word}"})
    await client.post("/releases", json={**RELEASE, "recipient": [word], word: word})
    await client.post("/releases", content=word.encode(), headers={"Content-Type": word, "Idempotency-Key": word})
    await client.put(f"/policies/{word}", json={"steps": [{"column": word, "op": word}]})
    await client.post("/captures", params={"name": word}, content=PCAP + word.encode())
    await client.post("/releases", json={**RELEASE, "recipient": f"r{word}", "name": word})


async def test_hostile_requests_add_no_series_after_the_first_and_no_word_of_theirs_is_counted_or_logged(
    world: World, operator: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await assail(operator, 0)
    before = all_series()
    for number in range(1, 8):
        await assail(operator, number)
    assert all_series() == before
    assert CANARY not in "".join(before)
    lines = [JsonLines().format(record) for record in caplog.records if record.name.startswith("pratique")]
    assert len([line for line in lines if "a request was answered" in line]) == 8 * 10
    assert CANARY not in "".join(lines)
    methods = {series.partition('method="')[2].partition('"')[0] for series in before if 'method="' in series}
    assert OTHER in methods
    names = {series.partition('operation="')[2].partition('"')[0] for series in before if 'operation="' in series}
    assert names <= {route.operation_id for route in operations()} | {"none"}


async def test_a_request_has_one_line_with_its_ids_and_a_probe_has_none_at_info(
    world: World, operator: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pratique.http")
    made = await operator.post("/releases", json=RELEASE)
    await operator.get(f"/releases/{made.json()['id']}")
    await operator.get("/livez")
    refused = await operator.get("/releases/rel_" + "0" * 26)
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [(line["operation"], line["status"], line.get("object"), line.get("code")) for line in lines] == [
        ("createRelease", 202, made.json()["id"], None),
        ("getRelease", 200, made.json()["id"], None),
        ("getRelease", 404, None, "not-found"),
    ]
    assert [line["request_id"] for line in lines][::2] == [each.headers["x-request-id"] for each in (made, refused)]
    assert all(line["milliseconds"] >= 0 and line["level"] == "INFO" for line in lines)
