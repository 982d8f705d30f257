"""Canonical JSON: one text, and one digest, for equal values."""

import hashlib

import pytest

from pratique_shared.contracts.canonical import canonical_json, sha256_of_json


def test_keys_are_sorted_and_nothing_is_spaced_or_escaped() -> None:
    assert canonical_json({"z": [1, 2.5, None], "a": {"ü": "é/"}}) == '{"a":{"ü":"é/"},"z":[1,2.5,null]}'


def test_the_digest_is_that_of_the_text() -> None:
    assert sha256_of_json({"b": 1, "a": "ü"}) == hashlib.sha256('{"a":"ü","b":1}'.encode()).hexdigest()
    assert sha256_of_json({"b": 1, "a": 2}) == sha256_of_json({"a": 2, "b": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, object()], ids=["nan", "inf", "set", "object"])
def test_what_json_does_not_have_has_no_text(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json([value])
