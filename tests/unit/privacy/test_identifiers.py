"""Identifiers of a source, found wherever they stand in what would leave."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.identifiers import identifiers_in, scan_for_identifiers
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.frames.records import table_of

SECRET = "001019876543210"


def scan(cells: list[object], *raw: str) -> int:
    return scan_for_identifiers([table_of([{"cell": cell} for cell in cells])], set(raw))


def test_an_identifier_is_found_whole_at_any_length_and_in_any_type() -> None:
    assert scan(["a", "b"], "a") == 1
    assert scan([17, 4], "17") == 1
    assert scan([310150123456789.0], "310150123456789") >= 1
    assert scan([["x", SECRET], []], SECRET) == 1
    assert scan(["x", None], "") == 0


def test_an_identifier_is_found_as_a_part_from_8_characters_on() -> None:
    assert scan(["imsi-" + SECRET + "@realm"], SECRET) == 1
    assert scan([int("9" + SECRET)], SECRET) == 1
    assert scan(["x12345678y"], "12345678") == 1
    assert scan(["x1234567y"], "1234567") == 0
    assert scan(["0123456789"], "12345678x") == 0


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text("ab", max_size=24), max_size=6, unique=True),
    st.lists(st.text("ab", min_size=1, max_size=12), max_size=6),
)
def test_the_scan_agrees_with_looking_everywhere(cells: list[str], raw: list[str]) -> None:
    right = sum(any(text == one or (len(one) >= 8 and one in text) for one in raw) for text in cells)
    assert scan_for_identifiers([pl.DataFrame({"cell": cells}, schema={"cell": pl.String})], raw) == right


def test_subscribers_of_the_source_are_looked_for_unless_they_are_published_on_purpose() -> None:
    source = table_of([{"imsi": [SECRET], "note": "x"}])
    copied = [table_of([{"note": f"imsi-{SECRET}"}])]
    assert identifiers_in(copied, source, Attributes(quasi_identifiers=("note",), drop=("imsi",))) == 1
    assert identifiers_in(copied, source, Attributes(quasi_identifiers=("note", "imsi"))) == 0


def test_a_short_number_counts_in_its_own_column_alone() -> None:
    source = table_of([{"id": 17, "count": 17}])
    attributes = Attributes(identifiers=("id",), quasi_identifiers=("count",))
    assert identifiers_in([table_of([{"count": 17}])], source, attributes) == 0
    assert identifiers_in([table_of([{"id": 17, "count": 3}])], source, attributes) == 1


def test_the_members_of_an_object_count_one_by_one() -> None:
    source = table_of([{"who": {"sim": {"imsi": SECRET}, "ports": [1, "left-socket"]}}])
    attributes = Attributes(identifiers=("who",), quasi_identifiers=("note",))
    cells = [SECRET, "left-socket", "right-socket", "sim"]
    assert identifiers_in([table_of([{"note": cell} for cell in cells])], source, attributes) == 2
