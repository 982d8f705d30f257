"""Every figure against golden fractions, worked numbers and the slow oracle."""

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.metrics import closeness
from pratique_privacy.metrics.measure import all_columns, measure
from pratique_privacy.metrics.sensitive import FixedBins, fix_bins
from pratique_shared.contracts.attributes import SensitiveBins
from pratique_shared.contracts.posture import Metrics, PpiParameters
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.frames.records import table_of
from tests.support.beside import golden
from tests.support.oracle import Truth, truth

Row = dict[str, Any]

# The names of our figures for those of the golden cases.
FIGURES = {
    "n_rows": "rows",
    "n_classes": "classes",
    "k": "k",
    "l": "l",
    "l_entropy": "l_entropy",
    "t": "t",
    "t_ordered": "t_ordered",
    "k_rw": "k_rw",
    "granularity": "granularity",
    "exact_qi": "exact_reid",
    "prosecutor_max": "max_risk",
    "share_below_k": "share_below_k",
    "ppi": "ppi",
    "ppi_prime": "ppi_prime",
}
WORKED = {"l_distinct": "l", "l_entropy": "l_entropy", "t_variational": "t", "t_ordered_emd": "t_ordered"}


def figures(
    rows: Sequence[Mapping[str, object]],
    qi: Sequence[str],
    *sa: str,
    ppi: PpiParameters | None = None,
    ordered: Mapping[str, Sequence[str | float]] | None = None,
    bins: Mapping[str, FixedBins] | None = None,
) -> Metrics:
    return measure(table_of(rows), qi, sa, ppi=ppi or PpiParameters(), ordered=ordered or {}, bins=bins or {})


def close(found: float | None, right: float | Fraction | None) -> bool:
    if found is None or right is None:
        return found is right
    exact = Fraction(right)
    return abs(Fraction(found) - exact) <= Fraction(1, 10**12) * max(Fraction(1), abs(exact))


def check_figures(found: Metrics, right: Truth) -> None:
    for name, value in vars(right).items():
        assert close(getattr(found, name), value), name


def number(value: float | dict[str, str] | None) -> float | Fraction | None:
    return Fraction(value.get("frac") or value["exact"]) if isinstance(value, dict) else value


def test_every_golden_table_has_its_exact_figures() -> None:
    held = 0
    for path in sorted(golden("cases").glob("*.json")):
        case = json.loads(path.read_text())
        if case["kind"] != "table":
            continue
        given_case, wanted = case["input"], case["expected"]["metrics"]
        if case["id"] == "t11_mixed_types":
            with pytest.raises(Unprocessable, match="mixed-types"):
                table_of(given_case["rows"])
            continue
        table = table_of(given_case["rows"])
        k_star, l_star = given_case["ppi"]["k_star"], given_case["ppi"]["l_star"]
        weights = tuple(float(given_case["ppi"][w]) for w in ("wk", "wl", "wt"))
        ppi = PpiParameters(k_target=k_star, l_target=l_star, weights=(weights[0], weights[1], weights[2]))
        found = measure(table, given_case["qi"], [given_case["sa"]], ppi=ppi)
        for theirs, ours in FIGURES.items():
            assert close(getattr(found, ours), number(wanted[theirs])), (case["id"], ours)
        assert found.uniques == wanted["class_sizes"].count(1)
        held += 1
    assert held >= 20


def test_every_worked_table_has_its_figures_per_sensitive_attribute_and_the_worst_as_headline() -> None:
    cases = json.loads(golden("metrics_worked.json").read_text())["cases"]
    assert len(cases) == 12
    for case in cases:
        found, wanted = figures(case["rows"], case["qi"], *case["sa"]), case["expected"]
        for name, right in wanted["sa"].items():
            for theirs, ours in WORKED.items():
                assert close(getattr(found.by_sensitive[name], ours), number(right[theirs])), (case["id"], name, ours)
        assert found.l == wanted["release"]["l_distinct"]
        assert close(found.t, number(wanted["release"]["t_variational"]))
        assert (found.rows, found.classes, found.k) == (wanted["N"], wanted["num_classes"], wanted["k"])
        assert close(found.k_rw, number(wanted["k_rw"]))
        assert close(found.exact_reid, number(wanted["prosecutor_avg"]))


