"""Bodies: whatever comes, the answer is a contract or a refusal, and never a crash."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.http.body import JsonBody, parse
from pratique_shared.contracts.problems import BadRequest, Unprocessable, pointer
from pratique_shared.contracts.releases import PreviewRequest, ReleaseRequest, StoredPolicy
from tests.unit.privacy.http.world import RELEASE, check_problem

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner))
FULL: dict[str, Any] = {
    **RELEASE,
    "attributes": {"quasi_identifiers": ["ip"], "sensitive_bins": {"x": {"edges": [1, 2]}}, "ordered": {"a": [1, "b"]}},
    "policy": {"steps": [{"op": "hmac", "column": "ip"}, {"op": "class_support", "tau": 2, "exempt": {"column": "a"}}]},
    "ppi": {"k_target": 5, "weights": [0.4, 0.3, 0.3]},
    "attacks": {"partial_qi": {"forget": 0.5}, "seed": 1},
    "gate": {"k": {"min": 2}},
}


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """All places inside a body."""
    entries: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value))
    return [path, *(place for name, entry in entries for place in places(entry, (*path, name)))]


def put(value: Any, path: tuple[str | int, ...], new: object) -> Any:  # noqa: ANN401 - JSON holds anything
    """The body with something else at one place."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@given(place=st.sampled_from(places(FULL)), new=VALUES)
@settings(deadline=None, max_examples=50)
def test_anything_at_any_place_of_a_body_is_a_contract_or_a_refusal(place: tuple[str | int, ...], new: object) -> None:
    raw = json.dumps(put(FULL, place, new)).encode()
    for kind in (ReleaseRequest, PreviewRequest, StoredPolicy):
        for where in refused_pointers(raw, kind):
            # A pointer leads to a place of the body, or to a field that is missing in one.
            known = {pointer(*path) for path in places(json.loads(raw))}
            assert where in known or where.rpartition("/")[0] in known


def refused_pointers(raw: bytes, kind: type[ReleaseRequest] | type[PreviewRequest] | type[StoredPolicy]) -> list[str]:
    """The pointers of the refusal of a body; none for a body that stands and can be written down as a fact."""
    try:
        JsonBody(raw, parse(raw)).as_a(kind).model_dump_json()
    except BadRequest:
        return []
    except Unprocessable as refused:
        return [error.pointer for error in refused.errors] or ["/no-pointer/at-all"]
    return []


@given(raw=st.binary(max_size=200))
@settings(deadline=None, max_examples=50)
def test_any_bytes_are_json_or_a_refusal(raw: bytes) -> None:
    try:
        value = parse(raw)
    except (BadRequest, Unprocessable):
        return
    assert json.loads(raw) == value


@pytest.mark.parametrize("depth", [31, 32])
def test_the_deepest_body_that_is_read_has_32_levels(depth: int) -> None:
    raw = b"[" * (depth + 1) + b"]" * (depth + 1)
    if depth < 32:
        parse(raw)
    else:
        with pytest.raises(Unprocessable, match="body-too-deep"):
            parse(raw)


def test_a_body_shows_nothing_of_itself_in_its_repr() -> None:
    assert "262011234567890" not in repr(JsonBody(b"262011234567890", 262011234567890))


async def test_numbers_have_the_types_of_json_and_a_whole_float_is_an_integer(operator: httpx.AsyncClient) -> None:
    attacks = {"repetitions": 20.0, "seed": 3.0, "partial_qi": {"forget": 1}}
    taken = await operator.post("/releases", json={**RELEASE, "attacks": attacks})
    assert taken.status_code == 202
    for wrong in ("3", True, 3.5):
        answer = await operator.post("/releases", json={**RELEASE, "attacks": {**attacks, "seed": wrong}})
        body = check_problem(answer, 422, "body-invalid")
        assert body["errors"] == [{"pointer": "/attacks/seed", "detail": "must be an integer"}]
