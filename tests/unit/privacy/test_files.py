"""Released files: anew, in no telling order, equal to what was measured."""

import io
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.files import (
    FORMATS,
    ReleaseBlocked,
    publishable,
    read_file,
    verify_files,
    write_files,
)
from pratique_privacy.metrics.measure import measure
from pratique_shared.contracts.posture import Metrics, PpiParameters
from pratique_shared.frames.records import LIST, table_of

SECRET = "001019876543210"
AWKWARD = table_of(
    [
        {"t": "", "l": ["b", "a"], "n": 0.1, "i": 3, "b": True},
        {"t": None, "l": [], "n": 1e22, "i": -(2**63), "b": None},
        {"t": 'q"uo,te\r\nnew\nline', "l": None, "n": -0.0, "i": None, "b": False},
        {"t": " lead", "l": ['a"b,c', "é", ""], "n": 1 / 3, "i": 2**63 - 1, "b": True},
        {"t": "=1+1", "l": [""], "n": None, "i": 0, "b": True},
        {"t": "null", "l": ["null"], "n": 5e-324, "i": 1, "b": False},
        {"t": "1", "l": ["1"], "n": 5.0, "i": 1, "b": False},
    ]
)


def figures(table: pl.DataFrame) -> Metrics:
    return measure(table, ["t"], ["l", "n"] if "l" in table.columns else [], ppi=PpiParameters())


def test_every_format_gives_the_table_back_and_the_figures_with_it() -> None:
    decoded = verify_files(write_files(AWKWARD), AWKWARD, figures(AWKWARD), figures)
    assert list(decoded) == list(FORMATS)
    right = publishable(AWKWARD)
    for table in decoded.values():
        assert table.rows() == right.rows()
        assert table.schema == right.schema


def test_csv_tells_null_from_empty_text_and_numbers_from_text() -> None:
    table = table_of(
        [{"t": "", "n": 1, "l": ["a", "b"]}, {"t": None, "n": None, "l": None}, {"t": "1", "n": 2, "l": []}]
    )
    assert write_files(table)["csv"].decode().split("\r\n") == [
        '"t","n","l"',
        ",,",
        '"",1,"[""a"",""b""]"',
        '"1",2,"[]"',
        "",
    ]


def test_minus_zero_and_nan_leave_as_zero_and_null() -> None:
    csv = write_files(pl.DataFrame({"n": [-0.0, float("nan"), 1.5]}))["csv"]
    assert csv.decode().split("\r\n") == ['"n"', "", "0.0", "1.5", ""]


def test_rows_stand_in_the_order_of_their_values_nulls_first() -> None:
    table = table_of([{"a": a, "b": b} for a, b in (("y", ["z"]), ("x", ["b"]), (None, []), ("x", None), ("x", ["a"]))])
    assert publishable(table).rows() == [(None, []), ("x", None), ("x", ["a"]), ("x", ["b"]), ("y", ["z"])]


def test_equal_tables_give_equal_bytes_whatever_the_order_of_their_rows() -> None:
    files = write_files(AWKWARD)
    assert write_files(AWKWARD.reverse()) == files
    assert write_files(pl.concat([AWKWARD.slice(3), AWKWARD.slice(0, 3)], rechunk=False)) == files


def test_bytes_do_not_depend_on_the_number_of_threads() -> None:
    # More rows than a row group, so that a writer left to itself would cut by threads.
    code = (
        "import hashlib, polars as pl\n"
        "from pratique_privacy.files import publishable, write_files\n"
        "i = pl.int_range(140_000, eager=True)\n"
        "table = pl.DataFrame({'a': (i * 7919 % 1009).cast(pl.String), 'b': i * 104729 % 140_000})\n"
        "digests = [hashlib.sha256(data).hexdigest() for data in write_files(table).values()]\n"
        "print(pl.thread_pool_size(), publishable(table).n_chunks(), digests)\n"
    )
    said = {}
    for threads in ("1", "5"):
        environment = {**os.environ, "POLARS_MAX_THREADS": threads}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        size, said[threads] = ran.stdout.decode().split(" ", 1)
        assert size == threads
    assert said["1"] == said["5"]
    assert said["5"].startswith("1 ")  # sorting leaves a chunk for each thread, and large ones show in the bytes
    assert said["1"].count("'") == 2 * len(FORMATS)


