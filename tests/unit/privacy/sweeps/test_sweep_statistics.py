"""What a sweep says of its releases, worked by hand."""

import io
import json
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.sweeps.averages import averages
from pratique_privacy.sweeps.correlation import Correlation, correlate, pearson
from pratique_privacy.sweeps.figures import FIGURES, ReleaseFigures
from pratique_privacy.sweeps.findings import Finding, findings
from pratique_privacy.sweeps.results import Section, part_csv, part_parquet, part_rows, summarise


def chance(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def release(
    source: str,
    configuration: str,
    *,
    group: str | None = None,
    k: int | None = 1,
    ppi: float | None = 0.5,
    ppi_prime: float | None = 0.5,
    exact: float | None = 0.5,
    partial: float | None = 0.5,
    linkage: float | None = 0.5,
) -> ReleaseFigures:
    return ReleaseFigures(group, configuration, source, k, ppi, ppi_prime, exact, partial, linkage)


# Two sources under two configurations, the second source in a group of its own.
TWO_BY_TWO = [
    release("a", "C0", group="lab", k=1, ppi=0.2, ppi_prime=0.1, exact=1.0, partial=0.6, linkage=0.9),
    release("a", "C4", group="lab", k=3, ppi=0.6, ppi_prime=0.7, exact=0.4, partial=0.3, linkage=0.4),
    release("b", "C0", group="field", k=1, ppi=0.4, ppi_prime=0.2, exact=0.9, partial=0.5, linkage=0.8),
    release("b", "C4", group="field", k=2, ppi=0.4, ppi_prime=0.8, exact=0.2, partial=0.2, linkage=0.1),
]


def test_a_configuration_has_mean_and_population_deviation_over_its_releases() -> None:
    found = {(one.group, one.configuration): one for one in averages(TWO_BY_TWO)}
    assert list(found) == [
        (None, "C0"),
        (None, "C4"),
        ("lab", "C0"),
        ("lab", "C4"),
        ("field", "C0"),
        ("field", "C4"),
    ]
    pooled = found[None, "C4"]
    # k is 3 and 2: mean 5/2, deviations 1/2. exact is 0.4 and 0.2: mean 0.3, deviations 0.1.
    assert pooled.releases == 2
    assert (pooled.figures["k"].mean, pooled.figures["k"].sd) == (2.5, 0.5)
    assert (pooled.figures["exact"].mean, pooled.figures["exact"].sd) == pytest.approx((0.3, 0.1))
    assert found["lab", "C4"].figures["exact"].sd == 0.0


def test_an_empty_release_is_left_out_of_the_means_and_the_count_says_so() -> None:
    nothing = release("c", "C4", k=None, ppi=None, ppi_prime=None, exact=None, partial=None, linkage=None)
    (found,) = averages([release("a", "C4", exact=0.4), nothing])
    assert (found.releases, found.figures["exact"].releases, found.figures["exact"].mean) == (2, 1, 0.4)
    (alone,) = averages([nothing])
    assert all((alone.figures[name].mean, alone.figures[name].sd) == (None, None) for name in FIGURES)


class Twice:
    """Chance that draws the first release only."""

    def integers(self, _: int, size: tuple[int, int]) -> npt.NDArray[np.int64]:
        return np.zeros(size, np.int64)


def by_pair(found: tuple[Correlation, ...], group: str | None = None) -> dict[tuple[str, str], Correlation]:
    return {(one.index, one.measure): one for one in found if one.group == group}


def test_pearson_is_that_of_a_sum_done_by_hand() -> None:
    # PPI 1 2 3 about 2: -1 0 1. 1 - exact 0 1 -1 about 0, from exact 1 0 2: product -1, squares 2 and 2, so r = -1/2.
    rows = [release(str(n), "C0", ppi=p, exact=e) for n, (p, e) in enumerate([(1.0, 1.0), (2.0, 0.0), (3.0, 2.0)])]
    found = by_pair(correlate(rows, chance(), 10).correlations)
    assert found["ppi", "exact"].r == pytest.approx(-0.5)
    # PPI' and partial are constant: no correlation, and every resample is degenerate.
    constant = found["ppi_prime", "partial"]
    assert (constant.r, constant.ci95, constant.degenerate, constant.releases) == (None, None, 10, 3)


def test_two_sources_and_two_configurations_correlate_as_worked_by_hand() -> None:
    found = by_pair(correlate(TWO_BY_TWO, chance(), 200).correlations)
    # PPI .2 .6 .4 .4 about .4: -.2 .2 0 0. 1 - exact 0 .6 .1 .8 about .375: -.375 .225 -.275 .425.
    # Products .075 + .045 = .12; squares .08 and .1406 + .0506 + .0756 + .1806 = .4475.
    assert found["ppi", "exact"].r == pytest.approx(0.12 / math.sqrt(0.08 * 0.4475))
    # PPI' .1 .7 .2 .8 about .45: -.35 .25 -.25 .35, products .13125 + .05625 + .06875 + .14875 = .405, squares .37.
    assert found["ppi_prime", "exact"].r == pytest.approx(0.405 / math.sqrt(0.37 * 0.4475))


def test_a_group_of_two_releases_gives_a_correlation_of_one_and_says_how_often_a_resample_was_flat() -> None:
    found = by_pair(correlate(TWO_BY_TWO, chance(), 4000).correlations, "lab")["ppi", "exact"]
    # Half of all resamples of two draw the same one twice; the other half gives r = 1.
    assert found.r == pytest.approx(1.0)
    assert found.degenerate == 2016
    assert found.ci95 is None  # more than half were flat


def test_there_is_no_interval_when_most_resamples_are_flat() -> None:
    # PPI differs in one of ten releases, which (9/10)^10 = 35 % of the resamples miss.
    one_of_ten = [release(str(n), "C0", ppi=float(n == 0), exact=float(n == 0)) for n in range(10)]
    found = by_pair(correlate(one_of_ten, chance(), 1000).correlations)["ppi", "exact"]
    assert 300 < found.degenerate < 400
    assert found.ci95 == pytest.approx((-1.0, -1.0))
    two = [release(str(n), "C0", ppi=float(n), exact=float(n)) for n in range(2)]
    flat = by_pair(correlate(two, Twice(), 10).correlations)["ppi", "exact"]  # type: ignore[arg-type]
    assert flat.r == pytest.approx(-1.0)
    assert (flat.degenerate, flat.ci95) == (10, None)


def test_the_interval_is_the_percentiles_of_the_correlations_of_the_resamples() -> None:
    own = np.random.default_rng(5)
    ppi = own.random(12)
    exact = np.clip(1 - ppi + own.normal(0, 0.2, 12), 0, 1)
    rows = [release(str(n), "C0", ppi=float(ppi[n]), exact=float(exact[n])) for n in range(12)]
    found = by_pair(correlate(rows, chance(9), 300).correlations)["ppi", "exact"]
    draws = np.random.default_rng(9).integers(12, size=(300, 12))  # the pooled scope draws first
    slow = [float(np.corrcoef(ppi[rows], 1 - exact[rows])[0, 1]) for rows in draws]
    assert found.ci95 == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])))
    assert found.degenerate == 0


