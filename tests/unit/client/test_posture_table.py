"""The posture table says what was measured, and no more than that."""

from copy import deepcopy
from typing import Any

import pytest

from pratique import render_posture
from pratique.columns import figure, percent
from pratique.posture_table import FLAGS

# The O-RAN table of twelve sessions: classes of 6, 3 and 3 (k=3, l=2, t=1/4, k_rw=54/12).
AFTER = {
    "rows": 12, "classes": 3, "k": 3, "l": 2, "l_entropy": 1.89, "t": 0.25, "t_ordered": None, "k_rw": 4.5,
    "granularity": 0.25, "exact_reid": 0.25, "max_risk": 1 / 3, "uniques": 0, "share_below_k": 0.5,
    "ppi": 0.765, "ppi_prime": 0.885, "by_sensitive": {"sd": {"l": 2, "l_entropy": 1.89, "t": 0.25, "t_ordered": None}},
}  # fmt: skip
BEFORE = {**AFTER, "rows": 513, "classes": 513, "k": 1, "l": 1, "t": 0.9006, "uniques": 513, "exact_reid": 1.0}
POSTURE: dict[str, Any] = {
    "release": "rel_01",
    "status": "completed",
    "verdict": "pass",
    "unit": "host",
    "records": {
        "in": 513,
        "out": 70,
        "survival": 0.136,
        "cells_suppressed": {"ip": 0.1},
        "unreadable": {"ip": 2},
        "survival_by_label": {"AMF": 1.0},
    },
    "before": BEFORE,
    "after": AFTER,
    "all_columns": {"classes": 69, "uniques": 68},
    "ppi_parameters": {"k_target": 5, "l_target": 2, "weights": [0.4, 0.3, 0.3]},
    "attacks": {
        "exact_qi": 0.28,
        "partial_qi": {"exact": 0.24, "estimate": 0.241, "se": 0.004, "ci95": [0.233, 0.249], "repetitions": 20},
        "linkage": {"exact": None, "estimate": 0.36, "se": 0.003, "ci95": [0.354, 0.366], "repetitions": 20},
    },
    "gate": {
        "verdict": "pass",
        "checks": [
            {"metric": "k", "op": ">=", "bound": 3, "value": 3, "status": "pass"},
            {"metric": "t", "op": "max", "bound": 0.5, "value": 0.25, "status": "pass"},
        ],
    },
    "flags": ["few_classes"],
    "policy_sha256": "00",
    "files": {},
}


