"""The golden transformations: exact tokens under given keys, exact labels, exact rows."""

import json
from typing import Any

import pytest

from pratique_privacy.metrics.measure import classes_of
from pratique_privacy.policy.apply import apply_policy
from pratique_privacy.policy.builtin import BUILT_IN, attributes_of
from pratique_privacy.policy.forms import hmac_hex, ipv4_shaped, salted_hex
from pratique_privacy.policy.keys import Keys
from pratique_shared.frames.partition import class_sizes
from pratique_shared.frames.records import table_of
from tests.support.beside import golden
from tests.unit.privacy.policy.released import KEYS, TENANT, column, entropy, partition, release

# golden name of an operation -> the step that it is
OPERATIONS = {"suppress_direct": "cell", "suppress_threshold": "threshold", "suppress_classes": "class_support"}


def cases(kind: str, *operations: str) -> list[dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in sorted(golden("cases").glob("*.json"))]
    chosen = [case for case in found if case["kind"] == kind and case["input"].get("op") in operations]
    if not chosen:
        pytest.skip(f"no golden case of {operations}")
    return chosen


def of_type(case: dict[str, Any], labels: list[Any], *kinds: type) -> tuple[list[Any], list[Any]]:
    """Return the values of some types, as a column has one, with their labels."""
    pairs = [
        (value, label)
        for value, label in zip(case["input"]["values"], labels, strict=True)
        if value is None or type(value) in kinds
    ]
    return [value for value, _ in pairs], [label for _, label in pairs]


def test_hmac_tokens_are_the_golden_ones_at_every_length() -> None:
    for case in cases("transform", "hmac"):
        key = bytes.fromhex(case["input"]["key_hex"])
        for name, labels in case["expected"].items():
            digits = int(name.removeprefix("bits")) // 4
            for value, label in zip(case["input"]["values"], labels, strict=True):
                if value not in (None, "*"):
                    assert hmac_hex(key, [str(value)])[0][:digits] == label


def test_salted_digests_are_the_golden_ones() -> None:
    for case in cases("transform", "sha256"):
        salt = bytes.fromhex(case["input"]["salt_hex"])
        for name, labels in case["expected"].items():
            bits = int(name.removeprefix("bits"))
            assert [salted_hex(salt, value, bits) for value in case["input"]["values"]] == labels


def test_ipv4_shaped_tokens_are_the_golden_ones() -> None:
    for case in cases("transform", "ipv4_shaped"):
        key = bytes.fromhex(case["input"]["key_hex"])
        assert ipv4_shaped(key, case["input"]["values"]) == case["expected"]["text_message"]


def test_networks_are_the_golden_ones_and_what_is_no_address_becomes_a_star() -> None:
    for case in cases("transform", "ip_prefix"):
        v4, v6 = case["input"]["p"], {24: 64, 16: 48}[case["input"]["p"]]
        step = {"op": "ip_prefix", "v4": v4, "v6": v6}
        assert column(case["input"]["values"], step) == case["expected"]["labels"]


def test_bins_are_the_golden_ones_for_numbers_and_for_their_text() -> None:
    for case in cases("transform", "num_bin"):
        step = {"op": "bin", "width": case["input"]["width"]}
        values, labels = of_type(case, case["expected"]["labels"], int, float)
        assert column(values, step) == labels
        texts = [value if value is None else str(value) for value in case["input"]["values"]]
        assert column(texts, step) == case["expected"]["labels"]


def test_text_prefixes_are_the_golden_ones_by_code_point() -> None:
    for case in cases("transform", "text_prefix"):
        step = {"op": "text_prefix", "n": case["input"]["n"]}
        assert column(case["input"]["values"], step) == case["expected"]["labels"]


def test_protocol_families_are_the_golden_ones() -> None:
    for case in cases("transform", "protocol_family"):
        labels = [label and label.replace("-", "_") for label in case["expected"]["labels"]]
        values, wanted = of_type(case, labels, str)
        single = [place for place, value in enumerate(values) if not value or not set(",;") & set(value)]
        assert column([values[at] for at in single], {"op": "protocol_family"}) == [wanted[at] for at in single]
        sets, families = of_type(case, labels, list)
        found = column(sets, {"op": "protocol_family"})
        assert found == [label and label.split("+") for label in families]


def test_suppression_leaves_the_golden_rows() -> None:
    for case in cases("transform", *OPERATIONS):
        given = case["input"]
        step: dict[str, object] = {"op": OPERATIONS[given["op"]]}
        step |= {ours: given[theirs] for theirs, ours in (("col", "column"), ("tau", "tau")) if theirs in given}
        if "exempt" in given:
            step["exempt"] = {"column": given["label"], "rarest": len(given["exempt"])}
        made = release(given["rows"], step, qi=given.get("qi", [given.get("col")]))
        found = made.table.select("ip", "role").to_dicts()
        assert sorted(map(repr, found)) == sorted(map(repr, case["expected"]["rows"]))


def test_scopes_agree_and_differ_as_the_golden_matrix_says() -> None:
    for case in cases("scopes", "hmac", "ipv4_shaped", "crypto_pan"):
        for check in case["expected"]["checks"]:
            found = [
                column(
                    case["input"]["values"],
                    {"op": case["input"]["op"], "scope": side["scope"].replace("-", "_")},
                    pilot=side["pilot"],
                    keys=run_keys(side["run"]),
                )
                for side in (check["a"], check["b"])
            ]
            assert all(partition(tokens) == [[0, 2], [1]] for tokens in found)
            assert (found[0] == found[1]) == check["same"]
            assert check["same"] or not set(found[0]) & set(found[1])


def run_keys(run: str) -> Keys:
    return Keys(TENANT, run.encode().ljust(32, b"."))


def test_each_built_in_makes_the_golden_classes() -> None:
    found = [json.loads(path.read_text()) for path in sorted(golden("cases").glob("*configs.json"))]
    assert found
    for case in found:
        table = table_of([{**row, "protocols": row["protocols"].split(",")} for row in case["input"]["rows"]])
        for name, wanted in case["expected"].items():
            own = BUILT_IN[name]
            made = apply_policy(
                table, own.policy, attributes_of(own, table.columns), keys=KEYS, pilot=None, entropy=entropy()
            )
            sizes = class_sizes(classes_of(made.table, own.quasi_identifiers))
            assert sorted(sizes.tolist(), reverse=True) == sorted(wanted["metrics"]["class_sizes"], reverse=True)
            assert list(own.quasi_identifiers) == wanted["qi"]
            if name in ("C2", "C3", "C4"):
                assert made.table["ip"].to_list() == wanted["ip_column"]


def test_the_charging_table_keeps_its_golden_seventy_rows() -> None:
    given = json.loads(golden("ev_table.json").read_text())
    made = release(
        given["rows"],
        {"column": "id_tag", "op": "hmac", "scope": "deterministic"},
        {"column": "start_time", "op": "time_bucket", "unit": "hour_of_day"},
        {"op": "class_support", "tau": given["tau"]},
        qi=given["qi"],
        identifiers=["id_tag"],
        pilot=None,
    )
    assert made.table.height == int(given["expected_release"][0])
    assert made.table.group_by(given["qi"]).len()["len"].min() == int(given["expected_release"][1])
    assert set(made.table["start_time"].str.len_chars()) == {2}
