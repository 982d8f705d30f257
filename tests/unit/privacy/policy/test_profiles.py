"""The profiles of rows are published honestly: what leaves keep, and counts under the names of families."""

import json
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from pratique_privacy.policy.families import FAMILY, ancestors_of
from pratique_shared.contracts.policy import Policy
from tests.unit.privacy.policy.released import policy_of, refusal, release

STEP: dict[str, object] = {"column": "protocol_packets", "op": "optimal_generalise", "gamma": 0.25}
FRUIT = {"apple": ["core"], "pear": ["core"], "plum": ["stone"], "peach": ["stone"], "cherry": ["stone"]}

Counts = Mapping[str, int]


def profiles(rows: list[object], **change: object) -> list[Counts | str | None]:
    """Return the column after the step, objects read back."""
    given = [{"v": 1, "protocol_packets": row} for row in rows]
    texts = release(given, {**STEP, **change}).table["protocol_packets"].to_list()
    return [json.loads(text) if text and text.startswith("{") else text for text in texts]


def test_a_known_profile_is_cut_where_it_stands_out() -> None:
    # A quarter of 40 goes to families; what a family holds in all never changes, and what is not there gives nothing.
    (made,) = profiles([{"apple": 16, "pear": 0, "plum": 24}], taxonomy=FRUIT)
    assert isinstance(made, dict)
    assert sum(made.values()) == 40
    assert made.get("apple", 0) + made.get("pear", 0) + made["core"] == 16
    assert made["plum"] + made["stone"] == 24
    assert made["core"] + made["stone"] == 10
    assert "pear" not in made


def test_protocols_have_a_taxonomy_of_their_own() -> None:
    assert ancestors_of("NGAP") == ("SCTP", "SIGNALLING")
    assert ancestors_of("never-heard-of") == ("OTHER", "TRAFFIC")
    assert not {name for name in FAMILY if name != name.casefold()}
    (made,) = profiles([{"ngap": 80, "tcp": 20}])
    assert isinstance(made, dict)
    # Signalling stays signalling: SCTP and its domain hold the same leaves, so one name stands for both.
    assert set(made) <= {"ngap", "SCTP", "tcp", "TCP", "TRAFFIC"}
    assert made["ngap"] + made["SCTP"] == 80
    assert sum(made.values()) == 100


def test_equal_rows_stay_equal_and_the_order_of_rows_changes_no_optimum() -> None:
    rows: list[object] = [{"tcp": 9, "udp": 3}, {"udp": 3, "tcp": 9}, {"dns": 5}, {"tcp": 9, "udp": 3}]
    made = profiles(rows)
    assert made[0] == made[1] == made[3]
    assert made[2] != made[0]


def test_nothing_is_moved_at_no_cost_and_all_is_at_the_greatest() -> None:
    rows: list[object] = [{"apple": 3, "plum": 4}]
    assert profiles(rows, taxonomy=FRUIT, gamma=0) == rows
    assert profiles(rows, taxonomy=FRUIT, gamma=1) == [{"core": 3, "stone": 4}]
    assert profiles(rows, taxonomy=FRUIT, gamma=2, cost=[2]) == [{"core": 3, "stone": 4}]


@pytest.mark.parametrize(
    "cell", ["no object", "{", '{"tcp": -1}', '{"tcp": 1.5}', '{"tcp": true}', '{"tcp": "1"}', "{" + "[" * 100_000]
)
def test_what_is_no_profile_becomes_a_star_and_is_counted(cell: str) -> None:
    made = release([{"v": 1, "protocol_packets": cell}, {"v": 1, "protocol_packets": "*"}], STEP)
    assert made.table["protocol_packets"].to_list() == ["*", "*"]
    assert made.unreadable == {"protocol_packets": 1}


def test_nothing_and_empty_profiles_pass_through() -> None:
    assert profiles([{"tcp": 4}, None, {}, {"tcp": 0}], gamma=0) == [{"tcp": 4}, None, {}, {}]
    assert profiles([None, None]) == [None, None]


