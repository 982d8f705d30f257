"""Mondrian: a partition worked by hand, and what every partition must keep."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.metrics.measure import measure
from pratique_privacy.pipeline import Request, run
from pratique_privacy.policy.keys import Keys
from pratique_privacy.policy.mondrian import mondrian
from pratique_privacy.policy.validity import check_policy
from pratique_shared.contracts.attributes import Attributes, SensitiveBins
from pratique_shared.contracts.policy import Mondrian, Policy
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import PolicyRefused
from pratique_shared.frames.records import LIST, table_of

KEYS = Keys(bytes(32), bytes(32))
Values = list[Any]


def cut(k: int, *columns: pl.Series, sensitive: Values | None = None, **limits: Any) -> list[Values]:  # noqa: ANN401
    step = Mondrian(op="mondrian", k=k, **limits)
    attributes = [] if sensitive is None else [pl.Series("s", sensitive)]
    return [column.to_list() for column in mondrian(list(columns), attributes, step, "/policy/steps/0")]


def test_a_table_of_two_columns_is_cut_as_by_hand() -> None:
    # Both columns span their whole range: age is named first. Its lower median is 30: {20,25,30} and {35,40,60}, and
    # three rows cannot be cut into two parts of two.
    age = pl.Series("age", [20, 25, 30, 35, 40, 60])
    code = pl.Series("zip", [1, 2, 3, 3, 5, 4])
    assert cut(2, age, code) == [["[20,30]"] * 3 + ["[35,60]"] * 3, ["[1,3]"] * 3 + ["[3,5]"] * 3]


def test_the_widest_column_is_cut_first_and_one_value_stays_itself() -> None:
    # a spans its whole range, b too: a is cut at 1. In each half b spans its range and a hundredth: b is cut.
    a = pl.Series("a", [0, 0, 1, 1, 99, 99, 100, 100])
    b = pl.Series("b", list("xyxyxyxy"))
    assert cut(2, a, b) == [["[0,1]"] * 4 + ["[99,100]"] * 4, list("xyxyxyxy")]
    assert cut(2, a) == [a.to_list()]


def test_null_and_star_leave_the_values_beside_them_where_k_allows() -> None:
    column = pl.Series("n", [None, None, "*", "*", "5", "7"])
    assert cut(2, column) == [[None, None, "*", "*", "[5,7]", "[5,7]"]]
    assert cut(2, pl.Series("n", [None, "5", "7"])) == [["{null,[5,7]}"] * 3]
    assert cut(2, pl.Series("n", [None, "*"])) == [["{null,*}"] * 2]


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (pl.Series("ip", ["10.0.0.1", "10.0.0.6"]), "10.0.0.0/29"),
        (pl.Series("ip", ["10.0.0.0/24", "10.0.1.7"]), "10.0.0.0/23"),
        (pl.Series("ip", ["10.0.0.1", "2001:db8::1"]), "{10.0.0.1/32,2001:db8::1/128}"),
        (pl.Series("at", ["2026-01-02T03:04", "2026-01-01T03:04"]), "[2026-01-01T03:04,2026-01-02T03:04]"),
        (pl.Series("role", ["gNB", "AMF"]), "{AMF,gNB}"),
        (pl.Series("on", [True, False]), "{false,true}"),
        (pl.Series("kwh", [2.5, 1.0]), "[1,2.5]"),
        (pl.Series("p", [["DNS"], ["SCTP", "NGAP"]], dtype=LIST), ["DNS", "NGAP", "SCTP"]),
    ],
)
def test_a_part_of_several_values_is_written_by_their_kind(column: pl.Series, cell: object) -> None:
    assert cut(2, column) == [[cell] * 2]


def test_a_set_of_many_texts_is_written_by_its_ends() -> None:
    assert cut(9, pl.Series("t", list("abcdefghi"))) == [["[a,i]"] * 9]


def test_a_cut_that_would_leave_one_sensitive_value_is_not_made() -> None:
    age = pl.Series("age", [1, 1, 2, 2])
    assert cut(2, age, sensitive=["flu", "flu", "cold", "cold"], l=2) == [["[1,2]"] * 4]
    assert cut(2, age, sensitive=["flu", "cold", "cold", "flu"], l=2) == [[1, 1, 2, 2]]
    # Empty values are no diversity; they are a category of closeness.
    assert cut(2, age, sensitive=["flu", "", "cold", "flu"], l=2) == [["[1,2]"] * 4]
    assert cut(2, age, sensitive=["flu", "flu", "flu", "cold"], t=0.25) == [[1, 1, 2, 2]]  # 3/4 : 1/4 against 1 : 0
    assert cut(2, age, sensitive=["flu", "flu", "flu", "cold"], t=0.2) == [["[1,2]"] * 4]


def test_what_no_table_can_keep_is_refused_and_an_empty_table_is_left_alone() -> None:
    for limits in ({"k": 5}, {"k": 2, "l": 3}):
        with pytest.raises(PolicyRefused) as refused:
            cut(limits["k"], pl.Series("a", [1, 2]), sensitive=["x", "y"], l=limits.get("l"))
        assert refused.value.code == "mondrian-infeasible"
    assert cut(2, pl.Series("a", [], dtype=pl.Int64)) == [[]]


cells = st.none() | st.sampled_from(["*", "1", "2", "3.5", "40"])
rows = st.lists(
    st.fixed_dictionaries(
        {
            "n": cells,
            "ip": st.sampled_from(["10.0.0.1", "10.0.0.9", "10.9.0.1", "2001:db8::1"]),
            "p": st.none() | st.sets(st.sampled_from(["DNS", "SCTP", "NGAP"])).map(sorted),
            "m": st.integers(-3, 3),
            "s": st.sampled_from(["", "a", "b", "c"]),
        }
    ),
    min_size=1,
    max_size=40,
)


@settings(deadline=None, max_examples=50)
@given(rows, st.integers(2, 6), st.none() | st.integers(2, 3), st.none() | st.sampled_from([0.0, 0.2, 0.5]))
def test_every_class_keeps_what_was_asked_and_no_row_is_lost(
    records: list[dict[str, Any]], k: int, diversity: int | None, closeness: float | None
) -> None:
    table = table_of(records)
    names = ("n", "ip", "p", "m")
    asked = Request(
        Attributes(quasi_identifiers=names, sensitive=("s",)),
        Policy(steps=(Mondrian(op="mondrian", k=k, l=diversity, t=closeness),)),
        PpiParameters(),
        None,
    )
    filled = {record["s"] for record in records} - {""}
    if len(records) < k or (diversity is not None and len(filled) < diversity):
        with pytest.raises(PolicyRefused):
            run(table, asked, KEYS, bytes)
        return
    made = run(table, asked, KEYS, bytes)
    after = measure(made.table, names, ["s"], ppi=PpiParameters())
    assert after.rows == len(records)
    assert after.k is not None
    assert after.l is not None
    assert after.t is not None
    assert after.k >= k
    assert diversity is None or after.l >= diversity
    assert closeness is None or after.t <= closeness
    assert made.table["s"].to_list() == table["s"].to_list()
    # Neither the order of rows nor anything else decides: the same rows reversed give the same cells.
    again = run(table.reverse(), asked, KEYS, bytes)
    assert again.table.reverse().equals(made.table)


def test_binned_sensitive_values_are_counted_by_their_bins() -> None:
    table = table_of([{"a": n // 2, "s": n} for n in range(8)])
    attributes = Attributes(
        quasi_identifiers=("a",), sensitive=("s",), sensitive_bins={"s": SensitiveBins(edges=(4.0,))}
    )
    step = Mondrian(op="mondrian", k=2, l=2)
    made = run(table, Request(attributes, Policy(steps=(step,)), PpiParameters(), None), KEYS, bytes)
    # 0..3 are one bin and 4..7 the other: no cut along a leaves both on both sides.
    assert made.table["a"].to_list() == ["[0,3]"] * 8
    assert made.after.l == 2


def test_constraints_on_sensitive_values_need_a_sensitive_column() -> None:
    policy = Policy(steps=(Mondrian(op="mondrian", k=2, t=0.5),))
    with pytest.raises(PolicyRefused) as refused:
        check_policy(Attributes(quasi_identifiers=("a",)), policy, {"a": "integer"})
    assert refused.value.code == "sensitive-missing"
    check_policy(Attributes(quasi_identifiers=("a",)), Policy(steps=(Mondrian(op="mondrian", k=2),)), {"a": "integer"})
