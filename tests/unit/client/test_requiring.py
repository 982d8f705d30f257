"""A pipeline gets a release that passes and is certified, or an exception that says why not; never less."""

import inspect
import math
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique import Client, GateFailed, LocalFault, NotCertified, Profile, Refused, StillRunning
from pratique.profile import METRICS
from pratique.verbs.requiring import Asked
from pratique_shared.contracts.gate import GATE_METRICS
from tests.unit.client.certified import KEY, OTHER, answers, certificate, pem, posture
from tests.unit.client.scripted import Scripted, problem

CHECKS = [
    {"metric": "k", "op": ">=", "bound": 3, "value": 2, "status": "fail"},
    {"metric": "t", "op": "<=", "bound": 0.5, "value": 0.25, "status": "pass"},
]


def gated(verdict: str | None, checks: object = ()) -> dict[str, Any]:
    return posture(verdict=verdict, gate={"verdict": verdict, "checks": checks})


def test_a_clearance_carries_what_a_pipeline_keeps_beside_the_data() -> None:
    with Scripted(*answers()).client() as client:
        cleared = client.require("rel_01", Profile(k=4, linkage=0.3))
    assert (cleared.release, cleared.verdict, cleared.rows, cleared.survival) == ("rel_01", "pass", 8, 0.8)
    assert cleared.records_sha256 == posture()["files"]["parquet"]
    assert cleared.survival_by_label == {"AMF": 1.0}
    assert [(check["metric"], check["status"]) for check in cleared.checks] == [
        ("k", "pass"),  # of the gate
        ("k", "pass"),
        ("linkage", "pass"),
    ]
    assert (cleared.failed_checks, cleared.expired, cleared.verified_by) == ((), False, None)
    assert [(one.scope, one.key_epoch, one.key_fingerprint) for one in cleared.pseudonyms] == [("per_pilot", 1, "0f0f")]
    assert cleared.certificate_url == "http://127.0.0.1:8080/releases/rel_01/certificate"


@pytest.mark.parametrize(
    ("verdict", "told"), [("fail", "fail"), ("indeterminate", "indeterminate"), (None, "indeterminate")]
)
def test_every_verdict_but_pass_is_refused(verdict: str | None, told: str) -> None:
    service = Scripted(*answers(gated(verdict, CHECKS)))
    with service.client() as client, pytest.raises(GateFailed) as caught:
        client.require("rel_01")
    assert (caught.value.verdict, caught.value.checks) == (told, tuple(CHECKS))
    assert str(caught.value) == f"The gate of rel_01 says {told} on k >= 3 (2)."
    assert len(service.asked) == 1  # the certificate is of no interest then


def test_a_verdict_that_its_own_checks_contradict_is_no_pass() -> None:
    with Scripted(*answers(gated("pass", CHECKS))).client() as client, pytest.raises(GateFailed) as caught:
        client.require("rel_01")
    assert caught.value.verdict == "fail"


@pytest.mark.parametrize("gate", [None, {}, {"verdict": "fail", "checks": []}, ["pass"], "pass"])
def test_a_pass_without_a_gate_that_says_so_is_no_pass(gate: object) -> None:
    with Scripted(*answers(posture(gate=gate))).client() as client, pytest.raises(GateFailed):
        client.require("rel_01")


def test_a_certificate_whose_end_has_no_time_zone_is_none(tmp_path: Path) -> None:
    sealed = certificate(posture(), valid_until="2999-01-01T00:00:00")
    with Scripted(*answers(sealed=sealed)).client() as client, pytest.raises(NotCertified) as caught:
        client.require("rel_01")
    assert caught.value.code == "not-a-certificate"


def test_a_running_release_is_not_taken_for_a_passing_one() -> None:
    with Scripted(*answers(posture(status="attacking"))).client() as client, pytest.raises(StillRunning):
        client.require("rel_01")


def test_a_withdrawn_release_is_told_as_such() -> None:
    with Scripted(problem(410, "withdrawn")).client() as client, pytest.raises(Refused) as caught:
        client.require("rel_01")
    assert caught.value.code == "withdrawn"


@pytest.mark.parametrize(
    ("profile", "verdict", "failed"),
    [
        (Profile(k=5), "fail", ["k"]),
        (Profile(linkage=0.25), "fail", ["linkage"]),  # the upper end of the interval is .3
        (Profile(l=2), "indeterminate", ["l"]),  # not measured
        (Profile(l_entropy=1), "indeterminate", ["l_entropy"]),  # not told at all
        (Profile({"composition.k": {"min": 2}}), "indeterminate", ["composition.k"]),
        (Profile(k=5, l=2), "fail", ["k", "l"]),
    ],
)
def test_a_profile_is_held_beside_the_gate_and_what_is_missing_is_no_pass(
    profile: Profile, verdict: str, failed: list[str]
) -> None:
    with Scripted(*answers()).client() as client, pytest.raises(GateFailed) as caught:
        client.require("rel_01", profile)
    assert caught.value.verdict == verdict
    assert [check["metric"] for check in caught.value.failed] == failed
    assert str(caught.value).startswith(f"rel_01 does not keep to the profile: {verdict} on ")


def test_a_profile_knows_every_figure_that_a_gate_may_bound() -> None:
    assert sorted(METRICS) == sorted(GATE_METRICS)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, 10**400, True, "9", [9]])
def test_what_is_no_finite_number_passes_no_bound(value: object) -> None:
    told = posture(after={"k": value}, attacks={"linkage": {"exact": value, "ci95": [value, value]}})
    profile = Profile(k=0, linkage=1e9)
    assert [check["status"] for check in profile.checks(told)] == ["indeterminate", "indeterminate"]


