"""Refusals: problem documents that say what to do and repeat nothing."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique_privacy.http.problems import ProblemDocument
from pratique_privacy.http.services import Limits
from pratique_privacy.tables import LIMITS
from pratique_shared.runtime.children import ChildDied
from pratique_shared.runtime.telemetry import JsonLines
from tests.unit.privacy.http.world import RELEASE, World, build_world, check_problem

SECRET = "262011234567890"


async def pointers(client: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, str]:
    found = check_problem(await client.post("/releases", json=body), 422, "body-invalid")
    return {error["pointer"]: error["detail"] for error in found["errors"]}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"source": NaN}',
        b'{"a": 1, "a": 2}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": -Infinity}',
    ],
    ids=["empty", "open", "not-utf8", "nan", "key-twice", "abyss", "endless-number", "infinity"],
)
async def test_what_is_no_json_is_a_400(operator: httpx.AsyncClient, raw: bytes) -> None:
    check_problem(await operator.post("/releases", content=raw), 400, "not-json")


@pytest.mark.parametrize(
    ("raw", "code", "pointer"),
    [
        (b'{"source": {"records": [{"a": 1e999}]}}', "number-not-finite", "/source/records/0/a"),
        (b'{"source": {"records": [{"a": "\\ud800"}]}}', "text-not-unicode", "/source/records/0/a"),
        (b'{"a/b": {"\\udfff": 1}}', "text-not-unicode", "/a~1b"),
        (b"[" * 100 + b"]" * 100, "body-too-deep", "/0/0/0/0/0/0/0/0"),
    ],
)
async def test_json_that_would_break_further_on_is_a_422(
    operator: httpx.AsyncClient, raw: bytes, code: str, pointer: str
) -> None:
    body = check_problem(await operator.post("/releases", content=raw), 422, code)
    assert body["errors"][0]["pointer"] == pointer


async def test_a_surrogate_pair_is_ordinary_text(operator: httpx.AsyncClient) -> None:
    raw = json.dumps({**RELEASE, "name": "\U0001f6a2"}).encode()
    assert b"\\ud83d" in raw
    assert (await operator.post("/releases", content=raw)).json()["name"] == "\U0001f6a2"


async def test_every_wrong_field_is_named_by_the_path_that_it_has_in_the_body(operator: httpx.AsyncClient) -> None:
    steps = [{"op": "hmac", "column": "ip", "bits": 50}, {"op": SECRET}, {"column": "ip"}, {"op": "threshold"}]
    body = {
        "source": {"records": [5]},
        "policy": {"steps": steps},
        "attributes": {"sensitive_bins": {"a/b": {}}},
        "gate": {"k": {}},
        "atacks": None,
    }
    found = await pointers(operator, body)
    assert found == {
        "/source/records/0": "must be an object",
        "/policy/steps/0/bits": "must be a multiple of 4",
        "/policy/steps/1": found["/policy/steps/1"],
        "/policy/steps/2": "give `op`, the operation",
        "/policy/steps/3/column": "is required",
        "/policy/steps/3/tau": "is required",
        "/attributes/sensitive_bins/a~1b": "give either quantile or edges",
        "/gate/k": "give min or max",
        "/atacks": "is no field here: check its spelling",
    }
    assert "'hmac'" in found["/policy/steps/1"]


async def test_no_refusal_repeats_a_value_of_the_body(operator: httpx.AsyncClient) -> None:
    bodies: list[Any] = [
        {**RELEASE, "policy": {"steps": [{"op": SECRET, "column": "a"}]}},
        {**RELEASE, "policy": SECRET},
        {**RELEASE, "pilot": "!" + SECRET},
        {**RELEASE, "source": {"capture": SECRET}},
        {**RELEASE, "source": {"records": SECRET}},
        {**RELEASE, "attacks": {"repetitions": SECRET}},
        {**RELEASE, "gate": {"k": {"min": "x" + SECRET}}},
        SECRET,
        [SECRET],
    ]
    for body in bodies:
        answer = await operator.post("/releases", json=body)
        assert answer.status_code == 422
        assert SECRET not in answer.text


async def test_a_policy_of_the_wrong_kind_is_one_complaint_about_the_policy(operator: httpx.AsyncClient) -> None:
    assert list(await pointers(operator, {**RELEASE, "policy": 7})) == ["/policy"]
    assert list(await pointers(operator, {**RELEASE, "policy": {"steps": 7}})) == ["/policy/steps"]


async def test_paths_and_methods_that_there_are_not_are_problems_too(operator: httpx.AsyncClient) -> None:
    check_problem(await operator.get("/no/such/path"), 404, "path-unknown")
    answer = await operator.patch("/policies/mine")
    check_problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "GET, HEAD, PUT"
    elsewhere = await operator.patch("/openapi.json")
    check_problem(elsewhere, 405, "method-not-allowed")
    assert "GET" in elsewhere.headers["allow"]


async def test_of_many_wrong_fields_the_first_are_named_and_the_rest_counted(operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/releases", json={**RELEASE, "source": {"records": [0] * 50}})
    body = check_problem(answer, 422, "body-invalid")
    assert (len(body["errors"]), body["more_errors"]) == (20, 30)
    assert ProblemDocument.model_validate(body).more_errors == 30
    few = check_problem(await operator.post("/releases", json={**RELEASE, "odd": 1}), 422, "body-invalid")
    assert "more_errors" not in few


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=ten", "status=odd", "after=x"])
async def test_a_wrong_parameter_is_named(operator: httpx.AsyncClient, query: str) -> None:
    answer = await operator.get(f"/releases?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/" + query.partition("=")[0]


async def test_a_body_over_its_limit_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    world = build_world(tmp_path, Limits(json_bytes=1000, inline_bytes=2000))
    client = await world.client("operator")
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 1
            yield b" " * 100

    check_problem(await client.post("/releases", content=endless()), 413, "body-too-large")
    assert sent < 30


async def test_only_records_of_its_own_make_a_large_body_right(tmp_path: Path) -> None:
    world = build_world(tmp_path, Limits(json_bytes=1000, inline_bytes=100_000))
    client = await world.client("operator")
    large = {**RELEASE, "source": {"records": RELEASE["source"]["records"] * 50}}
    assert (await client.post("/releases", json=large)).status_code == 202
    padded = json.dumps({**RELEASE, "source": {"capture": "cap_" + "0" * 26}}).encode() + b" " * 2000
    check_problem(await client.post("/releases", content=padded), 413, "body-too-large")


@pytest.mark.parametrize(
    "records", [b'{"a":1},' * 250_001, b'{"a":[' + b"1," * 1_000_001 + b"1]},"], ids=["objects", "values"]
)
async def test_a_body_of_more_values_than_memory_should_hold_is_refused_before_it_is_read(
    operator: httpx.AsyncClient, records: bytes
) -> None:
    body = b'{"source": {"records": [' + records + b'{"a": 1}]}}'
    found = check_problem(await operator.post("/releases", content=body), 413, "body-too-large")
    assert "as a dataset" in found["detail"]


async def test_a_defect_is_answered_without_its_text_and_logged_without_it(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr(world.tables, "admit", broken)
    with caplog.at_level(logging.ERROR):
        answer = await operator.post("/releases", json=RELEASE)
    body = check_problem(answer, 500, "internal-error")
    lines = [JsonLines().format(record) for record in caplog.records if record.name.startswith("pratique")]
    assert body["request_id"] in lines[0]
    assert '"exception": "ValueError"' in lines[0]
    assert SECRET not in answer.text + "".join(lines)


async def test_a_table_that_kills_its_child_is_an_answer(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dead(*_: object, **__: object) -> None:
        raise ChildDied()

    monkeypatch.setattr(world.tables, "admit", dead)
    body = check_problem(await operator.post("/releases", json=RELEASE), 422, "table-too-heavy")
    assert f"{LIMITS.memory >> 30} GiB" in body["detail"]
