"""Charts: what is drawn stands where its values say."""

from xml.etree import ElementTree

import pytest

from pratique_local.paper.charts import Bars, Line, Panel, Points, bar_chart, line_chart, scatter_chart
from pratique_local.paper.charts.axes import Frame, label, ticks
from pratique_local.paper.charts.scatter import fit
from pratique_local.paper.charts.svg import mark

SVG = "{http://www.w3.org/2000/svg}"


def words(svg: str) -> list[str]:
    return [found.text or "" for found in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0, 100, ["0", "20", "40", "60", "80", "100"]),
        (3, 4.2, ["3", "3.25", "3.5", "3.75", "4"]),
    ],
    ids=["shares", "percent", "a stretch"],
)
def test_ticks_are_round_values_inside_the_axis(low: float, high: float, expected: list[str]) -> None:
    assert [label(value) for value in ticks(low, high)] == expected


def test_a_frame_puts_low_values_left_and_down() -> None:
    frame = Frame(10, 20, 100, 50, (0, 1), (0, 2))
    assert (frame.across(0), frame.across(0.5), frame.across(1)) == (10, 60, 110)
    assert (frame.up(0), frame.up(2), frame.bottom) == (70, 20, 70)


def test_the_fit_is_the_least_squares_line() -> None:
    # Points (0, 1) (1, 1) (2, 4) about (1, 2): products 1 + 0 + 2 over squares 2 is 3/2, and 2 - 3/2 is 1/2.
    assert fit([0, 1, 2], [1, 1, 4]) == (1.5, 0.5)
    assert fit([1, 1], [0, 2]) is None
    assert fit([], []) is None


def test_a_scatter_has_a_mark_for_each_point_and_its_titles() -> None:
    panels = [
        Panel("left", "PPI", "1 - risk", [Points("a & b", [0.1, 0.2], [0.3, 0.4]), Points("c", [0.5], [0.5])], "r = 1"),
        Panel("right", "PPI'", "1 - risk", [Points("c", [], [])]),
    ]
    svg = scatter_chart("two <panels>", panels)
    root = ElementTree.fromstring(svg)
    assert len(list(root.iter(f"{SVG}path"))) == 3 + 2  # three points, two series in the legend
    assert root.findtext(f"{SVG}title") == "two <panels>"
    assert {"left", "right", "PPI", "PPI'", "a & b", "c", "r = 1"} <= set(words(svg))
    dashed = [line for line in root.iter(f"{SVG}line") if line.get("stroke-dasharray")]
    assert len(dashed) == 1  # nothing is fitted to no points


def test_a_bar_is_as_high_as_its_value_and_a_missing_one_is_not_drawn() -> None:
    series = [Bars("exact", [50.0, None], [10.0, None]), Bars("partial", [100.0, 0.0], [0.0, 0.0])]
    svg = bar_chart("bars", ["C0", "C1"], series, x_title="configuration", y_title="%", top=100.0)
    heights = [float(rect.get("height", "")) for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert heights == [120.0, 240.0, 0.0]
    assert {"C0", "C1", "configuration", "%", "exact", "partial"} <= set(words(svg))


def test_a_line_joins_its_points_in_order_and_has_whiskers_where_there_are_intervals() -> None:
    lines = [Line("F1", [0.0, 1.0], [0.0, 1.0], [(0.0, 0.5), None]), Line("rare", [0.5], [0.5], dashed=True)]
    svg = line_chart("lines", lines, x_title="survival", y_title="score", x=(0, 1), y=(0, 1))
    root = ElementTree.fromstring(svg)
    first, second = root.iter(f"{SVG}polyline")
    assert first.get("points") == "60.00,296.00 680.00,36.00"
    assert (first.get("stroke-dasharray"), second.get("stroke-dasharray")) == (None, "5 4")
    assert sum(line.get("stroke-opacity") == "0.5" for line in root.iter(f"{SVG}line")) == 1


def test_neighbouring_series_differ_in_the_shape_of_their_mark() -> None:
    assert len({mark(kind, 0, 0) for kind in range(5)}) == 5