def test_the_built_in_configurations_without_transformation_have_their_golden_figures() -> None:
    held = 0
    for path in sorted(golden("cases").glob("*configs.json")):
        case = json.loads(path.read_text())
        rows = [{**row, "protocols": row["protocols"].split(",")} for row in case["input"]["rows"]]
        for name in ("C0", "C5", "C7"):  # C1 and C0 are one partition
            wanted = case["expected"][name]
            found = figures(rows, wanted["qi"], wanted["sa"])
            for theirs in ("k", "l", "t", "k_rw", "ppi", "ppi_prime", "share_below_k"):
                assert close(getattr(found, FIGURES[theirs]), number(wanted["metrics"][theirs])), (case["id"], name)
            held += 1
    assert held


def test_the_raw_charging_table_is_as_in_the_paper_with_ten_buckets_fixed_on_the_input() -> None:
    # 513 sessions, each alone in its class: k = l = 1, and the rarest bucket holds 51: t = 1 - 51/513 = 154/171.
    case = json.loads(golden("ev_table.json").read_text())
    table = table_of(case["rows"])
    bins = fix_bins(table["total_kwh"], SensitiveBins(quantile=10))
    found = measure(table, case["qi"], ["total_kwh"], ppi=PpiParameters(), bins={"total_kwh": bins})
    assert (found.rows, found.k, found.l) == (513, 1, 1)
    assert found.t == float(Fraction(154, 171))
    # The released table: start time to the hour of the day, classes below 5 dropped; the bins stay those of the input.
    hours = table.with_columns(table["start_time"].str.slice(11, 2).alias("start_time"))
    sizes = hours.select(pl.len().over(case["qi"])).to_series()
    kept = hours.filter(sizes >= case["tau"])
    after = measure(kept, case["qi"], ["total_kwh"], ppi=PpiParameters(), bins={"total_kwh": bins})
    assert (after.rows, after.k, after.l, after.t) == (70, 5, 2, float(Fraction(51, 70)))


def test_the_oran_scenario_is_exact_to_the_last_bit() -> None:
    # Classes 6 {G1,T1,M1}=(2,2,2), 3=(1,1,1), 3=(2,0,1): k_rw = (36+9+9)/12 = 9/2; PPI = .4*3/5 + .3 + .3*3/4 = .765.
    sds = ["G1", "G1", "T1", "T1", "M1", "M1", "G1", "T1", "M1", "G1", "G1", "M1"]
    rows = [{"region": "a" * 6 if i < 6 else "b" if i < 9 else "c", "sd": sd} for i, sd in enumerate(sds)]
    found = figures(rows, ["region"], "sd")
    assert (found.k, found.l, found.t, found.k_rw) == (3, 2, 0.25, 4.5)
    assert (found.ppi, found.ppi_prime) == (0.765, 0.885)
    assert found.share_below_k == 0.5


def test_a_class_size_on_the_target_is_not_below_it() -> None:
    rows = [{"a": "x", "s": i} for i in range(3)] + [{"a": "y", "s": i} for i in range(2)]
    assert figures(rows, ["a"], "s", ppi=PpiParameters(k_target=3)).share_below_k == 2 / 5
    assert figures(rows, ["a"], "s", ppi=PpiParameters(k_target=2)).share_below_k == 0


