"""Axes: from values to places, with round ticks."""

import math
from dataclasses import dataclass

from pratique_local.paper.charts.svg import element, text

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Frame:
    """The rectangle of a plot in the picture, and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, value: float) -> float:
        """Return the place of a value of the horizontal axis."""
        low, high = self.x
        return self.left + self.width * (value - low) / (high - low)

    def up(self, value: float) -> float:
        """Return the place of a value of the vertical axis."""
        low, high = self.y
        return self.top + self.height * (high - value) / (high - low)

    @property
    def bottom(self) -> float:
        """Return where the horizontal axis stands."""
        return self.top + self.height


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round values from `low` to `high`, about so many."""
    rough = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(magnitude * part for part in _STEPS if magnitude * part >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def label(value: float) -> str:
    """Return the text of a tick."""
    return f"{value:.10g}"


def vertical(frame: Frame, title: str) -> str:
    """Return the vertical axis: rules across the plot, their values, the title turned."""
    parts = []
    for value in ticks(*frame.y):
        y = frame.up(value)
        rule = element("line", x1=frame.left, x2=frame.left + frame.width, y1=y, y2=y, stroke="currentColor")
        parts.append(element("g", rule, class_="rule"))
        parts.append(text(label(value), frame.left - 7, y + 4, text_anchor="end", class_="ink"))
    x, y = frame.left - 42, frame.top + frame.height / 2
    parts.append(text(title, x, y, text_anchor="middle", class_="ink", transform=f"rotate(-90 {x:.1f} {y:.1f})"))
    return "".join(parts)


def horizontal(frame: Frame, title: str) -> str:
    """Return the horizontal axis of numbers with its title."""
    parts = [base(frame)]
    for value in ticks(*frame.x):
        x = frame.across(value)
        stroke = element("line", x1=x, x2=x, y1=frame.bottom, y2=frame.bottom + 4, stroke="currentColor")
        parts.append(element("g", stroke, class_="ink"))
        parts.append(text(label(value), x, frame.bottom + 18, text_anchor="middle", class_="ink"))
    parts.append(under(frame, title))
    return "".join(parts)


def base(frame: Frame) -> str:
    """Return the line under the plot."""
    line = element(
        "line", x1=frame.left, x2=frame.left + frame.width, y1=frame.bottom, y2=frame.bottom, stroke="currentColor"
    )
    return element("g", line, class_="ink")


def under(frame: Frame, title: str) -> str:
    """Return the title of the horizontal axis."""
    return text(title, frame.left + frame.width / 2, frame.bottom + 36, text_anchor="middle", class_="ink")
