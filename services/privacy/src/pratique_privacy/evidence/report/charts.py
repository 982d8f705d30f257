"""Charts of the report as inline SVG: bars, and intervals beside exact values and bounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from pratique_privacy.evidence.words import figure

WIDTH: Final = 720
LABELS: Final = 190  # what the names at the left take
VALUES: Final = 70  # what the figures at the right take
ROW: Final = 26
BAR: Final = 14
PLOT: Final = WIDTH - LABELS - VALUES
COLUMNS_HEIGHT: Final = 200
LONGEST: Final = 26  # characters of a name


@dataclass(frozen=True)
class Bar:
    """A name, a length between 0 and the greatest, and what is written beside it."""

    name: str
    length: float
    said: str


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval, the exact value, and the bounds it is held against; all between 0 and 1."""

    name: str
    estimate: float | None
    interval: tuple[float, float] | None
    exact: float | None
    least: float | None
    most: float | None


def rows(bars: Sequence[Bar], title: str) -> str:
    """Return bars that lie, longest name cut; the axis begins at 0."""
    greatest = max((bar.length for bar in bars), default=0) or 1
    parts = []
    for place, bar in enumerate(bars):
        top = place * ROW + (ROW - BAR) / 2
        width = PLOT * bar.length / greatest
        parts += [
            _text(LABELS - 8, top + 11, _cut(bar.name), "end"),
            _rect("bar", LABELS, top, max(width, 1 if bar.length else 0), BAR, f"{bar.name}: {bar.said}"),
            _text(LABELS + width + 6, top + 11, bar.said, "start", "value"),
        ]
    return _svg(parts, len(bars) * ROW, title)


def columns(bars: Sequence[Bar], title: str, mark: int = 0) -> str:
    """Return bars that stand, the first `mark` of them in the colour of a warning."""
    greatest = max((bar.length for bar in bars), default=0) or 1
    step = (WIDTH - 20) / max(len(bars), 1)
    base = COLUMNS_HEIGHT - 24
    parts = [f'<line class="axis" x1="10" x2="{WIDTH - 10}" y1="{base}" y2="{base}"/>']
    for place, bar in enumerate(bars):
        height = (base - 24) * bar.length / greatest
        left, middle = 10 + place * step, 10 + (place + 0.5) * step
        width = min(step - 4, 48)
        kind = "bar below" if place < mark else "bar"
        hint = f"{bar.name}: {bar.said}"
        parts += [
            _rect(kind, left + (step - width) / 2, base - height, width, height, hint),
            _text(middle, base + 16, bar.name, "middle"),
            _text(middle, base - height - 5, bar.said, "middle", "value"),
        ]
    return _svg(parts, COLUMNS_HEIGHT, title)


def intervals(found: Sequence[Interval], title: str) -> str:
    """Return one line an adversary from 0 to 1: interval, estimate (dot), exact value (diamond), bounds (strokes)."""
    parts = []
    bottom = len(found) * 40
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = LABELS + PLOT * tick
        parts += [
            f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="4" y2="{bottom}"/>',
            _text(at, bottom + 16, f"{tick:g}", "middle"),
        ]
    for place, one in enumerate(found):
        middle = place * 40 + 22
        parts.append(_text(LABELS - 8, middle + 4, one.name, "end"))
        parts += _interval(one, middle)
    return _svg(parts, bottom + 24, title)


def _interval(one: Interval, middle: float) -> Iterable[str]:
    if one.interval is not None:
        low, high = (LABELS + PLOT * end for end in one.interval)
        hint = f"95 % interval {figure(one.interval[0])} to {figure(one.interval[1])}"
        yield _rect("range", low, middle - 4, max(high - low, 2), 8, hint)
    for bound, word in ((one.least, "at least"), (one.most, "at most")):
        if bound is not None:
            at = LABELS + PLOT * min(max(bound, 0), 1)
            hint = f"<title>gate: {word} {figure(bound)}</title>"
            yield f'<line class="bound" x1="{at:.1f}" x2="{at:.1f}" y1="{middle - 13}" y2="{middle + 13}">{hint}</line>'
    if one.exact is not None:
        at = LABELS + PLOT * one.exact
        points = f"{at:.1f},{middle - 8} {at + 8:.1f},{middle} {at:.1f},{middle + 8} {at - 8:.1f},{middle}"
        yield f'<polygon class="exact" points="{points}"><title>exact {figure(one.exact)}</title></polygon>'
    if one.estimate is not None:
        at, hint = LABELS + PLOT * one.estimate, f"<title>estimate {figure(one.estimate)}</title>"
        yield f'<circle class="dot" cx="{at:.1f}" cy="{middle}" r="4">{hint}</circle>'
    value = one.exact if one.exact is not None else one.estimate
    yield _text(LABELS + PLOT + 10, middle + 4, figure(value), "start", "value")


def _svg(parts: Iterable[str], height: float, title: str) -> str:
    told = escape(title)
    body = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{told}"><title>{told}</title>{body}</svg>'


def _rect(kind: str, left: float, top: float, width: float, height: float, hint: str) -> str:
    box = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {box} rx="2"><title>{escape(hint)}</title></rect>'


def _text(left: float, top: float, text: str, anchor: str, kind: str = "name") -> str:
    return f'<text class="{kind}" x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
