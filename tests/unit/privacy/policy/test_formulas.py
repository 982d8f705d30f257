"""No cell of a release is a formula for a spreadsheet, and no two values become one for it."""

import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.files import read_file, verify_files, write_files
from pratique_privacy.pipeline import Request, fixed_bins, released_figures, run
from pratique_privacy.policy.formulas import neutral, neutralised, restored, restored_table
from pratique_privacy.policy.keys import Keys
from pratique_privacy.policy.validity import check_policy
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import PolicyRefused

EDGY = st.text(st.sampled_from("'=+-@;\t\r\n19.ea*＝"), max_size=6)
KEYS = Keys(tenant=b"t" * 32, run=b"r" * 32)


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r\n=1", "'\r\n'=1"),
        # Where semicolons part cells, one begins within the text.
        ("x;=1+1", "x;'=1+1"),
        ("x;'=1+1;@a;;y", "x;''=1+1;'@a;;y"),
        ("=a;=b", "'=a;'=b"),
        ("x\n=1+1", "x\n'=1+1"),
        ("3;-5;*;=", "3;-5;*;'="),
        ("x; y=1", "x; y=1"),
        ("＝1+1", "'＝1+1"),
        ("'=1+1", "''=1+1"),
        ("-", "'-"),
        # Numbers as text, a suppressed cell, generalised values and pseudonyms are no formulas.
        ("-1", "-1"),
        ("+4.5e-07", "+4.5e-07"),
        ("*", "*"),
        ("", ""),
        ("'tis", "'tis"),
        ("[-10,0)", "[-10,0)"),
        ("192.0.2.0/24", "192.0.2.0/24"),
        ("2001:db8::/64", "2001:db8::/64"),
        ("3c9f04", "3c9f04"),
        ("a=b", "a=b"),
    ],
)
def test_what_a_spreadsheet_would_run_begins_with_an_apostrophe(text: str, released: str) -> None:
    assert neutral(text) == released
    assert restored(released) == text


@settings(max_examples=50, deadline=None)
@given(st.sets(EDGY, max_size=12))
def test_no_two_texts_become_one_and_each_is_found_again(texts: set[str]) -> None:
    made = {neutral(text) for text in texts}
    assert len(made) == len(texts)
    assert {restored(text) for text in made} == texts
    for text in made:
        assert not text.startswith(("=", "@", "\t", "\r", "\n", "＝"))
        assert not [part for part in re.split("[;\r\n]", text) if part.startswith(("=", "@", "\t", "＝"))]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.none() | EDGY, min_size=1, max_size=12))
def test_a_released_table_reads_back_as_it_was_measured_in_every_format(texts: list[str | None]) -> None:
    made = neutralised(pl.DataFrame({"a": pl.Series(texts, dtype=pl.String), "n": range(len(texts))}))
    assert sum(made.cells.values()) == sum(text is not None and neutral(text) != text for text in texts)
    for form, data in write_files(made.table).items():
        back = read_file(form, data, made.table.schema)
        assert restored_table(back).sort("n")["a"].to_list() == texts


def test_formulas_are_neutral_before_anything_is_measured_and_the_posture_counts_them() -> None:
    source = pl.DataFrame(
        {
            "place": ["=A1", "=A1", "'=A1", "plain"],
            "grade": ["-", "+", "-", "+"],
            "tags": [["=x"], ["=x"], ["=x"], ["y"]],
        }
    )
    attributes = Attributes(
        quasi_identifiers=("place",), sensitive=("grade",), insensitive=("tags",), ordered={"grade": ("-", "+")}
    )
    request = Request(attributes, Policy(steps=()), PpiParameters(), None)
    made = run(source, request, KEYS, bytes)
    assert made.table["place"].to_list() == ["'=A1", "'=A1", "''=A1", "plain"]
    assert made.table["tags"].to_list() == source["tags"].to_list()
    assert made.records.formulas_neutralised == {"place": 3, "grade": 4}
    assert "formulas_neutralised" in made.flags
    # A renaming moves no row, and the order of the grades is that of their released names.
    assert made.after == made.before
    assert made.after.t_ordered is not None
    bins = fixed_bins(source, attributes)
    files = write_files(made.table)
    verify_files(files, made.table, made.after, lambda table: released_figures(table, request, bins))
    cells = [cell.strip('"') for line in files["csv"].decode().splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_a_table_without_formulas_stays_as_it_is_and_raises_no_flag() -> None:
    source = pl.DataFrame({"place": ["a", "*", "-1"], "n": [-1, -2, -3]})
    attributes = Attributes(quasi_identifiers=("place",), insensitive=("n",))
    made = run(source, Request(attributes, Policy(steps=()), PpiParameters(), None), KEYS, bytes)
    assert made.table.equals(source)
    assert made.records.formulas_neutralised == {}
    assert "formulas_neutralised" not in made.flags


def test_a_column_that_is_released_has_a_name_that_no_spreadsheet_runs() -> None:
    with pytest.raises(PolicyRefused) as refused:
        check_policy(Attributes(quasi_identifiers=("@x",)), Policy(steps=()), {"@x": "text"})
    assert refused.value.code == "formula-name"
    with pytest.raises(PolicyRefused, match="formula-name"):
        check_policy(Attributes(quasi_identifiers=("x;=1",)), Policy(steps=()), {"x;=1": "text"})
    check_policy(Attributes(quasi_identifiers=("a",), drop=("@x",)), Policy(steps=()), {"a": "text", "@x": "text"})
