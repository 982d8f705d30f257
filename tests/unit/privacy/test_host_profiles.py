"""Profiles of the hosts of a capture: equal ones once, over families and domains of protocols."""

import math

import pytest

from pratique_privacy.host_profiles import host_profiles
from pratique_shared.contracts.problems import Unprocessable

HOSTS = {
    "192.0.2.1": {"tls": 4, "http": 2},
    "192.0.2.2": {"http": 2, "tls": 4},
    "192.0.2.3": {"sctp": 6, "tls": 2},
    "192.0.2.4": {},
}


def test_equal_profiles_are_one_and_hosts_without_protocols_have_none() -> None:
    found = host_profiles(HOSTS, [0.0, 0.1], [], 1)
    assert found["leaves"] == ["http", "sctp", "tls"]
    assert found["taxonomy"] == [
        {"http": "TCP", "sctp": "SCTP", "tls": "TCP"},
        {"http": "TRAFFIC", "sctp": "SIGNALLING", "tls": "TRAFFIC"},
    ]
    assert found["hosts"] == [["192.0.2.1", "192.0.2.2"], ["192.0.2.3"]]
    assert [(each["profile"], each["gamma"]) for each in found["results"]] == [(0, 0.0), (0, 0.1), (1, 0.0), (1, 0.1)]


def test_what_stands_above_the_lower_protocol_of_a_family_flattens_it() -> None:
    first = host_profiles(HOSTS, [0.1], [], 1)["results"][0]
    # 2 of 6 and 4 of 6 in one family of two: flat once 2/6 has moved.
    assert first["gamma_crit"] == pytest.approx(1 / 3)
    before = -(1 / 3) * math.log(1 / 3) - (2 / 3) * math.log(2 / 3)
    assert first["entropy_before"] == pytest.approx(before)
    assert before < first["entropy"] < math.log(2)


def test_a_capture_without_protocols_is_refused() -> None:
    with pytest.raises(Unprocessable) as refused:
        host_profiles({"192.0.2.4": {}}, [0.1], [], 1)
    assert refused.value.code == "source-empty"