def test_an_adversary_is_held_at_its_exact_value_and_one_that_failed_at_none() -> None:
    assert [check["value"] for check in Profile(partial_qi=0.1, exact_qi=1).checks(posture())] == [0.1, 0.2]
    failed = posture(attacks={"partial_qi": {"exact": 0.0, "ci95": [0, 0], "error": "task-crashed"}})
    assert Profile(partial_qi=1).checks(failed)[0]["status"] == "indeterminate"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "profile-empty"),
        ({"K": 3}, "metric-unknown"),
        ({"classes": 3}, "bound-wrong"),  # neither direction is the safe one
        ({"k": {}}, "bound-wrong"),
        ({"k": {"mim": 3}}, "bound-wrong"),
        ({"k": math.nan}, "bound-wrong"),
        ({"k": True}, "bound-wrong"),
    ],
)
def test_a_profile_with_a_slip_in_it_is_refused_before_anything_is_asked(asked: dict[str, Any], code: str) -> None:
    service = Scripted()
    with service.client() as client, pytest.raises(LocalFault) as caught:
        client.require("rel_01", asked)
    assert (caught.value.code, service.asked) == (code, [])


def test_a_profile_may_be_a_file_a_dictionary_or_the_gate_of_a_stored_policy(tmp_path: Path) -> None:
    (tmp_path / "round.toml").write_text('k = 4\n[linkage]\nmax = 0.3\n["all_columns.uniques"]\nmax = 9\n')
    (tmp_path / "round.json").write_text('{"steps": [], "gate": {"k": {"min": 4, "max": null}, "linkage": 0.3}}')
    stored = httpx.Response(200, json={"name": "night", "steps": [], "gate": {"k": {"min": 4, "max": None}}})
    ways: list[tuple[Asked, list[httpx.Response]]] = [
        (tmp_path / "round.toml", []),
        (tmp_path / "round.json", []),
        ({"k": {"min": 4}}, []),
        ("night", [stored]),
    ]
    for asked, before in ways:
        with Scripted(*before, *answers()).client() as client:
            assert client.require("rel_01", asked).checks[1]["metric"] == "k"
    service = Scripted(httpx.Response(200, json={"steps": [], "gate": None}))
    with service.client() as client, pytest.raises(LocalFault, match="policy night holds no bounds"):
        client.require("rel_01", "night")


def test_a_certificate_is_verified_by_the_operators_key(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(pem())
    with Scripted(*answers(posture(before={"k": 1}))).client() as client:
        cleared = client.require("rel_01", verify=True, keys=tmp_path / "key.pem")
    assert len(cleared.verified_by or "") == 64
    (tmp_path / "other.pem").write_bytes(pem(OTHER))
    with Scripted(*answers()).client() as client, pytest.raises(NotCertified) as caught:
        client.require("rel_01", verify=True, keys=tmp_path / "other.pem")
    assert caught.value.code == "other-key"


def test_a_posture_that_was_not_signed_is_not_verified(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_bytes(pem())
    sealed, told = certificate(posture()), posture(after={"k": 4, "l": 9, "t": 0.25})
    with Scripted(*answers(told, sealed)).client() as client, pytest.raises(NotCertified) as caught:
        client.require("rel_01", Profile(l=9), verify=True, keys=tmp_path / "key.pem")
    assert caught.value.code == "posture-differs"


@pytest.mark.parametrize(
    ("sealed", "code"),
    [
        (b"{}", "not-a-certificate"),
        (b"<html>", "not-a-certificate"),
        (certificate(posture(), days=0), "expired"),
        (certificate(posture(), release="rel_02"), "posture-differs"),
        (certificate(posture(files={"parquet": "00" * 32})), "posture-differs"),
        (certificate(posture(gate={"verdict": "pass", "checks": []})), "posture-differs"),
    ],
)
def test_a_certificate_of_something_else_clears_nothing_even_unverified(sealed: bytes, code: str) -> None:
    with Scripted(*answers(sealed=sealed)).client() as client, pytest.raises(NotCertified) as caught:
        client.require("rel_01")
    assert caught.value.code == code


def test_what_has_not_changed_is_not_sent_again_and_is_held_anew() -> None:
    service = Scripted(*answers(), httpx.Response(304), httpx.Response(304), problem(410, "withdrawn"))
    with service.client() as client:
        first = client.require("rel_01")
        again = client.require("rel_01", Profile(k=4), known=first)
        assert [request.headers.get("If-None-Match") for request in service.asked] == [None, None, '"p1"']
        assert (again.posture, len(again.checks)) == (first.posture, 2)
        with pytest.raises(GateFailed):
            client.require("rel_01", Profile(k=5), known=first)
        with pytest.raises(Refused):
            client.require("rel_01", known=first)


def test_a_clearance_of_another_release_is_not_gone_by() -> None:
    other = posture(release="rel_02")
    service = Scripted(*answers(), *answers(other, certificate(other, KEY)))
    with service.client() as client:
        client.require("rel_02", known=client.require("rel_01"))
    assert "If-None-Match" not in service.asked[2].headers


def test_a_clearance_prints_neither_posture_nor_certificate() -> None:
    with Scripted(*answers()).client() as client:
        assert "payload" not in repr(client.require("rel_01"))


def test_the_verbs_show_their_signatures_to_help() -> None:
    assert list(inspect.signature(Client.require).parameters)[:3] == ["self", "release", "profile"]
    with Scripted().client() as client:
        assert list(inspect.signature(client.require).parameters)[:2] == ["release", "profile"]
