"""Datasets: tables of the user's own, read strictly from CSV (RFC 4180), NDJSON or JSON.

What is doubtful is refused with the number of its row or line, never guessed and never repeated.
"""

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NoReturn, assert_never

import polars as pl

from pratique_shared.contracts.attributes import MAX_COLUMNS
from pratique_shared.contracts.media import Upload
from pratique_shared.contracts.problems import BadRequest, FieldError, Unprocessable, pointer
from pratique_shared.frames.records import INT64, table_of

# Leading zeros and plus signs are left to text: 001010000000001 is an identity, not a quantity.
INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
EXACT_INTEGERS = 2**53  # beyond, two integers may share one float

Row = dict[str, object]


def read_dataset(data: bytes, media: Upload) -> pl.DataFrame:
    """Return a dataset as a typed table with at least one row.

    CSV: a header, then rows as long as it; an empty cell is null; a column is numeric if every other cell is a number
    as JSON writes it. NDJSON: an object a line. JSON: an array of objects, or `{"rows": [..]}`.
    Raises `Unprocessable`: `dataset-not-utf8`, `dataset-empty`, `csv-malformed`, `csv-header`, `csv-duplicate-column`,
    `csv-ragged-row`, `too-many-columns`, `ndjson-bad-line`, `json-no-rows`, and those of `table_of`; `BadRequest`:
    `not-json`.
    """
    text = _text(data)
    match media:
        case "csv":
            table = _csv_table(text)
        case "ndjson":
            table = table_of(list(_ndjson_rows(text)))
        case "json":
            table = table_of(_json_rows(text))
        case _:
            assert_never(media)
    if not table.height:
        raise Unprocessable("dataset-empty", "The dataset has no rows.")
    return table


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unprocessable("dataset-not-utf8", "The dataset is not UTF-8: convert it and send it again.") from None


def _csv_table(text: str) -> pl.DataFrame:
    rows = _csv_rows(text)
    header = next(rows, [])
    _check_header(header)
    cells = list(rows)
    while cells and not cells[-1] and len(header) > 1:  # blank lines at the end
        cells.pop()
    for number, row in enumerate(cells, start=1):
        # A blank line in a table of one column is a row with an empty cell.
        if len(row) != len(header) and not (len(header) == 1 and not row):
            found = f"Row {number} has {len(row)} cells, the header {len(header)}."
            raise Unprocessable("csv-ragged-row", found)
    columns = zip(*cells, strict=True) if len(header) > 1 else iter([[row[0] if row else "" for row in cells]])
    series = [_csv_column(name, list(column)) for name, column in zip(header, columns, strict=False)]
    return pl.DataFrame(series)


def _csv_rows(text: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        yield from reader
    except csv.Error:
        problem = f"Line {reader.line_num} is no CSV: look for a stray or missing quote."
        raise Unprocessable("csv-malformed", problem) from None


def _check_header(header: list[str]) -> None:
    if not header:
        raise Unprocessable("dataset-empty", "The dataset has no header.")
    if len(header) > MAX_COLUMNS:
        raise Unprocessable("too-many-columns", f"The header has more than {MAX_COLUMNS} columns: leave some out.")
    if "" in header:
        raise Unprocessable("csv-header", f"Column {header.index('') + 1} has no name in the header.")
    doubled = sorted(name for name, count in Counter(header).items() if count > 1)
    if doubled:
        errors = [FieldError(pointer(name), "name each column once") for name in doubled]
        raise Unprocessable("csv-duplicate-column", "The header names a column twice.", errors)


def _csv_column(name: str, cells: list[str]) -> pl.Series:
    filled = [cell for cell in cells if cell]
    for matches, read, dtype in ((INTEGER, int, pl.Int64()), (NUMBER, _float, pl.Float64())):
        if filled and all(map(matches.fullmatch, filled)) and _lossless(filled, read):
            numbers = [read(cell) if cell else None for cell in cells]
            return pl.Series(name, numbers, dtype=dtype)
    return pl.Series(name, [cell or None for cell in cells], dtype=pl.String)


def _float(cell: str) -> float:
    return float(cell) + 0.0  # turns -0.0 into 0.0


def _lossless(cells: list[str], read: Callable[[str], float]) -> bool:
    if read is int:
        return all(len(cell) <= 20 and int(cell) in INT64 for cell in cells)
    large = (cell for cell in cells if INTEGER.fullmatch(cell) and len(cell) > 15)
    return all(map(math.isfinite, map(float, cells))) and all(abs(int(cell[:40])) <= EXACT_INTEGERS for cell in large)


def _ndjson_rows(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = _json(line)
        if not isinstance(row, dict):
            raise Unprocessable("ndjson-bad-line", f"Line {number} is no JSON object with distinct keys.")
        yield row


def _json_rows(text: str) -> list[Row]:
    body = _json(text)
    if body is None:
        raise BadRequest("not-json", "The dataset is no JSON with distinct keys and finite numbers.")
    rows = body.get("rows") if isinstance(body, dict) and body.keys() == {"rows"} else body
    if not isinstance(rows, list):
        raise Unprocessable("json-no-rows", 'Give an array of objects, or {"rows": [..]}.')
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            error = FieldError(pointer("rows", str(index)), "give an object")
            raise Unprocessable("json-no-rows", "A row is not an object.", [error])
    return rows


def _json(text: str) -> object:
    """Return the decoded text, or None if it is not strict JSON (a doubled key hides a value, NaN is no JSON)."""
    try:
        decoded: object = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return decoded


def _distinct(pairs: list[tuple[str, object]]) -> Row:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("doubled key")
    return row


def _no_constant(_: str) -> NoReturn:
    raise ValueError("not a JSON number")
