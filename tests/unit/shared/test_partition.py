"""Equivalence classes and codes."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_shared.frames import partition
from pratique_shared.frames.partition import class_labels, class_sizes, coded, column_codes
from pratique_shared.frames.records import LIST, table_of


def test_codes_are_dense_and_by_first_appearance() -> None:
    table = pl.DataFrame({"a": ["y", None, "x", "y", "", None], "b": [7, 7, 5, 5, None, 7]})
    codes = column_codes(table, ["b", "a"])
    assert codes.dtype == np.int32
    assert codes.T.tolist() == [[0, 0, 1, 1, 2, 0], [0, 1, 2, 0, 3, 1]]


def test_numbers_are_equal_by_value_and_nan_is_null() -> None:
    column = pl.Series([5.0, 0.0, -0.0, float("nan"), None, 5.0])
    assert coded(column).codes.tolist() == [0, 1, 1, 2, 2, 0]


def test_lists_are_sets() -> None:
    column = pl.Series([["a", "b"], ["b", "a", "b"], [], None, ["a,b"], []], dtype=LIST)
    found = coded(column)
    assert found.codes.tolist() == [0, 0, 1, 2, 3, 1]
    assert found.first_rows.tolist() == [0, 2, 3, 4]


def test_text_is_compared_by_code_points() -> None:
    column = pl.Series(["é", "e\u0301", "E", "e", "е"])  # the last is Cyrillic
    assert coded(column).codes.tolist() == [0, 1, 2, 3, 4]


def test_a_column_of_nulls_is_one_value() -> None:
    assert coded(pl.Series([None, None])).codes.tolist() == [0, 0]
    assert coded(pl.Series([None, None], dtype=pl.String)).codes.tolist() == [0, 0]


def test_no_rows_have_no_classes_and_no_columns_make_one() -> None:
    empty = pl.DataFrame({"a": [], "b": []}, schema={"a": pl.String, "b": LIST})
    assert class_labels(column_codes(empty, ["a", "b"])).tolist() == []
    assert class_labels(np.empty((3, 0), np.int32)).tolist() == [0, 0, 0]


matrices = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=1, max_size=30)
)


@settings(deadline=None, max_examples=50)
@given(matrices, st.sampled_from([(2**62, 2**16), (2**62, 0), (8, 0), (8, 2**16)]))
def test_labels_part_the_rows_as_their_tuples_do(rows: list[list[int]], limits: tuple[int, int]) -> None:
    matrix = np.array(rows, np.int32)
    whole, floor = partition.RADIX_LIMIT, partition.TABLE_FLOOR
    partition.RADIX_LIMIT, partition.TABLE_FLOOR = limits
    try:
        labels = class_labels(matrix)
    finally:
        partition.RADIX_LIMIT, partition.TABLE_FLOOR = whole, floor
    assert len({(tuple(row), label) for row, label in zip(rows, labels.tolist(), strict=True)}) == len(
        set(map(tuple, rows))
    )
    sizes = class_sizes(labels)
    assert sizes.size == len(set(map(tuple, rows)))
    assert sizes.min() >= 1
    assert sizes.sum() == len(rows)


def test_many_wide_columns_do_not_overflow() -> None:
    # Twelve columns of 1,000 values: 1000^12 tuples are possible, far beyond 64 bits.
    stream = np.random.default_rng(7)
    half = stream.integers(0, 1000, (1000, 12)).astype(np.int32)
    labels = class_labels(np.concatenate([half, half]))
    assert (labels[:1000] == labels[1000:]).all()
    assert class_sizes(labels).tolist() == [2] * 1000


def test_a_missing_key_is_in_the_class_of_null() -> None:
    table = table_of([{"a": None, "s": 1}, {"s": 1}, {"a": "u", "s": 1}])
    assert class_sizes(class_labels(column_codes(table, ["a"]))).tolist() == [2, 1]
