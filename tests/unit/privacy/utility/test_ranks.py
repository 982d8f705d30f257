"""What leaves of a table for a utility study: ranks and codes."""

from collections.abc import Sequence

import polars as pl
import pytest

from pratique_privacy.utility.ranks import MOST_RECORDS, ranked
from pratique_shared.contracts.problems import Unprocessable

ROLES = ["AMF"] * 6 + ["UE"] * 7 + ["RIC"] * 5 + ["UPF"] * 2


def hosts(**columns: Sequence[object]) -> pl.DataFrame:
    return pl.DataFrame({"role": ROLES, "packets": list(range(20)), **columns})


def test_labels_of_fewer_than_six_records_become_one_and_codes_follow_the_names() -> None:
    found = ranked(hosts(), ["packets"], "role")
    assert found.labels == ("AMF", "Other", "UE")
    assert [int((found.codes[:, -1] == code).sum()) for code in range(3)] == [6, 7, 7]


def test_values_leave_as_dense_ranks_with_null_first() -> None:
    packets = [None, 900, 7, 7, 900, 31, *[7] * 14]
    found = ranked(
        hosts(packets=packets, note=["b", "a"] * 10, up=[True, False] * 10), ["packets", "note", "up"], "role"
    )
    # 7, 31 and 900 are 1, 2 and 3; null is 0.
    amf = sorted(tuple(row[:3]) for row in found.codes.tolist() if row[3] == 0)
    assert amf == [(0, 2, 2), (1, 1, 1), (1, 2, 2), (2, 1, 1), (3, 1, 1), (3, 2, 2)]


def test_the_order_of_the_rows_says_nothing_of_the_source() -> None:
    table = hosts()
    assert (
        ranked(table, ["packets"], "role").codes.tolist() == ranked(table.reverse(), ["packets"], "role").codes.tolist()
    )


def test_records_without_a_label_are_left_out_and_counted() -> None:
    table = pl.DataFrame({"role": [*ROLES, None, "", "*"], "packets": [*range(20), 1, 2, 3]})
    found = ranked(table, ["packets"], "role")
    assert (len(found.codes), found.unlabelled) == (20, 3)


@pytest.mark.parametrize(
    ("table", "features", "code"),
    [
        (hosts(), ["bytes"], "column-unknown"),
        (hosts(), ["role"], "column-unknown"),
        (hosts(), ["packets", "packets"], "column-unknown"),
        (hosts(), [], "column-unknown"),
        (hosts(protocols=[["TCP"]] * 20), ["protocols"], "feature-type"),
        (hosts().head(6), ["packets"], "too-few-labels"),
        (hosts().tail(7), ["packets"], "too-few-labels"),
        (pl.DataFrame({"role": ["a"], "n": [1]}).sample(MOST_RECORDS + 1, with_replacement=True, seed=1), ["n"],
         "table-too-large"),
    ],
    ids=["unknown", "the label", "twice", "none", "a list", "one label", "rare labels only", "too many records"],
)  # fmt: skip
def test_what_cannot_be_ranked_is_refused(table: pl.DataFrame, features: list[str], code: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        ranked(table, features, "role")
    assert refused.value.code == code
