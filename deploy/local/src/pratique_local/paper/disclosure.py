"""Disclosure: the sections on configurations (Tables II and IV) and on the posture index (Table III)."""

from collections.abc import Iterator, Sequence

from pratique_local.paper.charts import Bars, Panel, Points, bar_chart, scatter_chart
from pratique_local.paper.document import Block, Figure, Heading, Paragraph, Table
from pratique_local.paper.published import CORRELATIONS, EXACT
from pratique_privacy.policy.builtin import BUILT_IN
from pratique_privacy.sweeps.averages import Average, Spread
from pratique_privacy.sweeps.correlation import Correlation, Interval
from pratique_privacy.sweeps.figures import MEASURES, Index, Measure, ReleaseFigures
from pratique_privacy.sweeps.figures import Figure as Name
from pratique_privacy.sweeps.results import SweepResults

POOLED = "all captures"
MEASURE_NAMES: dict[Measure, str] = {"exact": "exact-QI", "partial": "partial-QI", "linkage": "linkage"}
INDEX_NAMES: dict[Index, str] = {"ppi": "PPI", "ppi_prime": "PPI'"}
TABLE_II: dict[Name, str] = {
    "k": "k",
    "ppi": "PPI",
    "ppi_prime": "PPI'",
    "exact": "exact %",
    "partial": "partial %",
    "linkage": "linkage %",
}
NONE = "–"


def configurations_section(results: SweepResults, groups: Sequence[str]) -> Iterator[Block]:
    """Yield Table II for each group and for all, Table IV, and the bars of both."""
    yield Heading("Configurations (Tables II and IV)")
    yield Paragraph(
        "Mean and population standard deviation over captures; a capture counts once whatever its number of hosts. "
        "Re-identification is in percent of records. Partial-QI and linkage are exact expectations where the paper "
        "simulates."
    )
    for group in (*groups, *([None] if len(groups) > 1 else [])):
        yield _configurations(results, group)
    yield _side_by_side(results, groups)
    yield _group_bars(results, groups)
    yield _measure_bars(results)


def index_section(results: SweepResults, groups: Sequence[str]) -> Iterator[Block]:
    """Yield Table III and the scatter of both indexes."""
    yield Heading("What the index says of attacks (Table III)")
    yield Paragraph(
        "Pearson's r of the index with 1 - re-identification over releases, with the 95 % interval of "
        f"{results.correlations.resamples} bootstrap resamples (percentiles). PPI' counts the class that a typical "
        "record hides in where PPI counts the smallest."
    )
    for group in (None, *(groups if len(groups) > 1 else ())):
        yield _correlations(results, group)
    yield _leads(results, groups)
    for measure in ("partial", "exact"):
        yield _scatter(results, groups, measure)


