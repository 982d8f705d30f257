"""Rows of plain values as a typed table."""

import math
from collections.abc import Mapping, Sequence

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_shared.contracts.problems import Unprocessable, pointer
from pratique_shared.frames.records import column_types, rows_of, table_of


def refused(rows: Sequence[Mapping[str, object]], at: str = "") -> tuple[str, str]:
    with pytest.raises(Unprocessable) as caught:
        table_of(rows, at)
    problem = caught.value
    assert problem.__cause__ is None
    assert problem.__suppress_context__ or problem.__context__ is None  # its cause may quote the value
    return problem.code, problem.errors[0].pointer if problem.errors else ""


def test_columns_are_the_union_of_the_keys_and_a_missing_key_is_null() -> None:
    table = table_of([{"b": 1}, {"a": "x"}, {"b": 2, "c": True}])
    assert rows_of(table) == [
        {"b": 1, "a": None, "c": None},
        {"b": None, "a": "x", "c": None},
        {"b": 2, "a": None, "c": True},
    ]


def test_every_json_type_has_one_column_type() -> None:
    row = {"i": 3, "n": 2.5, "t": "x", "b": False, "l": ["a"], "o": {"z": 1, "a": [2]}, "nothing": None}
    table = table_of([row])
    assert column_types(table) == [
        ("i", "integer"),
        ("n", "number"),
        ("t", "text"),
        ("b", "boolean"),
        ("l", "list"),
        ("o", "text"),
        ("nothing", "text"),
    ]
    assert table["o"].to_list() == ['{"a":[2],"z":1}']


def test_numbers_compare_by_value() -> None:
    column = table_of([{"a": v} for v in (5, 5.0, math.nan, -0.0, None, 2**53)])["a"]
    assert column.dtype == pl.Float64
    assert column.to_list() == [5.0, 5.0, None, 0.0, None, 2.0**53]
    assert math.copysign(1, column[3]) == 1


def test_integers_stay_integers_to_the_last_of_64_bits() -> None:
    edges = [2**63 - 1, -(2**63), None]
    assert table_of([{"a": v} for v in edges])["a"].to_list() == edges


def test_a_list_is_a_sorted_set_of_texts() -> None:
    column = table_of([{"a": v} for v in (["b", "a", "b"], [], None, [10, 9], ("x",), ["é", "Z", "a"])])["a"]
    assert column.to_list() == [["a", "b"], [], None, ["10", "9"], ["x"], ["Z", "a", "é"]]


@pytest.mark.parametrize(
    ("first", "second"), [(1, "1"), (1, True), ("x", ["x"]), (1.5, "x"), ({"a": 1}, "x"), (True, 0.0)]
)
def test_two_types_in_a_column_are_refused(first: object, second: object) -> None:
    assert refused([{"x": 1, "a": first}, {"x": 2, "a": None}, {"x": 3, "a": second}]) == ("mixed-types", "/a")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([2**63], "integer-too-large"),
        ([-(2**63) - 1, 0.5], "integer-too-large"),
        ([2**53 + 1, 0.5], "integer-not-exact"),
        ([math.inf], "number-not-finite"),
        ([1, -math.inf], "number-not-finite"),
        (["a\ud800"], "text-not-unicode"),
        ([["\udfff"]], "text-not-unicode"),
        ([{"a": "\ud800"}], "text-not-unicode"),
        ([["a", None]], "list-element"),
        ([["a", True]], "list-element"),
        ([["a", 1.5]], "list-element"),
        ([[["a"]]], "list-element"),
        ([b"bytes"], "value-type"),
        ([{"a": math.nan}], "value-type"),
    ],
)
def test_a_value_that_no_column_can_hold_is_refused_by_name(values: list[object], code: str) -> None:
    assert refused([{"fine": 1, "a": value} for value in values]) == (code, "/a")


def test_a_refusal_points_at_the_column_and_repeats_no_value() -> None:
    with pytest.raises(Unprocessable) as caught:
        table_of([{"a/b~c": "001010123456789"}, {"a/b~c": 1010123456789}], at="/source/records")
    problem = caught.value
    assert problem.errors[0].pointer == "/source/records/a~1b~0c"
    assert "1010123456789" not in repr((problem.detail, problem.errors, problem.args))


def test_a_name_that_is_no_unicode_is_refused() -> None:
    assert refused([{"\ud800": 1}])[0] == "text-not-unicode"


def test_rows_without_any_column_are_refused_and_no_rows_are_an_empty_table() -> None:
    assert refused([{}, {}]) == ("no-columns", "")
    assert table_of([]).shape == (0, 0)


def test_pointer_escapes_its_two_signs() -> None:
    assert pointer("gate", "a/b~c") == "/gate/a~1b~0c"


cells = st.none() | st.text(max_size=4)
rows = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "text": cells,
            "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
            "number": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "yes": st.none() | st.booleans(),
            "set": st.none() | st.lists(st.text(max_size=3), max_size=4),
        },
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None, max_examples=40)
@given(rows.filter(any))
def test_a_table_gives_its_rows_back(given_rows: list[dict[str, object]]) -> None:
    names = {name for row in given_rows for name in row}
    expected = [{name: row.get(name) for name in names} for row in given_rows]
    for row in expected:
        if isinstance(row.get("set"), list):
            row["set"] = sorted(set(row["set"]))  # type: ignore[call-overload]
    assert rows_of(table_of(given_rows)) == expected


@pytest.mark.parametrize("name", ["", "*", "^ip.*$", 'a"b', "a\nb", "\x00kept", "x" * 201])
def test_a_name_that_a_pattern_or_a_file_reads_as_something_else_is_refused(name: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        table_of([{name: 1, "ip": "10.0.0.1"}])
    assert refused.value.code == "column-name"


@pytest.mark.parametrize("name", ["^ip", "ip$", "a*", "größe", "a b", "a/b~c", "a'b", "a,b"])
def test_an_odd_name_that_means_only_itself_is_taken(name: str) -> None:
    assert table_of([{name: 1}]).columns == [name]
