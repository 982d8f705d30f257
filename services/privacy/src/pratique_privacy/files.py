"""Released files: made anew from plain values, and read back."""

import io
import json
from collections.abc import Callable, Mapping
from typing import assert_never, get_args

import polars as pl

from pratique_shared.contracts.media import Format
from pratique_shared.contracts.posture import Metrics
from pratique_shared.contracts.problems import Conflict
from pratique_shared.frames.records import LIST, set_series, type_word

FORMATS: tuple[Format, ...] = get_args(Format)

ROW_GROUP = 2**17  # fixed: left to itself the writer cuts by the number of threads


class ReleaseBlocked(Conflict):
    """What would leave is not what was measured, or holds what must not leave: nothing is published."""


def publishable(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table as it is published: plain columns, rows sorted by their values, nulls first.

    Every column is built from Python values, so that no buffer, dictionary, category or metadata of the source comes
    along; the order of the rows follows from their values alone.
    """
    plain = pl.DataFrame([_plain(table[name]) for name in table.columns])
    return plain.sort(pl.all(), nulls_last=False).rechunk() if plain.height else plain


def write_files(table: pl.DataFrame) -> dict[Format, bytes]:
    """Return the table in every format; equal tables give equal bytes."""
    plain = publishable(table)
    return {form: _write(plain, form) for form in FORMATS}


def read_file(form: Format, data: bytes, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return the table that a released file holds; CSV and NDJSON are read by `schema`, the others bring their own."""
    match form:
        case "parquet":
            return pl.read_parquet(io.BytesIO(data))
        case "arrow":
            return pl.read_ipc_stream(io.BytesIO(data))
        case "ndjson":
            return pl.read_ndjson(data, schema=dict(schema)) if data else pl.DataFrame(schema=schema)
        case "csv":
            texts = {name: pl.String() if dtype == LIST else dtype for name, dtype in schema.items()}
            table = pl.read_csv(data, schema=texts, raise_if_empty=False)
            return table.with_columns([_lists(table[name]) for name, dtype in schema.items() if dtype == LIST])
        case _:
            assert_never(form)


def verify_files(
    files: Mapping[Format, bytes],
    table: pl.DataFrame,
    expect: Metrics,
    recompute: Callable[[pl.DataFrame], Metrics],
) -> dict[Format, pl.DataFrame]:
    """Read every file back, hold its cells and its recomputed figures against what is reported; return what was read.

    Raises `ReleaseBlocked` (`reported-differs`).
    """
    plain = publishable(table)
    decoded: dict[Format, pl.DataFrame] = {}
    for form, data in files.items():
        decoded[form] = read_file(form, data, plain.schema)
        if decoded[form].schema != plain.schema or not decoded[form].equals(plain):
            raise ReleaseBlocked("reported-differs", f"The {form} file does not hold the table that was measured.")
        if recompute(decoded[form]) != expect:
            raise ReleaseBlocked("reported-differs", f"The {form} file gives other figures than those reported.")
    return decoded


def _plain(column: pl.Series) -> pl.Series:
    values = column.to_list()
    match type_word(column.dtype):
        case "integer":
            return pl.Series(column.name, values, dtype=pl.Int64)
        case "number":
            # NaN is null and -0.0 is 0, as in every figure.
            numbers = [None if value is None or value != value else value + 0.0 for value in values]
            return pl.Series(column.name, numbers, dtype=pl.Float64)
        case "boolean":
            return pl.Series(column.name, values, dtype=pl.Boolean)
        case "list":
            return set_series(column.name, values)
        case "text":
            return pl.Series(column.name, values, dtype=pl.String)


def _write(plain: pl.DataFrame, form: Format) -> bytes:
    out = io.BytesIO()
    match form:
        case "parquet":
            plain.write_parquet(out, compression="zstd", row_group_size=ROW_GROUP)
        case "arrow":
            plain.write_ipc_stream(out, compat_level=pl.CompatLevel.oldest())
        case "ndjson":
            plain.write_ndjson(out)
        case "csv":
            # Text is always quoted, which tells "" from null; a list is its JSON text.
            texts = [_json_texts(plain[name]) for name, dtype in plain.schema.items() if dtype == LIST]
            plain.with_columns(texts).write_csv(out, quote_style="non_numeric", line_terminator="\r\n")
        case _:
            assert_never(form)
    return out.getvalue()


def _json_texts(column: pl.Series) -> pl.Series:
    dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    texts = [None if value is None else dump(value) for value in column.to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)


def _lists(column: pl.Series) -> pl.Series:
    lists = {text: None if text is None else json.loads(text) for text in column.unique().to_list()}
    return set_series(column.name, map(lists.__getitem__, column.to_list()))