def without(*names: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - a posture is JSON
    posture = {**deepcopy(POSTURE), **changes}
    for name in names:
        del posture[name]
    return posture


def words_of(text: str, first: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [first])


def test_the_worked_posture_is_shown_before_and_after() -> None:
    text = render_posture(POSTURE)
    assert words_of(text, "Records") == ["Records", "513", "in,", "70", "out:", "13.6", "%", "survive"]
    assert words_of(text, "k")[:4] == ["k", "1", "3", "higher"]
    assert words_of(text, "t")[:4] == ["t", "0.9006", "0.25", "lower"]
    assert words_of(text, "uniques")[:3] == ["uniques", "513", "0"]
    assert words_of(text, "exact_reid")[:5] == ["exact_reid", "100.0", "%", "25.0", "%"]
    assert words_of(text, "PPI'")[:3] == ["PPI'", "0.885", "0.885"]
    assert "k* 5, l* 2, weights 0.4 0.3 0.3" in text
    assert "68 rows are alone" in text


def test_the_adversaries_stand_with_exact_value_and_interval() -> None:
    text = render_posture(POSTURE)
    assert words_of(text, "exact")[:4] == ["exact", "QI", "28.0", "%"]
    assert "partial QI  24.1 %  exact 24.0 %, 95 %: 23.3 to 24.9 %" in text
    assert "linkage     36.0 %  95 %: 35.4 to 36.6 %" in text


def test_the_gate_stands_check_by_check() -> None:
    lines = [line.strip() for line in render_posture(POSTURE).splitlines()]
    assert "Gate: pass" in lines
    assert "k >= 3    measured 3     pass" in lines
    assert "t <= 0.5  measured 0.25  pass" in lines


def test_hosts_are_said_to_be_machines() -> None:
    assert "machines, not subscribers" in render_posture(POSTURE)
    assert "machines" not in render_posture(without(unit="row"))


@pytest.mark.parametrize("flag", sorted(FLAGS))
def test_a_flag_is_shown_in_words(flag: str) -> None:
    text = " ".join(render_posture(without(flags=[flag])).split())
    assert f"{flag} {FLAGS[flag]}" in text


def test_a_flag_of_a_newer_service_is_not_hidden() -> None:
    assert "new_flag" in render_posture(without(flags=["new_flag"]))


@pytest.mark.parametrize("missing", ["k", "uniques"])
def test_ppi_prime_is_never_shown_without_k_and_uniques(missing: str) -> None:
    text = render_posture(without("before", after={**AFTER, missing: None}))
    assert words_of(text, "PPI'")[1] == "n/a"
    assert "0.885" not in text


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_nobody_is_told_that_a_release_is_safe_and_no_line_is_too_long(width: int) -> None:
    text = render_posture(without(flags=sorted(FLAGS)), width)
    assert "safe" not in text.lower()
    assert max(len(line) for line in text.splitlines()) <= width


def test_a_recipient_sees_one_column() -> None:
    text = render_posture(without("before"))
    assert words_of(text, "after")[:2] == ["after", "better"]
    assert words_of(text, "k")[:3] == ["k", "3", "higher"]


def test_a_running_release_shows_what_is_there() -> None:
    text = render_posture(without("attacks", "gate", "flags", status="attacking", verdict=None))
    assert text.splitlines()[0] == "Release rel_01   not decided   attacking: what is measured so far"
    assert words_of(text, "k")[:3] == ["k", "1", "3"]


def test_an_empty_release_has_no_figures() -> None:
    empty = dict.fromkeys(AFTER) | {"rows": 0, "classes": 0, "by_sensitive": {}}
    records = {"in": 4, "out": 0, "survival": 0.0}
    text = render_posture(
        without(after=empty, records=records, verdict="indeterminate", all_columns=None, flags=["empty_release"])
    )
    assert "INDETERMINATE" in text.splitlines()[0]
    assert words_of(text, "k")[:3] == ["k", "1", "n/a"]
    assert words_of(text, "max_risk")[1:4] == ["33.3", "%", "n/a"]
    assert "nothing is left after suppression" in text


def test_several_sensitive_columns_stand_one_by_one() -> None:
    both = {**AFTER, "by_sensitive": {"sd": {"l": 2, "t": 0.25}, "role": {"l": 4, "t": 0.1}}}
    text = render_posture(without("before", after=both))
    assert [line.split()[:4] for line in text.splitlines() if " of role" in line] == [
        ["l", "of", "role", "4"],
        ["t", "of", "role", "0.1"],
    ]


def test_a_failed_adversary_has_no_figure() -> None:
    failed = {"exact": None, "estimate": None, "ci95": None, "error": "attack-failed"}
    text = render_posture(without(attacks={"exact_qi": 0.28, "linkage": failed, "partial_qi": None}))
    assert words_of(text, "linkage")[:4] == ["linkage", "n/a", "failed:", "attack-failed"]
    assert "partial QI" not in text


def test_a_simulation_that_disagrees_with_the_exact_value_is_said_to() -> None:
    attacks = {"exact_qi": 0.28, "partial_qi": {**POSTURE["attacks"]["partial_qi"], "agrees": False}}
    assert "the two disagree" in render_posture(without(attacks=attacks))


def test_findings_and_earlier_releases_are_named() -> None:
    findings = [{"code": "salted-hash", "column": "ip", "detail": "Guesses can be tested."}]
    text = render_posture(without(findings=findings, prior_releases=[{"release": "rel_00", "created_at": "x"}]))
    assert "salted-hash" in text
    assert "Guesses can be tested." in text
    assert "rel_00" in text


def test_a_join_with_earlier_releases_is_told() -> None:
    joined = {"releases": [{"release": "rel_00"}], "k": 2, "uniques": 0, "classes": 4}
    text = render_posture(without(composition=joined))
    assert "beside 1 releases of this recipient: k 2, alone 0" in text
    nothing = render_posture(without(composition={**joined, "k": None, "uniques": None}))
    assert "k n/a, alone n/a" in nothing


def test_no_label_of_a_record_steers_the_terminal() -> None:
    records = {**POSTURE["records"], "survival_by_label": {"\x1b[31mred\nline": 0.5}}
    text = render_posture(without(records=records))
    assert "\x1b" not in text
    assert "?[31mred?line 50.0 %" in text


def test_a_null_is_never_a_number() -> None:
    assert (figure(None), percent(None)) == ("n/a", "n/a")
    assert (figure(0), figure(4.5), figure(5.0), figure(1234567), figure(1 / 3)) == (
        "0",
        "4.5",
        "5",
        "1,234,567",
        "0.3333",
    )
    assert (percent(0.136), percent(1)) == ("13.6 %", "100.0 %")


def test_labels_that_lost_records_are_named_hardest_hit_first_and_the_others_are_counted() -> None:
    shares = {"AMF": 1.0, "UE": 0.75, "gNB": 0.0, "SMF": 1.0}
    table = render_posture({**POSTURE, "records": {**POSTURE["records"], "survival_by_label": shares}})
    assert "gNB 0.0 %, UE 75.0 %, the other 2 labels lost none" in table
    many = {f"label-{number:02d}": 0.5 for number in range(11)}
    table = " ".join(render_posture({**POSTURE, "records": {**POSTURE["records"], "survival_by_label": many}}).split())
    assert "label-07 50.0 %, 3 more lost some" in table
    assert "label-08" not in table
