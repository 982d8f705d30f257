"""Bar charts: a group of bars for each category, with a whisker of one standard deviation."""

from collections.abc import Sequence
from dataclasses import dataclass

from pratique_local.paper.charts.axes import Frame, base, under, vertical
from pratique_local.paper.charts.svg import COLOURS, element, legend, picture, text

HEIGHT, MARGIN, SLOT = 240, 60, 84


@dataclass(frozen=True)
class Bars:
    """One series: a height and a whisker for each category; None leaves a gap."""

    name: str
    heights: Sequence[float | None]
    whiskers: Sequence[float | None]


def bar_chart(
    title: str, categories: Sequence[str], series: Sequence[Bars], *, x_title: str, y_title: str, top: float
) -> str:
    """Draw the series beside each other in every category; whiskers end at 0 and at `top`."""
    width = SLOT * max(len(categories), 1)
    frame = Frame(MARGIN, 36, width, HEIGHT, (0.0, float(len(categories))), (0.0, top))
    parts = [legend([one.name for one in series], MARGIN, 14), vertical(frame, y_title)]
    room = 0.8 / max(len(series), 1)
    for place, category in enumerate(categories):
        parts.append(text(category, frame.across(place + 0.5), frame.bottom + 18, text_anchor="middle", class_="ink"))
        for number, one in enumerate(series):
            height = one.heights[place]
            if height is not None:
                left = frame.across(place + 0.1 + number * room)
                parts.append(_bar(frame, number, left, SLOT * room - 2, height, one.whiskers[place]))
    parts += [base(frame), under(frame, x_title)]
    return picture(MARGIN + width + 20, frame.bottom + 48, title, *parts)


def _bar(frame: Frame, number: int, left: float, width: float, height: float, whisker: float | None) -> str:
    y = frame.up(min(height, frame.y[1]))
    bar = element("rect", x=left, y=y, width=width, height=frame.bottom - y, fill="currentColor", fill_opacity=0.75)
    parts = [element("g", bar, class_=f"c{number % COLOURS}")]
    if whisker:
        middle = left + width / 2
        low, high = (frame.up(min(max(height + sign * whisker, 0.0), frame.y[1])) for sign in (-1, 1))
        line = element("line", x1=middle, x2=middle, y1=low, y2=high, stroke="currentColor", stroke_width=1.2)
        parts.append(element("g", line, class_="ink"))
    return "".join(parts)