def test_the_posture_says_what_was_gained_and_what_can_be_read_back() -> None:
    rows = [{"v": 1, "protocol_packets": {"apple": 8, "pear": 8, "plum": 8}} for _ in range(3)]
    (finding,) = release(rows, {**STEP, "taxonomy": FRUIT, "gamma": 0}).findings
    assert (finding.code, finding.column) == ("profiles-generalised", "protocol_packets")
    # ln 3 = 1.0986; nothing moved, so that every count is what it was.
    assert "from 1.0986 to 1.0986 nats with 0.00 %" in finding.detail
    assert "9 of their 9 positive counts" in finding.detail
    (finding,) = release(rows, {**STEP, "taxonomy": FRUIT, "gamma": 1}).findings
    assert "100.00 %" in finding.detail
    # Apples and pears cannot be told apart any more; three stone fruits share what was plums.
    assert "0 of their 9 positive counts" in finding.detail


def test_a_profile_can_be_drawn_to_the_mean_of_its_role() -> None:
    amf, ue = {"apple": 30, "pear": 10}, {"apple": 10, "pear": 30}
    rows = [
        *({"v": 1, "role": "AMF", "protocol_packets": amf} for _ in range(9)),
        *({"v": 1, "role": "UE", "protocol_packets": ue} for _ in range(9)),
        {"v": 1, "role": "UE", "protocol_packets": amf},
    ]
    step = {**STEP, "taxonomy": FRUIT, "gamma": 0.25}
    made = release(rows, {**step, "target": "role"}).table["protocol_packets"].to_list()
    assert made[0] != made[18]
    # In its own role it moves pears, which it has too few of as well as an AMF can; as a UE it moves apples.
    assert json.loads(made[18]) == {"apple": 20, "core": 10, "pear": 10}
    plain = release(rows, step).table["protocol_packets"].to_list()
    assert plain[0] == plain[18]


def test_a_role_that_is_not_there_cannot_be_a_target() -> None:
    rows = [{"v": 1, "protocol_packets": {"tcp": 1}}]
    refused = refusal("column-unknown", lambda: release(rows, {**STEP, "target": "role"}))
    assert refused.errors[0].pointer == "/policy/steps/0/target"


def test_a_taxonomy_that_misses_names_refuses_with_their_number_only() -> None:
    rows = [{"v": 1, "protocol_packets": {"apple": 1, "secret": 2, "other": 1}}]
    refused = refusal("hierarchy-gap", lambda: release(rows, {**STEP, "taxonomy": FRUIT}))
    assert refused.detail.startswith("2 names")
    assert "secret" not in refused.detail + refused.errors[0].detail
    assert refused.errors[0].pointer == "/policy/steps/0/taxonomy"


def test_only_text_holds_profiles() -> None:
    refused = refusal("op-not-applicable", lambda: release([{"v": 1, "protocol_packets": 3}], STEP))
    assert refused.errors[0].pointer == "/policy/steps/0/column"


@pytest.mark.parametrize(
    "change",
    [
        {"gamma": 1.01},
        {"gamma": -0.1},
        {"gamma": 2.1, "cost": [1, 2]},
        {"cost": [1]},
        {"cost": [1, -1]},
        {"taxonomy": {}},
        {"taxonomy": {"a": []}},
        {"taxonomy": {"a": ["X"], "b": ["X", "Y"]}},
        {"taxonomy": {"a": ["b"], "b": ["X"]}},
        {"taxonomy": {"a": ["X", "Y"], "b": ["X", "Z"]}},
        {"taxonomy": {"a": ["X", "Y"], "b": ["Z", "X"]}},
        {"taxonomy": {"a": ["*"]}},
        {"target": "mean"},
    ],
)
def test_a_step_that_cannot_stand_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        policy_of({**STEP, **change})


def test_one_name_may_stand_for_one_group_at_two_levels() -> None:
    assert isinstance(policy_of({**STEP, "taxonomy": {"a": ["X", "X"], "b": ["Y", "Y"]}}), Policy)
