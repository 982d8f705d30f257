"""How the risk of a release is spread over its classes and records."""

from fractions import Fraction

import numpy as np
import pytest

from pratique_privacy.metrics.risk import (
    Below,
    RiskQuantile,
    Side,
    SizeBar,
    SmallClass,
    distinct_counts,
    risk_quantiles,
    share_below,
    size_histogram,
    smallest_classes,
    typical_record,
    worst_record,
)
from pratique_shared.frames.partition import class_labels, class_sizes, column_codes
from pratique_shared.frames.records import table_of

TABLE = table_of([{"a": a, "b": b} for a, b in (("x", 1), ("x", 1), ("y", 1), ("z", 2), ("z", 2), ("z", 2))])
SIZES = class_sizes(class_labels(column_codes(TABLE, ["a", "b"])))  # 2, 1, 3
NONE = np.zeros(0, np.int64)


def test_classes_are_counted_by_size() -> None:
    assert size_histogram(SIZES) == [SizeBar(1, 1, 1), SizeBar(2, 1, 2), SizeBar(3, 1, 3)]


def test_the_smallest_classes_come_first_with_a_row_of_theirs() -> None:
    labels = np.array([2, 0, 1, 0, 2, 2], np.int32)
    assert smallest_classes(labels, 2) == [SmallClass(1, 1, 2), SmallClass(0, 2, 1)]
    assert smallest_classes(labels[:0], 2) == []


def test_distinct_values_are_counted_per_column_and_null_is_one() -> None:
    assert distinct_counts(table_of([{"a": "x", "b": 1}, {"a": None, "b": 1}])) == {"a": 2, "b": 1}


def test_records_below_a_target_stand_in_strictly_smaller_classes() -> None:
    assert share_below(SIZES, (3, 2, 4, 3)) == [Below(2, 1, 1 / 6), Below(3, 3, 1 / 2), Below(4, 6, 1.0)]


def test_the_quantiles_of_risk_go_over_records_not_over_classes() -> None:
    # Risks of the six records, ascending: 1/3 1/3 1/3 1/2 1/2 1. A half has at most 1/3, two thirds at most 1/2.
    shares = [Fraction(0), Fraction(1, 2), Fraction(51, 100), Fraction(2, 3), Fraction(5, 6), Fraction(84, 100)]
    assert [found.size for found in risk_quantiles(SIZES, shares)] == [3, 3, 2, 2, 2, 1]
    assert risk_quantiles(SIZES, [Fraction(1)]) == [RiskQuantile(1.0, 1, 1.0)]


def test_the_worst_record_stands_beside_the_typical_one() -> None:
    assert worst_record(SIZES) == Side(size=1, risk=1.0, rows=1)
    assert typical_record(SIZES) == Side(size=3, risk=1 / 3, rows=3)


@pytest.mark.parametrize("figure", [worst_record, typical_record])
def test_no_record_is_worst_or_typical_where_there_is_none(figure: object) -> None:
    assert callable(figure)
    assert figure(NONE) is None
    assert risk_quantiles(NONE) == []
