"""What several releases say together, worked by hand and against the definition."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.composition import MOST_ROWS, Joined, Part, compose, lasting_pseudonyms, source_ids
from pratique_shared.contracts.policy import Policy
from pratique_shared.frames.records import table_of

Steps = list[dict[str, Any]]


def part(column: str, values: list[Any], rows: list[int] | None = None, **tokens: list[Any]) -> Part:
    table = table_of([{column: value} for value in values]).with_columns(pl.Series(n, t) for n, t in tokens.items())
    ids = np.array(range(len(values)) if rows is None else rows, np.int64)
    return Part(table, (column,), ids, {name: f"hmac|deterministic|{name}" for name in tokens})


def test_two_ways_of_cutting_one_table_leave_what_both_leave_together() -> None:
    # Six people by age: {1,2,3} {4,5,6} in one release, {1,2} {3,4} {5,6} in the other; both say {1,2} {3} {4} {5,6}.
    first, second = part("age", list("aaabbb")), part("age", list("uuvvww"))
    found = compose(second, [first], 0.5)
    assert found.joined == (Joined(shared=6, linked=0),)
    assert (found.classes, found.k, found.uniques, found.exact_qi) == (4, 1, 2, 4 / 6)
    # The age is known in both forms or in none: half of 4/6, and half of 1/6.
    assert found.partial_qi == pytest.approx(5 / 12)


def test_fields_of_two_releases_are_forgotten_one_by_one() -> None:
    found = compose(part("age", list("aabb")), [part("town", list("xyxy"))], 0.5)
    # D: none 1, age 2, town 2, both 4; each with 1/4 over four rows.
    assert found.partial_qi == pytest.approx((1 + 2 + 2 + 4) / 4 / 4)
    assert (found.k, found.uniques) == (1, 4)


def test_whether_the_other_release_holds_a_row_is_knowledge_too() -> None:
    own, other = part("age", list("aaaa")), part("age", list("uu"), rows=[0, 1])
    found = compose(own, [other], 0.5)
    assert (found.classes, found.k, found.joined[0].shared) == (2, 2, 2)


def test_a_release_beside_none_is_what_it_is_alone() -> None:
    found = compose(part("age", list("aab")), [], 0.5)
    assert (found.joined, found.k, found.uniques, found.exact_qi) == ((), 1, 1, 2 / 3)


def test_releases_of_other_sources_meet_by_their_pseudonyms_only() -> None:
    own = part("age", list("aaaa"), rows=[0, 1, 2, 3], imsi=["0a", "0b", "0c", None])
    other = part("town", list("xyz"), rows=[90, 91, 92], imsi=["0a", "0b", "0f"])
    found = compose(own, [other], 0.5)
    # The first two rows get a town, the others none: classes of 1, 1 and 2.
    assert found.joined == (Joined(shared=0, linked=2),)
    assert (found.k, found.uniques, found.classes) == (1, 2, 3)
    stranger = Part(other.table, other.quasi_identifiers, other.rows, {"imsi": "hmac|deterministic|subscriber"})
    assert compose(own, [stranger], 0.5).joined == (Joined(0, 0),)


def test_a_pseudonym_of_several_rows_stands_for_the_set_of_what_they_hold() -> None:
    own = part("age", list("aaa"), rows=[0, 1, 2], who=[["0a"], ["0b"], ["0a", "0b"]])
    other = part("town", list("xyyx"), rows=[90, 91, 92, 93], who=["0a", "0a", "0b", "0b"])
    # 0a holds {x, y}, 0b holds {y, x}: the same set.
    assert compose(own, [other], 0.5).joined == (Joined(0, 3),)
    assert compose(own, [other], 0.5).classes == 1
    apart = part("town", list("xyyz"), rows=[90, 91, 92, 93], who=["0a", "0a", "0b", "0b"])
    assert compose(own, [apart], 0.5).classes == 3  # one of the sets, the other, or both


def test_tokens_of_fewer_bits_are_the_beginning_of_longer_ones() -> None:
    own = part("age", list("aa"), rows=[0, 1], imsi=["a1b2c3", "ffeedd"])
    other = part("town", ["x"], rows=[9], imsi=["a1b2"])
    assert compose(own, [other], 0.5).joined == (Joined(0, 1),)


def test_only_pseudonyms_that_come_back_can_be_joined() -> None:
    steps: Steps = [
        {"column": "a", "op": "hmac", "scope": "deterministic"},
        {"column": "b", "op": "hmac", "scope": "per_run"},
        {"column": "c", "op": "crypto_pan", "domain": "address"},
        {"column": "d", "op": "token"},
        {"column": "e", "op": "hmac"},
        {"column": "e", "op": "cell"},
        {"column": "a", "op": "threshold", "tau": 2},
        {"op": "class_support", "tau": 2},
    ]
    found = lasting_pseudonyms(Policy.model_validate({"steps": steps}))
    assert found == {"a": "hmac|deterministic|a", "c": "crypto_pan|per_pilot|address"}


def test_pseudonyms_of_two_keys_of_a_tenant_are_of_two_makers() -> None:
    policy = Policy.model_validate({"steps": [{"column": "a", "op": "hmac", "scope": "deterministic"}]})
    assert lasting_pseudonyms(policy, 1) == lasting_pseudonyms(policy)  # what ledgers from before epochs say
    assert lasting_pseudonyms(policy, 2) == {"a": "hmac|deterministic|a|2"}


def test_equal_numbers_name_the_same_row_of_the_same_table() -> None:
    places: dict[tuple[str, int], int] = {}
    one = source_ids(np.array([0, 2, 3, 4]), ["x", "y"], [3, 2], places)
    two = source_ids(np.array([1, 0]), ["y"], [], places)
    assert one.tolist() == [0, 2, MOST_ROWS, MOST_ROWS + 1]
    assert two.tolist() == [MOST_ROWS + 1, MOST_ROWS]
    assert source_ids(np.array([0, 1]), ["x", "x"], [1, 1], places).tolist() == [0, 2 * MOST_ROWS]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12), st.data())
def test_the_join_agrees_with_its_definition(cells: list[tuple[int, int, int]], data: st.DataObject) -> None:
    kept = sorted(data.draw(st.sets(st.integers(0, len(cells) - 1), min_size=1)))
    own = part("a", [cell[0] for cell in cells])
    others = [part("a", [cells[row][1] for row in kept], kept), part("c", [cell[2] for cell in cells])]
    found = compose(own, others, 0.5)
    known = Counter((a, b if row in kept else None, c) for row, (a, b, c) in enumerate(cells))
    assert (found.classes, found.k) == (len(known), min(known.values()))
    assert found.uniques == sum(count == 1 for count in known.values())
    by_a = {(a, b if row in kept else None) for row, (a, b, _) in enumerate(cells)}
    by_c = {c for _, _, c in cells}
    assert found.partial_qi == pytest.approx((1 + len(by_a) + len(by_c) + len(known)) / 4 / len(cells))


def test_no_row_has_no_figure() -> None:
    empty = Part(pl.DataFrame({"age": pl.Series([], dtype=pl.String)}), ("age",), np.zeros(0, np.int64), {})
    found = compose(empty, [part("age", ["a"])], 0.5)
    assert (found.k, found.classes, found.exact_qi, found.partial_qi) == (None, None, None, None)
    assert compose(part("age", ["a"]), [empty], 0.5).k == 1