def test_nothing_of_a_dropped_row_is_in_the_bytes() -> None:
    # Filtered, sliced, categorical and enumerated sources carry the dropped value along in polars.
    raw = pl.DataFrame({"t": ["a", SECRET, "b", "a"], "l": pl.Series([["x"], [SECRET], [], ["x"]], dtype=LIST)})
    kept = raw.filter(pl.col("t") != SECRET)
    sources = [
        kept,
        raw.slice(2, 2),
        kept.with_columns(pl.col("t").cast(pl.Categorical)),
        raw.with_columns(pl.col("t").cast(pl.Enum([SECRET, "a", "b"]))).filter(pl.col("t") != SECRET),
    ]
    for source in sources:
        for form, data in write_files(source).items():
            assert SECRET.encode() not in data, form
            schema = publishable(source).schema
            assert read_file(form, data, schema).schema == {"t": pl.String, "l": LIST}
    # The scan has eyes: the enumerated source itself does hold the value.
    out = io.BytesIO()
    sources[3].write_ipc(out)
    assert SECRET.encode() in out.getvalue()


def test_a_file_that_holds_something_else_blocks_the_release() -> None:
    table = table_of([{"t": "x"}, {"t": "x"}, {"t": "y"}, {"t": "y"}])
    files = write_files(table)
    wrong = write_files(table_of([{"t": "x"}, {"t": "x"}, {"t": "x"}, {"t": "y"}]))
    for form in FORMATS:
        with pytest.raises(ReleaseBlocked) as caught:
            verify_files({**files, form: wrong[form]}, table, figures(table), figures)
        assert caught.value.code == "reported-differs"


def test_figures_that_were_reported_otherwise_block_the_release() -> None:
    table = table_of([{"t": "x"}, {"t": "x"}, {"t": "y"}])
    right = figures(table)
    for wrong in ({"k": 2}, {"k_rw": 1.0}, {"uniques": 0}, {"t": 0.5}):
        with pytest.raises(ReleaseBlocked):
            verify_files(write_files(table), table, right.model_copy(update=wrong), figures)


def test_an_empty_release_can_be_written_and_read() -> None:
    empty = AWKWARD.head(0)
    decoded = verify_files(write_files(empty), empty, figures(empty), figures)
    assert {table.height for table in decoded.values()} == {0}


def test_parquet_carries_no_metadata_but_its_schema() -> None:
    assert set(pl.read_parquet_metadata(io.BytesIO(write_files(AWKWARD)["parquet"]))) <= {"ARROW:schema"}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.none() | st.text(max_size=6),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.lists(st.text(max_size=3), max_size=3),
        ),
        max_size=8,
    )
)
def test_any_text_number_and_list_survives_every_format(
    cells: list[tuple[str | None, float | None, list[str] | None]],
) -> None:
    schema = pl.Schema({"t": pl.String(), "n": pl.Float64(), "l": LIST})
    table = pl.DataFrame(cells, schema=schema, orient="row")
    decoded = verify_files(write_files(table), table, figures(table), figures)
    assert len(decoded) == 4
    assert all(found.equals(publishable(table)) for found in decoded.values())


def test_a_column_alone_survives_with_its_nulls() -> None:
    table = pl.DataFrame({"t": [None, "", None, "x"]})
    decoded = verify_files(write_files(table), table, figures(table), figures)
    assert [found["t"].to_list() for found in decoded.values()] == [[None, None, "", "x"]] * 4
