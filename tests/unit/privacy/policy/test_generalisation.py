"""Generalisation: what a value is published as, and that coarsening never splits a class."""

from collections.abc import Mapping
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.privacy.policy.released import column, refusal, release

HOUR: dict[str, object] = {"op": "time_bucket", "unit": "hour"}


@pytest.mark.parametrize(
    ("value", "v4", "v6", "label"),
    [
        ("10.45.3.77", 24, 64, "10.45.3.0/24"),
        ("10.45.3.77", 20, 64, "10.45.0.0/20"),
        ("10.45.3.77", 25, 64, "10.45.3.0/25"),
        ("10.45.3.77", 32, 64, "10.45.3.77/32"),
        ("10.45.3.77", 0, 64, "0.0.0.0/0"),
        ("2001:DB8:1:2:3::4", 24, 64, "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3::4", 24, 0, "::/0"),
        ("::ffff:10.45.3.77", 24, 64, "::/64"),  # IPv6 as it is written
        ("10.45.3.0/24", 16, 48, "10.45.0.0/16"),  # a network is cut once more
        ("10.45.0.0/16", 24, 64, "10.45.0.0/16"),  # and never gets longer
        ("10.45.3.7/24", 24, 64, "10.45.3.0/24"),
        ("10.45.3.077", 24, 64, "*"),
        ("10.45.3", 24, 64, "*"),
        ("10.45.3.256", 24, 64, "*"),
        ("10.45.3.7/33", 24, 64, "*"),
        ("10.45.3.7/", 24, 64, "*"),
        ("fe80::1%eth0", 24, 64, "*"),
        ("10.45.3.7\n", 24, 64, "*"),
        ("", 24, 64, "*"),
    ],
)
def test_an_address_is_published_as_its_network(value: str, v4: int, v6: int, label: str) -> None:
    step = {"op": "ip_prefix", "v4": v4, "v6": v6}
    assert column([value], step) == [label]
    # beside plain IPv4, which takes another path, and in a list
    assert column(["10.0.0.1", value, None], step)[1:] == [label, None]
    assert column([[value]], step) == [[label]]


def test_values_that_no_step_can_read_are_counted_over_rows_and_elements() -> None:
    rows = [{"v": v, "w": w} for v, w in [("x", ["10.0.0.1", "y"]), ("x", ["y", "z"]), ("10.0.0.1", []), ("*", ["*"])]]
    made = release(rows, {"column": "v", "op": "ip_prefix"}, {"column": "w", "op": "ip_prefix"})
    assert made.unreadable == {"v": 2, "w": 3}
    assert made.table["v"].to_list() == ["*", "*", "10.0.0.0/24", "*"]
    assert made.table["w"].to_list() == [["*", "10.0.0.0/24"], ["*"], [], ["*"]]
    assert made.cells_suppressed == {"v": 0.75, "w": 0.5}


@pytest.mark.parametrize(
    ("value", "width", "label"),
    [
        (0.3, 0.1, "[0.3,0.4)"),  # 0.3 / 0.1 is 2.9999999999999996 in floats
        (0.30000000000000004, 0.1, "[0.3,0.4)"),
        (-0.1, 0.1, "[-0.1,0)"),
        (-0.0, 0.25, "[0,0.25)"),
        (7, 2.5, "[5,7.5)"),
        (10**17 + 1, 10.0, "[100000000000000000,100000000000000010)"),
        (1e300, 1e299, None),
        (100, 1000.0, "[0,1000)"),
    ],
)
def test_bins_are_half_open_anchored_at_zero_and_decided_in_decimals(
    value: float, width: float, label: str | None
) -> None:
    wanted = label or f"[1{'0' * 300},11{'0' * 299})"
    assert column([value], {"op": "bin", "width": width}) == [wanted]


def test_numbers_are_read_from_text_and_what_is_none_becomes_a_star() -> None:
    values = ["7", "+7", "7.0", "1e1", "-3", "", " 7", "0x7", "٧", "inf", "nan", "1e999", "*", None]
    found = column(values, {"op": "bin", "width": 5})
    assert found == ["[5,10)", "[5,10)", "[5,10)", "[10,15)", "[-5,0)", *["*"] * 8, None]


