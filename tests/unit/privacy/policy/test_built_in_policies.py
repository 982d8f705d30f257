"""Built-in policies: the eight published configurations, and the digest of a policy."""

import pytest

from pratique_privacy.policy.builtin import BUILT_IN, C4_TAU, attributes_of
from pratique_privacy.policy.digest import policy_sha256
from pratique_privacy.policy.validity import check_policy
from pratique_shared.contracts.captures import HOST_COLUMNS
from pratique_shared.contracts.policy import Policy
from tests.unit.privacy.policy.released import policy_of

PUBLISHED = {
    "C0": (["ip"], ["protocols"], []),
    "C1": (["ip"], ["protocols"], ["hmac"]),
    "C2": (["ip"], ["protocols"], ["ip_prefix"]),
    "C3": (["ip"], ["protocols"], ["ip_prefix"]),
    "C4": (["ip"], ["protocols"], ["ip_prefix", "threshold"]),
    "C5": (["protocols", "protocol_count"], ["role"], []),
    "C6": (["protocol_count"], ["role"], ["bin"]),
    "C7": (["role"], ["protocols"], []),
}


def test_the_eight_configurations_are_the_published_ones() -> None:
    found = {
        name: (list(own.quasi_identifiers), list(own.sensitive), [step.op for step in own.policy.steps])
        for name, own in BUILT_IN.items()
    }
    assert found == PUBLISHED
    assert all(own.name == name and own.title for name, own in BUILT_IN.items())
    assert BUILT_IN["C4"].policy == policy_of(
        {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}, {"column": "ip", "op": "threshold", "tau": C4_TAU}
    )
    assert C4_TAU == 3


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_configuration_stands_on_host_records_and_drops_the_rest(name: str) -> None:
    attributes = attributes_of(BUILT_IN[name], HOST_COLUMNS)
    check_policy(attributes, BUILT_IN[name].policy, HOST_COLUMNS)
    kept = {*BUILT_IN[name].quasi_identifiers, *BUILT_IN[name].sensitive}
    assert set(attributes.drop) == HOST_COLUMNS.keys() - kept
    assert "imsi" in attributes.drop


def test_two_spellings_of_a_policy_have_one_digest() -> None:
    short = policy_of({"op": "ip_prefix", "column": "ip"})
    long = Policy.model_validate_json('{"steps": [{"v6": 64, "column": "ip", "v4": 24, "op": "ip_prefix"}]}')
    assert policy_sha256(short) == policy_sha256(long)
    # sha256sum of {"steps":[{"column":"ip","op":"ip_prefix","v4":24,"v6":64}]}
    assert policy_sha256(short) == "33ae9cd3886235c681622727c942006434276026a6d786640dab2a47220876f7"


def test_any_change_of_a_policy_changes_its_digest() -> None:
    steps = [{"op": "cell", "column": "ä"}, {"op": "cell", "column": "b"}]
    assert len({policy_sha256(policy_of(*order)) for order in (steps, steps[::-1], steps[:1], [])}) == 4
