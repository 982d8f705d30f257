"""Scatter charts: panels side by side, each with the least-squares line through all its points."""

from collections.abc import Sequence
from dataclasses import dataclass

from pratique_local.paper.charts.axes import Frame, horizontal, vertical
from pratique_local.paper.charts.svg import COLOURS, element, legend, mark, picture, text

PANEL, HEIGHT, MARGIN = 330, 250, 60


@dataclass(frozen=True)
class Points:
    """A series of points under a name."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One plot with axes from 0 to 1; `note` stands above it on the right."""

    title: str
    x_title: str
    y_title: str
    series: Sequence[Points]
    note: str = ""


def scatter_chart(title: str, panels: Sequence[Panel]) -> str:
    """Draw the panels; series keep their mark and colour over all of them."""
    width = MARGIN + len(panels) * (PANEL + MARGIN)
    names = list(dict.fromkeys(series.name for panel in panels for series in panel.series))
    parts = [legend(names, MARGIN, 14)]
    for number, panel in enumerate(panels):
        frame = Frame(MARGIN + number * (PANEL + MARGIN), 52, PANEL, HEIGHT, (0.0, 1.0), (0.0, 1.0))
        parts.append(_panel(frame, panel, names))
    return picture(width, 52 + HEIGHT + 48, title, *parts)


def _panel(frame: Frame, panel: Panel, names: Sequence[str]) -> str:
    parts = [vertical(frame, panel.y_title), horizontal(frame, panel.x_title)]
    parts.append(text(panel.title, frame.left, frame.top - 12, class_="ink title"))
    for series in panel.series:
        number = names.index(series.name)
        marks = [mark(number, frame.across(x), frame.up(y)) for x, y in zip(series.xs, series.ys, strict=True)]
        parts.append(
            element("g", *marks, class_=f"c{number % COLOURS}", fill="currentColor", fill_opacity=0.4) if marks else ""
        )
    xs = [x for series in panel.series for x in series.xs]
    ys = [y for series in panel.series for y in series.ys]
    if (line := fit(xs, ys)) is not None:
        slope, intercept = line
        ends = [(x, slope * x + intercept) for x in (min(xs), max(xs))]
        (x1, y1), (x2, y2) = ((frame.across(x), frame.up(min(max(y, 0.0), 1.0))) for x, y in ends)
        dashes = element(
            "line", x1=x1, x2=x2, y1=y1, y2=y2, stroke="currentColor", stroke_width=1.6, stroke_dasharray="6 4"
        )
        parts.append(element("g", dashes, class_="ink"))
    parts.append(text(panel.note, frame.left + frame.width, frame.top - 12, text_anchor="end", class_="ink"))
    return "".join(parts)


def fit(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float] | None:
    """Return slope and intercept of the least-squares line; None where the points stand above each other."""
    if not xs:
        return None
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    if spread < 1e-12:
        return None
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    return slope, mean_y - slope * mean_x