@settings(deadline=None, max_examples=50)
@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=20),
        st.lists(st.one_of(st.none(), st.floats(-5, 5).map(lambda x: round(x, 1))), min_size=1, max_size=20),
    ),
    st.integers(2, 12),
)
def test_quantile_buckets_follow_the_count_of_smaller_values(values: list[float | None], buckets: int) -> None:
    there = [value for value in values if value is not None]
    width = len(str(buckets - 1))
    wanted = [
        None
        if value is None
        else f"q{int(Fraction(buckets * sum(other < value for other in there), len(there))):0{width}}"
        for value in values
    ]
    assert column(values, {"op": "quantile", "buckets": buckets}) == wanted
    texts = [None if value is None else str(value) for value in values]
    assert column(texts, {"op": "quantile", "buckets": buckets}) == wanted


def test_a_quantile_of_text_stars_and_counts_what_is_no_number() -> None:
    made = release([{"v": v} for v in ["1", "2", "x", "*", None]], {"column": "v", "op": "quantile", "buckets": 2})
    assert made.table["v"].to_list() == ["q0", "q1", "*", "*", None]
    assert made.unreadable == {"v": 1}


@pytest.mark.parametrize(
    ("value", "unit", "label"),
    [
        ("2025-05-05T14:54:09", "minute", "2025-05-05T14:54"),
        ("2025-05-05T14:54:09", "5_minutes", "2025-05-05T14:50"),
        ("2025-05-05T14:54:09", "15_minutes", "2025-05-05T14:45"),
        ("2025-05-05T14:54:09", "hour", "2025-05-05T14"),
        ("2025-05-05 14:54:09.123456789", "hour", "2025-05-05T14"),
        ("2025-05-05T14:54:09", "day", "2025-05-05"),
        ("2025-05-05T14:54:09", "hour_of_day", "14"),
        ("2025-05-05T04:54", "hour_of_day", "04"),
        ("2025-05-05T14:54:09Z", "hour", "2025-05-05T14Z"),
        ("2025-05-06T01:30:00+02:00", "hour", "2025-05-05T23Z"),
        ("2025-05-06T01:30:00+0200", "day", "2025-05-05"),
        ("2025-05-05", "day", "2025-05-05"),
        ("2025-05-05", "hour", "*"),  # a date has no hour
        ("2025-02-30T00:00", "hour", "*"),
        ("2025-05-05T24:10", "hour", "*"),
        ("0001-01-01T00:00+05:00", "hour", "*"),
        ("yesterday", "hour", "*"),
        (0, "minute", "1970-01-01T00:00Z"),
        (1746456849, "hour", "2025-05-05T14Z"),
        (1746456849.999999999, "minute", "2025-05-05T14:54Z"),
        (59.9999999999, "minute", "1970-01-01T00:00Z"),
        (-1, "hour_of_day", "23"),
        ("1746456849.5", "hour_of_day", "14"),
        (1746456849000, "hour", "*"),  # milliseconds are not guessed
    ],
)
def test_a_time_is_cut_to_its_bucket(value: str | float, unit: str, label: str) -> None:
    assert column([value], {"op": "time_bucket", "unit": unit}) == [label]


def test_protocol_families_know_the_names_of_captures_in_any_case() -> None:
    names = ["NGAP", "nas-5gs", "E2AP", "Diameter", "tls", "OCPP", "gtpv2", "PFCP", "quic", "mdns", "arp", "ngap,tcp"]
    families = [
        "SCTP",
        "SCTP",
        "SCTP",
        "SCTP",
        "TCP",
        "TCP",
        "UDP",
        "UDP",
        "UDP",
        "SERVICE_DISCOVERY",
        "OTHER",
        "OTHER",
    ]
    assert column(names, {"op": "protocol_family"}) == families
    assert column([names, [], None], {"op": "protocol_family"}) == [sorted(set(families)), [], None]


def test_a_hierarchy_climbs_to_its_level_and_stops_at_the_top() -> None:
    table = {"gNB-1": ["north", "all"], "gNB-2": ["south", "all"], "5": ["few"], "true": ["yes"]}
    step = {"op": "hierarchy", "table": table}
    assert column(["gNB-1", "gNB-2", None, "*"], step) == ["north", "south", None, "*"]
    assert column(["gNB-1", "5"], {**step, "level": 2}) == ["all", "few"]
    assert column([["gNB-1", "gNB-2"]], {**step, "level": 2}) == [["all"]]
    assert column([5, None], step) == ["few", None]
    assert column([5.0], step) == ["few"]
    assert column([True], step) == ["yes"]


def test_a_hierarchy_that_misses_values_fails_with_their_count_and_its_name() -> None:
    step = {"op": "hierarchy", "table": {"a": ["x"], "e": []}, "name": "regions"}
    refused = refusal("hierarchy-gap", lambda: column(["secret", "secret", "hidden", "a", "e", None, "*"], step))
    assert "3 distinct values" in refused.detail
    assert "regions" in refused.detail
    assert [error.pointer for error in refused.errors] == ["/policy/steps/0/table"]
    assert "secret" not in refused.detail
    assert "hidden" not in refused.detail


