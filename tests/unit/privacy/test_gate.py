"""The gate fails closed."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.gate import bounds_nothing, check_metrics, evaluate, figures_of, tighten
from pratique_privacy.metrics.measure import measure
from pratique_shared.contracts.gate import GATE_METRICS, Bound, Gate
from pratique_shared.contracts.posture import AllColumns, AttackFigures, AttackResult, CompositionFigures, PpiParameters
from pratique_shared.contracts.problems import Unprocessable


def attack(exact: float | None, ci95: tuple[float, float] | None, error: str | None = None) -> AttackResult:
    return AttackResult(
        exact=exact,
        estimate=0.2,
        se=0.01,
        se_targets=0.01,
        ci95=ci95,
        repetitions=20,
        seed=1,
        generator="PCG64",
        parameters={},
        error=error,
    )


def test_a_bound_is_closed_on_both_sides() -> None:
    gate = {"k": Bound(min=3), "t": Bound(max=0.25)}
    assert evaluate(gate, {"k": 3, "t": 0.25}).verdict == "pass"
    assert evaluate(gate, {"k": 2, "t": 0.25}).verdict == "fail"
    assert evaluate(gate, {"k": 3, "t": math.nextafter(0.25, 1)}).verdict == "fail"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("bound", [Bound(min=0), Bound(max=1)])
def test_what_is_no_finite_figure_is_never_a_pass(value: float | None, bound: Bound) -> None:
    result = evaluate({"linkage": bound}, {"linkage": value})
    assert result.verdict == "indeterminate"
    assert [(check.status, check.value) for check in result.checks] == [("indeterminate", None)]
    assert evaluate({"linkage": bound}, {}).verdict == "indeterminate"


def test_a_failure_outweighs_what_is_indeterminate() -> None:
    gate = {"linkage": Bound(max=0.3), "k": Bound(min=2, max=10)}
    result = evaluate(gate, {"k": 1})
    assert result.verdict == "fail"
    assert [(c.metric, c.op, c.bound, c.status) for c in result.checks] == [
        ("linkage", "<=", 0.3, "indeterminate"),
        ("k", ">=", 2, "fail"),
        ("k", "<=", 10, "pass"),
    ]


def test_an_empty_release_never_passes() -> None:
    assert evaluate({}, {}, empty=True).verdict == "indeterminate"
    assert evaluate({"rows": Bound(max=10)}, {"rows": 0}, empty=True).verdict == "indeterminate"
    assert evaluate({"rows": Bound(min=1)}, {"rows": 0}, empty=True).verdict == "fail"
    assert evaluate({}, {}).verdict == "pass"  # nothing was asked; the release carries the flag no_gate


def test_an_unknown_metric_is_refused_by_its_pointer() -> None:
    with pytest.raises(Unprocessable) as caught:
        evaluate({"k/x": Bound(min=1), "k": Bound(min=1)}, {"k": 1})
    assert caught.value.code == "gate-unknown-metric"
    assert [error.pointer for error in caught.value.errors] == ["/gate/k~1x"]
    check_metrics(dict.fromkeys(GATE_METRICS, Bound(min=0)))


def test_every_metric_of_the_gate_has_a_figure() -> None:
    table = pl.DataFrame({"q": [1, 1, 2, 2], "s": [1, 2, 1, 2]})
    after = measure(table, ["q"], ["s"], ppi=PpiParameters())
    attacks = AttackFigures(exact_qi=0.5, partial_qi=attack(0.3, (0.1, 0.4)), linkage=attack(None, (0.1, 0.4)))
    joined = CompositionFigures(releases=(), classes=3, k=1, uniques=2, exact_qi=0.75, partial_qi=0.5)
    figures = figures_of(after, AllColumns(classes=4, uniques=4), attacks, 1.0, joined)
    assert set(figures) == set(GATE_METRICS)
    assert all(value is not None for value in figures.values())
    # Exact where it is known, else the upper end of the interval.
    assert (figures["partial_qi"], figures["linkage"], figures["all_columns.uniques"]) == (0.3, 0.4, 4)
    assert (figures["k"], figures["composition.k"], figures["composition.exact_qi"]) == (2, 1, 0.75)


def test_an_adversary_that_is_missing_or_failed_has_no_figure() -> None:
    after = measure(pl.DataFrame({"q": [1]}), ["q"], [], ppi=PpiParameters())
    failed = AttackFigures(exact_qi=1.0, partial_qi=attack(0.3, (0.1, 0.4), "shard-failed"), linkage=attack(None, None))
    for attacks in (None, failed):
        figures = figures_of(after, AllColumns(classes=1, uniques=1), attacks, None)
        gate: Gate = {name: Bound(max=1) for name in ("partial_qi", "linkage", "survival", "t", "ppi")}
        assert {check.status for check in evaluate(gate, figures).checks} == {"indeterminate"}


bounds = st.builds(Bound, min=st.integers(0, 5), max=st.none() | st.integers(0, 5)) | st.builds(
    Bound, max=st.integers(0, 5)
)
gates = st.dictionaries(st.sampled_from(["k", "l", "t"]), bounds)
values = st.dictionaries(st.sampled_from(["k", "l", "t"]), st.none() | st.integers(0, 5))


@settings(deadline=None, max_examples=50)
@given(gates, gates, values)
def test_a_tightened_gate_passes_exactly_what_both_pass(request: Gate, floor: Gate, figures: dict[str, float]) -> None:
    both = [evaluate(gate, figures).verdict == "pass" for gate in (request, floor)]
    assert (evaluate(tighten(request, floor), figures).verdict == "pass") == all(both)


@pytest.mark.parametrize(
    ("bounds", "nothing"),
    [
        ({}, True),
        ({"k": {"min": -1}}, True),
        ({"k": {"min": 1}}, True),
        ({"k": {"min": 2}}, False),
        ({"linkage": {"max": 1}, "survival": {"min": 0}}, True),
        ({"linkage": {"max": 0.99}}, False),
        ({"uniques": {"max": 1000000}}, False),
    ],
)
def test_a_gate_that_no_table_can_break_bounds_nothing(bounds: dict[str, dict[str, float]], nothing: bool) -> None:
    assert bounds_nothing({metric: Bound(**bound) for metric, bound in bounds.items()}) is nothing
