"""Datasets of the user's own, read strictly."""

import json

import polars as pl
import pytest

from pratique_shared.contracts.media import Upload
from pratique_shared.contracts.problems import Problem
from pratique_shared.frames.datasets import read_dataset
from pratique_shared.frames.records import column_types, rows_of


def refused(data: bytes, media: Upload) -> Problem:
    with pytest.raises(Problem) as caught:
        read_dataset(data, media)
    assert caught.value.__cause__ is None
    return caught.value


def csv_column(*cells: str) -> pl.Series:
    return read_dataset(("a,b\r\n" + "".join(f"{cell},x\r\n" for cell in cells)).encode(), "csv")["a"]


def test_csv_with_a_header_a_byte_order_mark_and_quotes() -> None:
    data = '\ufeffip,note,n\r\n10.0.0.1,"a ""b"", c\nd",1\r\n10.0.0.2,,\r\n\r\n'.encode()
    assert rows_of(read_dataset(data, "csv")) == [
        {"ip": "10.0.0.1", "note": 'a "b", c\nd', "n": 1},
        {"ip": "10.0.0.2", "note": None, "n": None},
    ]


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["1", "", "-20"], pl.Int64, [1, None, -20]),
        (["1", "2.5", "1e3"], pl.Float64, [1.0, 2.5, 1000.0]),
        (["001010000000001", "310150123456789"], pl.String, ["001010000000001", "310150123456789"]),
        (["+1", "2"], pl.String, ["+1", "2"]),
        (["-0", "0"], pl.Float64, [0.0, 0.0]),
        (["1", "x"], pl.String, ["1", "x"]),
        ([" 1"], pl.String, [" 1"]),
        (["1_000"], pl.String, ["1_000"]),
        (["١"], pl.String, ["١"]),
        (["NaN", "1"], pl.String, ["NaN", "1"]),
        (["true", "false"], pl.String, ["true", "false"]),
        (["9223372036854775807"], pl.Int64, [2**63 - 1]),
        (["89490200001234567890", "1"], pl.String, ["89490200001234567890", "1"]),
        (["9007199254740993", "0.5"], pl.String, ["9007199254740993", "0.5"]),
        (["1e999"], pl.String, ["1e999"]),
        (["1" * 5000], pl.String, ["1" * 5000]),
        (["", ""], pl.String, [None, None]),
    ],
)
def test_a_csv_column_is_numeric_only_if_no_cell_would_change(
    cells: list[str], dtype: pl.DataType, values: list[object]
) -> None:
    column = csv_column(*cells)
    assert column.dtype == dtype
    assert list(map(repr, column.to_list())) == list(map(repr, values))  # 0.0 is not -0.0 here


def test_a_blank_line_is_a_null_in_a_csv_of_one_column() -> None:
    assert read_dataset(b"a\nx\n\ny\n", "csv")["a"].to_list() == ["x", None, "y"]


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"a,b\n1,2\n1,2,3\n", "csv-ragged-row", "Row 2 "),
        (b"a,b\n1,2\n\n3,4\n", "csv-ragged-row", "Row 2 "),
        (b'a,b\n1,"2\n', "csv-malformed", "Line "),
        (b"a,a\n1,2\n", "csv-duplicate-column", "twice"),
        (b"a,\n1,2\n", "csv-header", "Column 2 "),
        (b",".join(b"c%d" % number for number in range(500_000)) + b"\n", "too-many-columns", "columns"),
        (b"a,b\n", "dataset-empty", "no rows"),
        (b"", "dataset-empty", "no header"),
        (b"a\n\xff\n", "dataset-not-utf8", "UTF-8"),
    ],
)
def test_a_bad_csv_is_refused_with_its_place(data: bytes, code: str, said: str) -> None:
    problem = refused(data, "csv")
    assert problem.code == code
    assert said in problem.detail


def test_ndjson_reads_an_object_a_line() -> None:
    table = read_dataset(b'{"a": 1, "p": ["y", "x"]}\n\n{"a": 2.5}\r\n', "ndjson")
    assert rows_of(table) == [{"a": 1.0, "p": ["x", "y"]}, {"a": 2.5, "p": None}]


@pytest.mark.parametrize(
    "line",
    ["{", "[1]", "7", '{"a": 1, "a": 2}', '{"a": NaN}', '{"a": Infinity}', "[" * 100_000, '{"a": %s}' % ("1" * 5000)],
)
def test_a_bad_ndjson_line_is_refused_with_its_number(line: str) -> None:
    problem = refused(('{"a": 1}\n' + line).encode(), "ndjson")
    assert problem.code == "ndjson-bad-line"
    assert problem.detail.startswith("Line 2 ")


def test_json_reads_rows_and_arrays() -> None:
    rows = [{"a": "x"}, {"a": None}]
    assert rows_of(read_dataset(json.dumps({"rows": rows}).encode(), "json")) == rows
    assert rows_of(read_dataset(json.dumps(rows).encode(), "json")) == rows


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"nonsense", "not-json"),
        (b'{"rows": [{"a": NaN}]}', "not-json"),
        (b'{"rows": [1]}', "json-no-rows"),
        (b'{"rows": 1}', "json-no-rows"),
        (b'{"rows": [{"a": 1}], "more": 1}', "json-no-rows"),
        (b'{"rows": []}', "dataset-empty"),
        (b'{"rows": [{"a": 1}, {"a": "x"}]}', "mixed-types"),
        (b'{"rows": [{"a": 1e999}]}', "number-not-finite"),
        (b'{"rows": [{"a": "\\ud800"}]}', "text-not-unicode"),
    ],
)
def test_bad_json_is_refused_with_a_code(data: bytes, code: str) -> None:
    assert refused(data, "json").code == code


def test_the_types_of_a_dataset_are_told() -> None:
    table = read_dataset(b"ip,n,share\n10.0.0.1,3,0.5\n", "csv")
    assert column_types(table) == [("ip", "text"), ("n", "integer"), ("share", "number")]
