"""The OpenAPI document against the service: its examples sent as they stand, and requests made up from its schemas."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import polars as pl
import pytest

from pratique_privacy.http.examples import PLACES
from tests.conformance.made_up import made_up
from tests.conformance.served import Served, served
from tests.support.contract import KEY
from tests.support.examples import EVENTS, JSON, Ask, asks

DRAFT = "https://json-schema.org/draft/2020-12/schema"
# What can only be refused here: the examples name a key of nobody's.
MADE_UP = {"getPublicKey": 404}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture(scope="module")
def document(service: Served) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{service.url}/openapi.json", trust_env=False).json()
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["operationId"]: one for methods in document["paths"].values() for one in methods.values()}


def complaints(document: dict[str, Any], schema: dict[str, Any], value: object) -> list[str]:
    """What is wrong with a value by a schema of the document."""
    whole = {"$schema": DRAFT, **schema, "components": document["components"]}
    return [error.message for error in jsonschema_rs.validator_for(whole).iter_errors(value)]


def test_every_operation_has_an_id_a_summary_and_examples(document: dict[str, Any]) -> None:
    ids = [one["operationId"] for methods in document["paths"].values() for one in methods.values()]
    assert len(ids) == len(set(ids))
    for name, operation in operations(document).items():
        assert operation["summary"], name
        body = operation.get("requestBody", {"content": {}})["content"]
        assert all("examples" in described for media, described in body.items() if media == JSON), name
        good = [answered for status, answered in operation["responses"].items() if status < "300"]
        shown = [one["content"][media] for one in good for media in (JSON, EVENTS) if media in one.get("content", {})]
        assert not shown or any("example" in described for described in shown), name


def test_every_answer_that_the_document_shows_is_one_that_its_schema_allows(document: dict[str, Any]) -> None:
    held = 0
    for name, operation in operations(document).items():
        for status, answered in operation["responses"].items():
            for described in answered.get("content", {}).values():
                if "example" in described:
                    assert complaints(document, described["schema"], described["example"]) == [], (name, status)
                    held += 1
    assert held > 50


def test_every_request_that_the_document_shows_is_answered_as_it_says(
    service: Served, document: dict[str, Any]
) -> None:
    described = operations(document)
    with httpx.Client(
        base_url=service.url, headers={"Authorization": f"Bearer {KEY}"}, trust_env=False, timeout=60
    ) as client:
        sent = list(asks(document))
        assert {ask.operation for ask in sent} == set(described)
        for ask in sent:
            answer = client.request(ask.method, ask.path, content=ask.content, headers=ask.headers)
            client.cookies.clear()  # a session is asked for, and not used
            _check(document, described[ask.operation], ask, answer)


def _check(document: dict[str, Any], operation: dict[str, Any], ask: Ask, answer: httpx.Response) -> None:
    where = (ask.operation, ask.example, answer.status_code, answer.text[:400])
    assert answer.status_code == MADE_UP.get(ask.operation, answer.status_code), where
    assert answer.is_success or ask.operation in MADE_UP, where
    content = operation["responses"][str(answer.status_code)].get("content", {})
    media = answer.headers.get("content-type", "").partition(";")[0]
    assert media in content or not content, where
    if media == JSON:
        assert complaints(document, content[media]["schema"], answer.json()) == [], where


def test_a_reader_of_parquet_fetches_the_parts_that_it_needs(service: Served) -> None:
    url = f"{service.opened}/releases/{PLACES['release_id']}/records"
    read = pl.scan_parquet(url, storage_options={"allow_http": "true"}).select("ip").collect()
    assert read["ip"].to_list() == ["192.0.2.0/24", "192.0.2.0/24"]
    assert 206 in service.statuses


def test_requests_that_follow_or_break_the_document_are_answered_as_it_says(
    service: Served, document: dict[str, Any], tmp_path: Path
) -> None:
    small = ("--phases=examples,fuzzing", "--max-examples=2", "--generation-deterministic")
    found = made_up(service, tmp_path, *small, timeout=220)
    assert found.code == 0, found.said[-20000:]
    assert found.tested == len(operations(document))


def test_the_answers_shown_hold_no_secret(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    assert "whsec_" not in text
    assert not re.search(r"key_[0-9a-z]{26}\.", text)
