"""The OpenAPI document says what the service does."""

import json
import re
from typing import Any

import httpx

from pratique_privacy.http.access import ANONYMOUS, ROLES, SCRAPED
from pratique_shared.contracts.releases import ReleaseRequest
from tests.unit.privacy.http.world import World


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        operation["operationId"]: {**operation, "path": path}
        for path, found in document["paths"].items()
        for operation in found.values()
    }


async def test_every_operation_is_described_once_with_its_refusals(world: World) -> None:
    found = operations((await world.anonymous().get("/openapi.json")).json())
    assert set(found) == set(ROLES) | ANONYMOUS | SCRAPED
    guarded = set(ROLES) | SCRAPED
    for name, operation in found.items():
        assert operation["tags"], name
        assert operation["description"], name
        assert ("security" in operation) == (name in guarded), name
        if name in guarded:
            assert {"401", "403", "422", "429", "503"} <= operation["responses"].keys(), name
            assert {"Retry-After", "RateLimit", "RateLimit-Policy"} <= operation["responses"]["429"]["headers"].keys()
        if "{" in operation["path"] and name in ROLES and name != "putPolicy":
            assert "404" in operation["responses"], name
        for status, answered in operation["responses"].items():
            if status >= "400" and name != "readyz":
                assert list(answered["content"]) == ["application/problem+json"], (name, status)


async def test_every_reference_leads_somewhere(world: World) -> None:
    text = (await world.anonymous().get("/openapi.json")).text
    document = json.loads(text)
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert names <= document["components"]["schemas"].keys()
    assert "ReleaseRequest" in names
    assert "#/$defs" not in text
    assert "HTTPValidationError" not in text


async def test_the_examples_are_bodies_that_stand(world: World) -> None:
    found = operations((await world.anonymous().get("/openapi.json")).json())
    content = found["createRelease"]["requestBody"]["content"]["application/json"]
    assert content["schema"] == {"$ref": "#/components/schemas/ReleaseRequest"}
    assert set(content["examples"]) == {"built_in", "inline"}
    for example in content["examples"].values():
        ReleaseRequest.model_validate(example["value"])


async def test_the_reference_page_loads_nothing_from_elsewhere(world: World, operator: httpx.AsyncClient) -> None:
    page = await world.anonymous().get("/docs")
    assert "POST /releases" in page.text
    assert not re.search(r"https?://|<script|<link", page.text)
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
