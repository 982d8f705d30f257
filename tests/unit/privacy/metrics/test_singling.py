"""Which sets of fields single records out, against their definitions."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.metrics.singling import Exposure, Part, singling
from pratique_shared.frames.partition import column_codes
from pratique_shared.frames.records import table_of
from tests.support.oracle import exposure

Row = tuple[int, ...]


def minimal_sets(rows: list[Row], width: int) -> dict[int, set[Row]]:
    """Return the minimal sets of columns that leave each row alone, by trying all of them."""
    found: dict[int, set[Row]] = {place: set() for place in range(len(rows))}
    for size in range(1, width + 1):
        for subset in combinations(range(width), size):
            counts = Counter(tuple(row[i] for i in subset) for row in rows)
            for place, row in enumerate(rows):
                smaller = any(set(other) < set(subset) for other in found[place])
                if counts[tuple(row[i] for i in subset)] == 1 and not smaller:
                    found[place].add(subset)
    return found


def test_the_pair_of_fields_that_gives_a_record_away_is_worked_out() -> None:
    # a: x x y y, b: 1 2 1 1, c: u u u v. Row 1 is alone by b = 2, row 3 by c = v; row 2 (y, 1, u) shares each of its
    # values, and shares (a, b) with row 3 and (b, c) with row 0: (a, c) is what only it has. Row 0 needs (a, b).
    table = table_of(
        [{"a": a, "b": b, "c": c} for a, b, c in (("x", 1, "u"), ("x", 2, "u"), ("y", 1, "u"), ("y", 1, "v"))]
    )
    found = singling(column_codes(table, ["a", "b", "c"]))
    assert [found.sets_of(row) for row in range(4)] == [[(0, 1)], [(1,)], [(0, 2)], [(2,)]]
    assert found.exposures == (
        Exposure((0,), 2, 2 / 4, 0, 0),
        Exposure((1,), 2, 2 / 4, 1, 1),
        Exposure((2,), 2, 2 / 4, 1, 1),
        Exposure((0, 1), 3, 3 / 4, 2, 1),
        Exposure((0, 2), 3, 3 / 4, 2, 1),
        Exposure((1, 2), 3, 3 / 4, 2, 0),
        Exposure((0, 1, 2), 4, 1.0, 4, 0),
    )
    # Each field stands in two of the four minimal sets, and takes part in singling out two of the four rows.
    assert found.parts() == [Part(2, 2 / 4, 2, 2 / 4)] * 3


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14))
def test_minimal_sets_and_exposure_agree_with_their_definitions(rows: list[Row]) -> None:
    named = [dict(zip("abcd", row, strict=True)) for row in rows]
    found = singling(column_codes(table_of(named), list("abcd")))
    assert {e.subset: e.distinct for e in found.exposures} == exposure(named, list("abcd"))
    truth = minimal_sets(rows, 4)
    assert {row: set(found.sets_of(row)) for row in range(len(rows))} == truth
    for e in found.exposures:
        assert e.minimal == sum(e.subset in sets for sets in truth.values())
        counts = Counter(tuple(row[i] for i in e.subset) for row in rows)
        assert e.uniques == sum(count == 1 for count in counts.values())


def test_a_search_that_would_cost_too_much_stops_at_a_size_and_keeps_the_whole() -> None:
    codes = np.array([[row >> bit & 1 for bit in range(6)] for row in range(64)], np.int32)
    # 6 + 15 + 20 subsets of up to three columns over 64 tuples cost 2,624; four columns would come to 3,584.
    found = singling(codes, work=3000)
    assert found.largest == 3
    assert len(found.exposures) == 6 + 15 + 20 + 1
    assert found.exposures[-1] == Exposure((0, 1, 2, 3, 4, 5), 64, 1.0, 64, 0)
    assert singling(codes, work=1).largest == 2
    assert singling(codes).exposures[-1].minimal == 64


def test_more_than_twelve_columns_are_refused_and_no_rows_expose_nothing() -> None:
    with pytest.raises(ValueError, match="quasi-identifiers"):
        singling(np.zeros((2, 13), np.int32))
    assert singling(np.zeros((0, 2), np.int32)).exposures == ()
    assert singling(np.zeros((0, 2), np.int32)).parts() == [Part(0, 0.0, 0, 0.0)] * 2