@pytest.mark.parametrize(
    ("values", "digits", "wanted"),
    [
        ([0.5, 1.5, 2.5, -0.2, None], 0, [0.0, 2.0, 2.0, 0.0, None]),  # half to even, no -0.0
        ([12.345, 1e300], 1, [12.3, 1e300]),
        ([1250, 1350, -1250], -2, [1200, 1400, -1200]),
        (["7.26", "8", "x"], 1, ["7.3", "8", "*"]),
    ],
)
def test_numbers_are_rounded_half_to_even_and_stay_numbers(
    values: list[object], digits: int, wanted: list[object]
) -> None:
    found = column(values, {"op": "round", "digits": digits})
    assert repr(found) == repr(wanted)


def test_rounding_beyond_64_bits_turns_to_floats_instead_of_failing() -> None:
    assert column([2**63 - 1, 4], {"op": "round", "digits": -1}) == [float(2**63), 0.0]


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ({"low": 2}, [2, 2, 3, 100, None]),
        ({"high": 3.0}, [1, 2, 3, 3, None]),
        ({"low": 2, "high": 3}, [2, 2, 3, 3, None]),
        ({"high": 2.5}, [1.0, 2.0, 2.5, 2.5, None]),  # one type: a column of floats
        ({"percentile": 75}, [1, 2, 3, 3, None]),  # the third of four numbers
        ({"percentile": 76}, [1, 2, 3, 100, None]),
        ({"low": 2, "percentile": 50}, [2, 2, 2, 2, None]),
    ],
)
def test_a_number_is_held_between_bounds(step: Mapping[str, object], wanted: list[object]) -> None:
    assert repr(column([1, 2, 3, 100, None], {"op": "top_bottom", **step})) == repr(wanted)


def test_the_cap_at_a_percentile_is_the_least_value_that_covers_it() -> None:
    values = [float(n) for n in range(1, 201)]
    assert max(column(values, {"op": "top_bottom", "percentile": 99}), key=str_number) == 198.0
    assert column([None], {"op": "top_bottom", "percentile": 99}) == [None]


def str_number(value: object) -> float:
    return float(str(value))


def test_text_prefixes_count_code_points_and_take_integers_in_decimal() -> None:
    assert column(["größe", "gr", "*", None], {"op": "text_prefix", "n": 3}) == ["grö*", "gr*", "*", None]
    assert column([1010, 1011], {"op": "text_prefix", "n": 3}) == ["101*", "101*"]
    assert column([["abc", "abd"]], {"op": "text_prefix", "n": 2}) == [["ab*"]]


COARSENINGS: list[dict[str, object]] = [
    {"op": "ip_prefix", "v4": 20, "v6": 40},
    {"op": "text_prefix", "n": 4},
    {"op": "bin", "width": 3},
    {"op": "quantile", "buckets": 3},
    {"op": "round", "digits": -1},
    {"op": "top_bottom", "low": 3, "high": 7},
    HOUR,
    {"op": "protocol_family"},
    {"op": "cell"},
    {"op": "threshold", "tau": 2},
]
SOME_TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["*", "", "10.0.0.1", "10.0.16.1", "2001:db8::1", "2001:db8:1::1", "tcp", "ngap", "2025-05-05T14:54"]
    ),
    st.integers(0, 12).map(str),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(SOME_TEXTS, max_size=14), st.sampled_from(COARSENINGS), st.sampled_from(COARSENINGS))
def test_coarsening_never_splits_a_class(
    values: list[str | None], first: dict[str, object], then: dict[str, object]
) -> None:
    table = pl.DataFrame({"v": values}, schema={"v": pl.String})
    found = release(table, {"column": "v", **first}, {"column": "v", **then}).table["v"].to_list()
    for one, label in zip(values, found, strict=True):
        assert all(label == other for value, other in zip(values, found, strict=True) if value == one)


@settings(deadline=None, max_examples=30)
@given(st.lists(SOME_TEXTS, max_size=14), st.sampled_from(COARSENINGS), st.randoms(use_true_random=False))
def test_labels_do_not_hang_on_the_order_of_rows(
    values: list[str | None], step: dict[str, object], chance: object
) -> None:
    order = list(range(len(values)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    table = pl.DataFrame({"v": values}, schema={"v": pl.String})
    found = release(table, {"column": "v", **step}).table["v"].to_list()
    moved = release(table[order], {"column": "v", **step}).table["v"].to_list()
    assert moved == [found[place] for place in order]
