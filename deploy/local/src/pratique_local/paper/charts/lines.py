"""Line charts: points joined in order, with whiskers of their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from pratique_local.paper.charts.axes import Frame, horizontal, vertical
from pratique_local.paper.charts.svg import COLOURS, element, legend, mark, picture

WIDTH, HEIGHT, MARGIN = 620, 260, 60


@dataclass(frozen=True)
class Line:
    """One series; an interval of None draws no whisker."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    intervals: Sequence[tuple[float, float] | None] = ()
    dashed: bool = False


def line_chart(
    title: str, series: Sequence[Line], *, x_title: str, y_title: str, x: tuple[float, float], y: tuple[float, float]
) -> str:
    """Draw the series over axes with these ends."""
    frame = Frame(MARGIN, 36, WIDTH, HEIGHT, x, y)
    names = [one.name for one in series]
    parts = [
        legend(names, MARGIN, 14, [one.dashed for one in series]),
        vertical(frame, y_title),
        horizontal(frame, x_title),
    ]
    parts += [_line(frame, number, one) for number, one in enumerate(series)]
    return picture(MARGIN + WIDTH + 20, frame.bottom + 48, title, *parts)


def _line(frame: Frame, number: int, one: Line) -> str:
    places = [(frame.across(x), frame.up(y)) for x, y in zip(one.xs, one.ys, strict=True)]
    dash: dict[str, str | float] = {"stroke_dasharray": "5 4"} if one.dashed else {}
    path = " ".join(f"{x:.2f},{y:.2f}" for x, y in places)
    parts = [element("polyline", points=path, fill="none", stroke="currentColor", stroke_width=1.8, **dash)]
    for (x, _), interval in zip(places, one.intervals, strict=False):
        if interval is not None:
            low, high = (frame.up(min(max(end, frame.y[0]), frame.y[1])) for end in interval)
            parts.append(element("line", x1=x, x2=x, y1=low, y2=high, stroke="currentColor", stroke_opacity=0.5))
    parts += [mark(number, x, y) for x, y in places]
    return element("g", *parts, class_=f"c{number % COLOURS}", fill="currentColor")
