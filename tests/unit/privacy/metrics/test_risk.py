"""Where the exposure of a release comes from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.metrics.risk import (
    Exposure,
    SizeBar,
    SmallClass,
    distinct_counts,
    size_histogram,
    smallest_classes,
    subset_exposure,
)
from pratique_shared.frames.partition import class_labels, class_sizes, column_codes
from pratique_shared.frames.records import table_of
from tests.support.oracle import exposure

TABLE = table_of([{"a": a, "b": b} for a, b in (("x", 1), ("x", 1), ("y", 1), ("z", 2), ("z", 2), ("z", 2))])
CODES = column_codes(TABLE, ["a", "b"])


def test_classes_are_counted_by_size() -> None:
    sizes = class_sizes(class_labels(CODES))
    assert size_histogram(sizes) == [SizeBar(1, 1, 1), SizeBar(2, 1, 2), SizeBar(3, 1, 3)]


def test_the_smallest_classes_come_first_with_a_row_of_theirs() -> None:
    labels = np.array([2, 0, 1, 0, 2, 2], np.int32)
    assert smallest_classes(labels, 2) == [SmallClass(1, 1, 2), SmallClass(0, 2, 1)]
    assert smallest_classes(labels[:0], 2) == []


def test_distinct_values_are_counted_per_column_and_null_is_one() -> None:
    assert distinct_counts(table_of([{"a": "x", "b": 1}, {"a": None, "b": 1}])) == {"a": 2, "b": 1}


def test_exposure_of_every_subset_is_worked_out() -> None:
    # a parts the six rows in 3, b in 2, both in 3.
    assert subset_exposure(CODES) == [
        Exposure((0,), 3, 3 / 6),
        Exposure((1,), 2, 2 / 6),
        Exposure((0, 1), 3, 3 / 6),
    ]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=20))
def test_exposure_agrees_with_its_definition(rows: list[tuple[int, ...]]) -> None:
    named = [dict(zip("abcd", row, strict=True)) for row in rows]
    found = {e.subset: e.distinct for e in subset_exposure(np.array(rows, np.int32))}
    assert found == exposure(named, list("abcd"))
    assert len(found) == 2**4 - 1


def test_more_than_twelve_columns_are_refused_and_no_rows_expose_nothing() -> None:
    with pytest.raises(ValueError, match="quasi-identifiers"):
        subset_exposure(np.zeros((2, 13), np.int32))
    assert subset_exposure(np.zeros((0, 2), np.int32)) == []