def test_no_rows_give_null_and_never_zero() -> None:
    found = measure(pl.DataFrame({"a": [], "s": []}), ["a"], ["s"], ppi=PpiParameters())
    values = found.model_dump()
    own = values.pop("by_sensitive")
    assert values.pop("rows") == values.pop("classes") == 0
    assert set(values.values()) == {None}
    assert own == {"s": {"l": None, "l_entropy": None, "t": None, "t_ordered": None}}
    assert all_columns(pl.DataFrame({"a": []}), ["a"]).model_dump() == {"classes": None, "uniques": None}


def test_without_a_sensitive_attribute_l_t_and_the_index_are_null() -> None:
    found = figures([{"a": 1}, {"a": 1}, {"a": 2}], ["a"])
    assert (found.l, found.l_entropy, found.t, found.t_ordered, found.ppi, found.ppi_prime) == (None,) * 6
    assert (found.k, found.k_rw, found.uniques, found.by_sensitive) == (1, 5 / 3, 1, {})


def test_empty_sensitive_cells_count_for_t_as_one_category_and_not_for_l() -> None:
    # Class x has 2 of the 3 empties among 6: t = 1 - 3/6; it has no value at all: l = 0.
    rows = [{"a": a, "s": s} for a, s in (("x", ""), ("x", None), ("y", "q"), ("y", "p"), ("z", "q"), ("z", ""))]
    found = figures(rows, ["a"], "s")
    assert (found.l, found.l_entropy, found.t) == (0, 0.0, 0.5)
    sets = [{"a": row["a"], "s": [row["s"]] if row["s"] else row["s"] if row["s"] is None else []} for row in rows]
    assert figures(sets, ["a"], "s") == found


def test_uniform_classes_have_a_whole_effective_number_of_values() -> None:
    # exp(ln 10 - ln 1) is 10.000000000000002 in floats: a gate that asks for 10 must still pass.
    for m in range(2, 50):
        rows = [{"a": a, "s": s} for a in range(2) for s in range(m) for _ in range(a + 1)]
        assert figures(rows, ["a"], "s").l_entropy == m


def test_a_column_that_was_dropped_is_the_constant_star() -> None:
    rows = [{"a": "x", "s": 1}, {"a": "x", "s": 2}, {"a": "y", "s": 1}]
    starred = [{**row, "gone": "*", "gone_too": "*"} for row in rows]
    assert figures(rows, ["a", "gone"], "s", "gone_too") == figures(starred, ["a", "gone"], "s", "gone_too")
    assert figures(rows, ["gone"], "s").classes == 1


def test_order_is_the_listed_one_else_that_of_numbers_else_none() -> None:
    # low high | mid mid, low < mid < high: class 1 strays 1/4 + 1/4, class 2 as much, over m - 1 = 2: 1/4.
    rows = [{"a": 1, "s": "low"}, {"a": 1, "s": "high"}, {"a": 2, "s": "mid"}, {"a": 2, "s": "mid"}]
    assert figures(rows, ["a"], "s").t_ordered is None
    assert figures(rows, ["a"], "s", ordered={"s": ["low", "mid", "high"]}).t_ordered == 0.25
    # mid < low < high: class 2 strays 1/2 and then 1/4, class 1 as much, over 2: 3/8. "other" is in no row.
    assert figures(rows, ["a"], "s", ordered={"s": ["mid", "low", "high", "other"]}).t_ordered == 0.375
    assert figures(rows, ["a"], "s", ordered={"s": ["low", "mid"]}).t_ordered is None
    with_null: list[Row] = [*rows, {"a": 2, "s": None}]
    assert figures(with_null, ["a"], "s", ordered={"s": ["low", "mid", "high"]}).t_ordered is None
    assert figures([{"a": 1, "s": 1}, {"a": 1, "s": None}], ["a"], "s").t_ordered is None
    assert figures([{"a": 1, "s": True}, {"a": 2, "s": False}], ["a"], "s").t_ordered is None
    # 3 < 1 < 2: the class of 3 strays 2/3 and then 1/3, over 2: 1/2; 1.0 in the list is 1 in the table.
    listed: dict[str, list[str | float]] = {"s": [3, 1.0, 2]}
    assert figures([{"a": v, "s": v} for v in (1, 2, 3)], ["a"], "s", ordered=listed).t_ordered == 0.5