def test_the_same_seed_gives_the_same_intervals_and_another_gives_others() -> None:
    first, again, other = (correlate(TWO_BY_TWO * 3, chance(seed), 50) for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_a_measure_that_nobody_asked_for_leaves_the_others_as_they_are() -> None:
    without = [release(one.source, one.configuration, ppi=one.ppi, exact=one.exact, linkage=None) for one in TWO_BY_TWO]
    found = by_pair(correlate(without, chance(), 20).correlations)
    assert (found["ppi", "linkage"].releases, found["ppi", "linkage"].r) == (0, None)
    assert found["ppi", "exact"].releases == 4


def test_no_release_has_no_correlation() -> None:
    found = correlate([], chance(), 20)
    assert {one.r for one in found.correlations} == {None}
    assert {one.difference for one in found.leads} == {None}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=8))
def test_pearson_stays_in_its_range_and_is_symmetric(pairs: list[tuple[float, float]]) -> None:
    left, right = (np.array([column]) for column in zip(*pairs, strict=True))
    r, back = pearson(left, right)[0], pearson(right, left)[0]
    assert math.isnan(r) == math.isnan(back)
    assert math.isnan(r) or (-1 <= r <= 1 and r == pytest.approx(back))


def of(found: list[Finding], name: str, group: str | None = None) -> list[Finding]:
    return [one for one in found if one.name == name and one.group == group]