def scope_name(group: str | None) -> str:
    """Return what a scope is called in the report."""
    return POOLED if group is None else group


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share in percent, or a dash."""
    return NONE if share is None else f"{100 * share:.{digits}f}"


def with_interval(value: float | None, interval: Interval | None) -> str:
    """Return a figure with its interval, as far as they are there."""
    if value is None:
        return NONE
    return f"{value:.2f}" if interval is None else f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def _of(results: SweepResults, group: str | None) -> dict[str, Average]:
    return {one.configuration: one for one in results.averages if one.group == group}


def _plus_minus(name: Name, spread: Spread) -> str:
    if spread.mean is None or spread.sd is None:
        return NONE
    scale, digits = (100, 1) if name in MEASURES else (1, 2)
    return f"{scale * spread.mean:.{digits}f} ± {scale * spread.sd:.{digits}f}"


def _configurations(results: SweepResults, group: str | None) -> Table:
    rows = [
        [f"{name} {BUILT_IN[name].title}", *(_plus_minus(figure, one.figures[figure]) for figure in TABLE_II)]
        for name, one in _of(results, group).items()
    ]
    releases = sum(one.releases for one in _of(results, group).values())
    return Table(f"Table II, {scope_name(group)}: {releases} releases", ["", *TABLE_II.values()], rows)


def _side_by_side(results: SweepResults, groups: Sequence[str]) -> Table:
    scopes: tuple[str | None, ...] = (*groups, *([None] if len(groups) > 1 else []))
    figures: tuple[Name, ...] = ("k", "ppi", "exact")
    columns = [f"{scope_name(group)}: {TABLE_II[figure]}" for group in scopes for figure in figures]
    averages = [_of(results, group) for group in scopes]
    rows = []
    for name in BUILT_IN:
        cells = [_plus_minus(figure, own[name].figures[figure]) for own in averages for figure in figures]
        rows.append([name, *cells, *(f"{value:.1f}" for value in EXACT[name])])
    return Table("Table IV: groups side by side", ["", *columns, "paper: internal %", "paper: 5GAD %"], rows)


def _group_bars(results: SweepResults, groups: Sequence[str]) -> Figure:
    series = [_bars(_of(results, group), scope_name(group), "exact") for group in groups]
    svg = bar_chart(
        "Exact-QI re-identification by configuration and group",
        list(BUILT_IN),
        series,
        x_title="configuration",
        y_title="re-identified records, %",
        top=100.0,
    )
    return Figure("exact-by-group", "Exact-QI re-identification by group; whiskers are one standard deviation.", svg)


def _measure_bars(results: SweepResults) -> Figure:
    pooled = _of(results, None)
    svg = bar_chart(
        "Three disclosure measures by configuration",
        list(BUILT_IN),
        [_bars(pooled, MEASURE_NAMES[measure], measure) for measure in MEASURES],
        x_title="configuration",
        y_title="re-identified records, %",
        top=100.0,
    )
    return Figure("measures", f"The three measures, {POOLED}; whiskers are one standard deviation.", svg)


def _bars(averages: dict[str, Average], name: str, measure: Measure) -> Bars:
    spreads = [averages[one].figures[measure] if one in averages else Spread(None, None, 0) for one in BUILT_IN]
    return Bars(
        name,
        [None if spread.mean is None else 100 * spread.mean for spread in spreads],
        [None if spread.sd is None else 100 * spread.sd for spread in spreads],
    )


def _correlation(results: SweepResults, group: str | None, index: Index, measure: Measure) -> Correlation:
    found = results.correlations.correlations
    return next(one for one in found if (one.group, one.index, one.measure) == (group, index, measure))


def _correlations(results: SweepResults, group: str | None) -> Table:
    rows = []
    for measure, words in MEASURE_NAMES.items():
        cells = [words]
        for index in INDEX_NAMES:
            own = _correlation(results, group, index, measure)
            cells += [with_interval(own.r, own.ci95), "{:.2f} [{:.2f}, {:.2f}]".format(*CORRELATIONS[index, measure])]
        rows.append(cells)
    count = _correlation(results, group, "ppi", "exact").releases
    columns = ["1 - re-identification", "PPI", "PPI, paper", "PPI'", "PPI', paper"]
    return Table(f"Table III, {scope_name(group)}: {count} releases", columns, rows)


def _leads(results: SweepResults, groups: Sequence[str]) -> Table:
    scopes: tuple[str | None, ...] = (None, *(groups if len(groups) > 1 else ()))
    rows = []
    for group in scopes:
        own = {one.measure: one for one in results.correlations.leads if one.group == group}
        rows.append(
            [scope_name(group), *(with_interval(own[name].difference, own[name].ci95) for name in MEASURE_NAMES)]
        )
    columns = ["", *MEASURE_NAMES.values()]
    return Table("How much stronger PPI' correlates: r of PPI' less r of PPI, over the same resamples", columns, rows)


def _scatter(results: SweepResults, groups: Sequence[str], measure: Measure) -> Figure:
    resists = f"1 - {MEASURE_NAMES[measure]} re-identification"
    panels = []
    for index, words in INDEX_NAMES.items():
        own = _correlation(results, None, index, measure)
        series = [_points(results.releases, group, index, measure) for group in groups]
        note = "" if own.r is None else f"r = {own.r:+.2f}, {own.releases} releases"
        panels.append(Panel(f"{words} against {MEASURE_NAMES[measure]}", words, resists, series, note))
    caption = f"Each mark is a release; the dashed line is the least-squares fit through all of them ({resists})."
    return Figure(f"index-{measure}", caption, scatter_chart(f"PPI and PPI' against {resists}", panels))


def _points(releases: Sequence[ReleaseFigures], group: str, index: Index, measure: Measure) -> Points:
    pairs = [
        (x, 1 - y)
        for one in releases
        if one.group == group and (x := one.figure(index)) is not None and (y := one.figure(measure)) is not None
    ]
    return Points(group, [x for x, _ in pairs], [y for _, y in pairs])
