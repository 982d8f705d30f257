"""Suppression: which cells become a star and which rows leave."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.metrics.measure import classes_of
from pratique_shared.frames.partition import with_dropped
from tests.unit.privacy.policy.released import column, release


def test_a_suppressed_column_of_numbers_turns_to_canonical_text() -> None:
    assert column([5.0, 5.0, 2.5, None], {"op": "threshold", "tau": 2}) == ["5", "5", "*", "*"]
    assert column([7, 7, 1], {"op": "threshold", "tau": 2}) == ["7", "7", "*"]
    assert column([True, True, False], {"op": "threshold", "tau": 2}) == ["true", "true", "*"]
    assert column([1e300, 1e300, 0.1], {"op": "threshold", "tau": 2}) == ["1e+300", "1e+300", "*"]


def test_numbers_stay_numbers_where_nothing_is_suppressed() -> None:
    made = release([{"v": 5.0, "w": True}] * 2, {"column": "v", "op": "threshold", "tau": 2})
    assert made.table.schema == {"v": pl.Float64, "w": pl.Boolean}
    assert made.cells_suppressed == {}


def test_operations_on_numbers_go_on_after_the_column_turned_to_text() -> None:
    steps = [{"op": "threshold", "tau": 2}, {"op": "bin", "width": 10}]
    assert column([12.0, 12.0, 3.5], *steps) == ["[10,20)", "[10,20)", "*"]


def test_a_cell_step_leaves_null_alone_and_threshold_counts_it() -> None:
    assert column(["a", None, "*"], {"op": "cell"}) == ["*", None, "*"]
    assert column([1, None], {"op": "cell"}) == ["*", None]
    assert column([["a"], [], None], {"op": "cell"}) == [["*"], ["*"], None]
    assert column(["a", "a", None, None, "b"], {"op": "threshold", "tau": 2}) == ["a", "a", None, None, "*"]


def test_a_rare_list_is_suppressed_as_a_whole() -> None:
    cells = [["b", "a"], ["a", "b", "a"], ["a"], [], []]
    assert column(cells, {"op": "threshold", "tau": 2}) == [["a", "b"], ["a", "b"], ["*"], [], []]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "*", None]), max_size=20), st.integers(1, 6))
def test_threshold_is_one_pass_over_the_column_as_it_stands(values: list[str | None], tau: int) -> None:
    table = pl.DataFrame({"v": values}, schema={"v": pl.String})
    support = Counter(values)
    wanted = [value if support[value] >= tau else "*" for value in values]
    made = release(table, {"column": "v", "op": "threshold", "tau": tau})
    assert made.table["v"].to_list() == wanted
    assert made.cells_suppressed.get("v", 0) == pytest.approx(wanted.count("*") / max(len(values), 1))


ROLES = ["AMF"] * 2 + ["UPF"] * 2 + ["UE"] * 4
ROWS = [{"ip": ip, "role": role} for ip, role in zip("abccdddd", ROLES, strict=True)]


def test_class_support_drops_small_classes_and_names_the_rows_that_stay() -> None:
    # classes by ip: a 1, b 1, c 2, d 4
    made = release(ROWS, {"op": "class_support", "tau": 2}, qi=["ip"])
    assert made.kept.tolist() == [2, 3, 4, 5, 6, 7]
    assert made.kept.dtype == "int64"
    again = release(ROWS, *[{"op": "class_support", "tau": tau} for tau in (2, 3)], qi=["ip"])
    assert again.kept.tolist() == [4, 5, 6, 7]


def test_rows_with_the_rarest_labels_stay_and_ties_go_by_name() -> None:
    # AMF and UPF have two rows each: of one exempt label, the first by name
    step = {"op": "class_support", "tau": 3, "exempt": {"column": "role", "rarest": 1}}
    assert release(ROWS, step, qi=["ip"]).kept.tolist() == [0, 1, 4, 5, 6, 7]
    both = {**step, "exempt": {"column": "role", "rarest": 2}}
    assert release(ROWS, both, qi=["ip"]).kept.tolist() == list(range(8))


def test_missing_and_suppressed_labels_are_no_labels() -> None:
    rows = [{"v": str(place), "role": role} for place, role in enumerate([None, "", "*", "b", "b", "a", "a", "a"])]
    step = {"op": "class_support", "tau": 2, "exempt": {"column": "role", "rarest": 1}}
    assert release(rows, step).kept.tolist() == [3, 4]


def test_labels_may_be_lists_or_numbers() -> None:
    rows = [{"v": str(place), "p": p, "n": n} for place, (p, n) in enumerate([(["x"], 2), (["x"], 10), (["y"], 10)])]
    for label, stays in (("p", [2]), ("n", [0])):
        step = {"op": "class_support", "tau": 2, "exempt": {"column": label, "rarest": 1}}
        assert release(rows, step).kept.tolist() == stays


def test_classes_are_those_of_the_table_as_it_stands() -> None:
    rows = [{"v": f"10.0.0.{n}"} for n in range(3)]
    prefix = {"column": "v", "op": "ip_prefix"}
    support = {"op": "class_support", "tau": 3}
    assert release(rows, prefix, support).table.height == 3
    assert release(rows, support, prefix).table.height == 0


def test_a_dropped_quasi_identifier_is_one_class_and_is_measured_as_a_star() -> None:
    rows = [{"v": str(n), "w": "x"} for n in range(3)]
    made = release(rows, {"column": "v", "op": "drop_column"}, {"op": "class_support", "tau": 3}, qi=["v", "w"])
    assert made.table.columns == ["w"]
    assert with_dropped(made.table, ["v", "w"]).to_dict(as_series=False) == {"w": ["x"] * 3, "v": ["*"] * 3}
    assert classes_of(made.table, ["v"]).tolist() == classes_of(made.table, ["v", "w"]).tolist() == [0, 0, 0]


def test_a_release_may_end_up_empty() -> None:
    rows = [{"v": str(n), "w": [str(n)], "x": n} for n in range(3)]
    after: list[dict[str, object]] = [
        {"column": "v", "op": "hmac"},
        {"column": "w", "op": "hmac"},
        {"column": "x", "op": "quantile", "buckets": 3},
        {"column": "x", "op": "threshold", "tau": 3},
        {"op": "class_support", "tau": 2, "exempt": {"column": "w", "rarest": 1}},
    ]
    made = release(rows, {"op": "class_support", "tau": 2}, *after)
    assert (made.table.height, made.kept.size, made.cells_suppressed) == (0, 0, {})
    assert made.table.columns == ["v", "w", "x"]
    assert with_dropped(made.table, ["gone"]).height == 0
