"""The schemas that we publish say what we take: neither more nor less."""

from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError

from pratique_privacy.ics.bodies import POSTURE, PROFILES, SCHEMAS, PostureJob, ProfilesJob

GOOD: list[tuple[str, dict[str, Any]]] = [
    (POSTURE, {}),
    (POSTURE, {"pilots": ["lab"], "verdicts": ["fail"], "includeHistory": True}),
    (POSTURE, {"deliveryInfo": {"targetUri": "https://x/"}, "bufferTimeout": {"maxSize": 1, "maxTimeMilliseconds": 0}}),
    (PROFILES, {"columns": ["ip"], "roles": ["AMF"], "format": "ndjson"}),
]
BAD: list[tuple[str, dict[str, Any]]] = [
    (POSTURE, {"gate": {}}),
    (POSTURE, {"verdicts": []}),
    (POSTURE, {"verdicts": ["maybe"]}),
    (POSTURE, {"pilots": [""]}),
    (POSTURE, {"bufferTimeout": {"maxSize": 0, "maxTimeMilliseconds": 5}}),
    (POSTURE, {"bufferTimeout": {"maxSize": 5}}),
    (POSTURE, {"deliveryInfo": {}}),
    (POSTURE, {"deliveryInfo": {"targetUri": "https://x/", "topic": "t"}}),
    (PROFILES, {"policy": "C0"}),
    (PROFILES, {"format": "csv"}),
    (PROFILES, {"includeHistory": True}),
    (PROFILES, {"columns": "ip"}),
]


def takes(kind: str, data: dict[str, Any]) -> bool:
    try:
        (PostureJob if kind == POSTURE else ProfilesJob).model_validate(data)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("kind", "data"), GOOD)
def test_what_the_schema_allows_is_taken(kind: str, data: dict[str, Any]) -> None:
    assert jsonschema_rs.Draft7Validator(SCHEMAS[kind]).is_valid(data)
    assert takes(kind, data)


@pytest.mark.parametrize(("kind", "data"), BAD)
def test_what_the_schema_forbids_is_refused(kind: str, data: dict[str, Any]) -> None:
    assert not jsonschema_rs.Draft7Validator(SCHEMAS[kind]).is_valid(data)
    assert not takes(kind, data)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_is_draft_07_and_closed_at_every_level(kind: str) -> None:
    schema = SCHEMAS[kind]
    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    objects = [schema, *(part for part in schema["properties"].values() if part["type"] == "object")]
    assert len(objects) == 3
    assert {part["additionalProperties"] for part in objects} == {False}