def held(releases: list[ReleaseFigures]) -> list[Finding]:
    return findings(releases, correlate(releases, chance(), 20))


def test_pseudonyms_change_nothing_where_every_source_has_equal_figures() -> None:
    same = [release("a", "C0"), release("a", "C1"), release("b", "C0"), release("b", "C1")]
    (found,) = of(held(same), "pseudonyms_change_nothing")
    assert found.holds is True
    assert found.numbers == {"sources": 2, "differing": 0, "greatest_difference": 0.0}
    (other,) = of(held([*same[:3], release("b", "C1", linkage=0.75)]), "pseudonyms_change_nothing")
    assert other.holds is False
    assert other.numbers == {"sources": 2, "differing": 1, "greatest_difference": 0.25}
    (gone,) = of(held([*same[:3], release("b", "C1", linkage=None)]), "pseudonyms_change_nothing")
    assert gone.holds is False
    (untold,) = of(held(same[:1]), "pseudonyms_change_nothing")
    assert untold.holds is None


@pytest.mark.parametrize(
    ("exact_of_c7", "holds"),
    [(0.5, True), (0.3, False), (0.2, False)],
    ids=["above both", "as low as one of them", "between them"],
)
def test_c4_and_c6_are_lowest_when_no_other_is_as_low(exact_of_c7: float, holds: bool) -> None:
    rows = [release("a", name, exact=exact) for name, exact in (("C4", 0.1), ("C6", 0.3), ("C7", exact_of_c7))]
    exact = next(one for one in of(held(rows), "c4_and_c6_lowest") if one.measure == "exact")
    assert exact.holds is holds
    assert list(exact.numbers) == [name for name, _ in sorted(exact.numbers.items(), key=lambda item: item[1] or 0)]


def test_without_c6_nobody_can_say_which_are_lowest() -> None:
    assert {one.holds for one in of(held(TWO_BY_TWO), "c4_and_c6_lowest")} == {None}


def test_the_lead_of_the_other_index_is_the_difference_of_the_two_correlations() -> None:
    lead = next(one for one in of(held(TWO_BY_TWO), "ppi_prime_correlates_more") if one.measure == "exact")
    r = 0.12 / math.sqrt(0.08 * 0.4475), 0.405 / math.sqrt(0.37 * 0.4475)
    assert lead.holds is True
    assert lead.numbers["difference"] == pytest.approx(r[1] - r[0])
    flat = [release("a", "C0", ppi=0.1), release("b", "C0", ppi=0.2)]
    assert {one.holds for one in of(held(flat), "ppi_prime_correlates_more")} == {None}


PARTS: tuple[Section, ...] = ("releases", "averages", "correlations", "leads", "findings")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "read",
    [lambda r, p: pl.read_csv(part_csv(r, p)), lambda r, p: pl.read_parquet(io.BytesIO(part_parquet(r, p)))],
    ids=["csv", "parquet"],
)
def test_csv_and_parquet_hold_the_rows_of_the_json(part: Section, read: Callable[..., pl.DataFrame]) -> None:
    results = summarise(TWO_BY_TWO, chance(), 100)
    rows = part_rows(results, part)
    assert rows
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert read(results, part).to_dicts() == rows