def test_all_columns_counts_what_every_column_together_singles_out() -> None:
    table = table_of([{"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {"a": 1, "b": "y"}])
    assert all_columns(table, ["a", "b"]).model_dump() == {"classes": 2, "uniques": 1}


texts = st.sampled_from(["p", "q", "r", "", None, "*"])
numbers = st.sampled_from([0, 1, 2.5, -3, 1.0, 7])
rows_of_text = st.lists(st.fixed_dictionaries({"a": texts, "b": numbers, "s": texts}), min_size=1, max_size=25)
rows_of_numbers = st.lists(st.fixed_dictionaries({"a": texts, "b": numbers, "s": numbers}), min_size=1, max_size=25)


@settings(deadline=None, max_examples=50)
@given(rows_of_text | rows_of_numbers, st.sampled_from([(5, 2), (2, 3), (1, 1)]))
def test_every_figure_agrees_with_its_definition(rows: list[Row], targets: tuple[int, int]) -> None:
    ppi = PpiParameters(k_target=targets[0], l_target=targets[1])
    right = truth(rows, ["a", "b"], "s", k_target=targets[0], l_target=targets[1])
    check_figures(figures(rows, ["a", "b"], "s", ppi=ppi), right)


@settings(deadline=None, max_examples=40)
@given(rows_of_text)
def test_a_listed_order_gives_the_distance_of_its_definition(rows: list[Row]) -> None:
    order = ["", "r", "p", "*", "q"]
    right = truth(rows, ["b"], "s", order=order)
    check_figures(figures(rows, ["b"], "s", ordered={"s": order}), right)


@settings(deadline=None, max_examples=40)
@given(rows_of_text | rows_of_numbers, st.data())
def test_figures_depend_on_the_order_of_neither_rows_nor_columns(rows: list[Row], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    turned = [{name: row[name] for name in data.draw(st.permutations(["a", "b", "s"]))} for row in shuffled]
    assert figures(turned, ["b", "a"], "s", "a") == figures(rows, ["a", "b"], "s", "a")


@settings(deadline=None, max_examples=40)
@given(rows_of_numbers)
def test_new_names_for_values_change_nothing(rows: list[Row]) -> None:
    names = {value: f"token-{place * 7 % 6}" for place, value in enumerate(("p", "q", "r", "", None, "*"))}
    renamed = [{**row, "a": names[row["a"]]} for row in rows]
    assert figures(renamed, ["a", "b"], "s") == figures(rows, ["a", "b"], "s")


@settings(deadline=None, max_examples=40)
@given(rows_of_text)
def test_coarser_values_never_make_a_smaller_class(rows: list[Row]) -> None:
    coarse = [{**row, "a": "*" if row["a"] in ("p", "q", None) else row["a"], "b": row["b"] > 1} for row in rows]
    before, after = figures(rows, ["a", "b"], "s"), figures(coarse, ["a", "b"], "s")
    assert after.k is not None
    assert before.k is not None
    assert after.k >= before.k
    assert after.classes <= before.classes
    assert (after.uniques or 0) <= (before.uniques or 0)


@settings(deadline=None, max_examples=30)
@given(rows_of_numbers)
def test_an_ordered_distance_too_long_for_64_bits_agrees_with_its_definition(rows: list[Row]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closeness, "INT64_MAX", 0)  # every sum is too long
        check_figures(figures(rows, ["a"], "s"), truth(rows, ["a"], "s"))


def test_the_figures_of_two_hundred_random_tables_agree_with_their_definitions() -> None:
    # Small cases shrink towards few values; where cumulative shares cross shows only in fuller tables.
    chance = random.Random(173)
    for _ in range(200):
        values = chance.sample(range(-9, 9), chance.randint(2, 9))
        rows = [{"a": chance.choice("pqr"), "s": chance.choice(values)} for _ in range(chance.randint(5, 40))]
        check_figures(figures(rows, ["a"], "s"), truth(rows, ["a"], "s"))


def test_two_halves_of_a_long_scale_stray_by_a_quarter() -> None:
    # The gap climbs to 1/2 in m/2 equal steps and falls again: the sum is m/4, over m - 1.
    m = 20_000
    table = pl.DataFrame({"a": pl.int_range(m, eager=True) < m // 2, "s": pl.int_range(m, eager=True)})
    found = measure(table, ["a"], ["s"], ppi=PpiParameters())
    assert (found.t, found.t_ordered) == (0.5, m / 4 / (m - 1))


def test_bins_are_the_same_before_and_after() -> None:
    # Ten values in five buckets: two each; after a row is gone the others keep theirs.
    column = pl.Series("s", [10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    bins = fix_bins(column, SensitiveBins(quantile=5))
    assert bins.of(column).to_list() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert bins.of(pl.Series("s", [100, None, 10, 85, 5, 1000])).to_list() == [4, None, 0, 4, 0, 4]


def test_quantile_buckets_count_the_values_strictly_smaller() -> None:
    # floor(2 * smaller / 5): smaller = 0, 0, 0, 3, 4 for 1 1 1 2 3; nulls are no values.
    column = pl.Series("s", [1.0, None, 1.0, 3.0, 2.0, 1.0])
    assert fix_bins(column, SensitiveBins(quantile=2)).of(column).to_list() == [0, None, 0, 1, 1, 0]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(2, 12))
def test_quantile_buckets_are_the_formula(values: list[int], q: int) -> None:
    column = pl.Series("s", values)
    right = [q * sum(other < value for other in values) // len(values) for value in values]
    assert fix_bins(column, SensitiveBins(quantile=q)).of(column).to_list() == right


def test_given_edges_are_half_open() -> None:
    bins = fix_bins(pl.Series("s", [1, 2]), SensitiveBins(edges=(0.0, 10.0)))
    assert bins.of(pl.Series("s", [-1, 0, 9, 10, 11])).to_list() == [0, 1, 1, 2, 2]


def test_a_suppressed_cell_of_a_binned_attribute_stays_a_category_of_its_own() -> None:
    bins = FixedBins((10.0,), "above")
    assert bins.of(pl.Series("s", ["5", "*", None, "12.5", "nan"])).to_list() == ["0", "*", None, "1", "nan"]
    rows = [{"a": 1, "s": "5"}, {"a": 1, "s": "7"}, {"a": 1, "s": "*"}]
    found = figures(rows, ["a"], "s", bins={"s": bins})
    assert (found.l, found.t_ordered) == (2, None)


def test_a_binned_attribute_is_ordered_by_its_bins() -> None:
    rows = [{"a": a, "s": s} for a, s in ((1, 1), (1, 2), (2, 15), (2, 25))]
    found = figures(rows, ["a"], "s", bins={"s": FixedBins((10.0, 20.0), "above")})
    # Bins 0 0 | 1 2: class 1 strays 1/2 at bin 0 and 1/4 at bin 1: (1/2 + 1/4) / 2.
    assert found.t_ordered == 0.375


def test_text_cannot_be_binned_and_edges_are_not_shown() -> None:
    with pytest.raises(Unprocessable) as caught:
        fix_bins(pl.Series("kw/h", ["310150123456789"]), SensitiveBins(quantile=2))
    assert caught.value.errors[0].pointer == "/attributes/sensitive_bins/kw~1h"
    assert "31415" not in repr(FixedBins((31415.0,), "below"))
    assert fix_bins(pl.Series("s", [None, None]), SensitiveBins(quantile=4)).edges == ()
