"""SVG: elements as text, and the style that all charts share."""

from collections.abc import Sequence
from html import escape

# Two palettes that keep their distance for readers who see few colours; marks differ in shape too.
_LIGHT = ("#0b62a4", "#c45a00", "#1a7f5a", "#7d4a9e", "#8a6d00")
_DARK = ("#6cb2f0", "#f0a35e", "#5fc9a0", "#c39be0", "#d9bc4a")
COLOURS = len(_LIGHT)


def _palette(colours: Sequence[str], ink: str, rule: str) -> str:
    series = "".join(f".c{n}{{color:{colour}}}" for n, colour in enumerate(colours))
    return f"{series}.ink{{color:{ink}}}.rule{{color:{rule}}}"


STYLE = (
    "text{font:12px system-ui,sans-serif;fill:currentColor}.title{font-weight:600;font-size:13px}"
    + _palette(_LIGHT, "#1f2328", "#d0d7de")
    + "@media(prefers-color-scheme:dark){"
    + _palette(_DARK, "#e6edf3", "#3d444d")
    + "}"
)


def element(name: str, *children: str, **attributes: str | float) -> str:
    """Return an element; `_` in a name of an attribute stands for `-`, and ends one that Python keeps for itself."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_attribute(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def text(words: str, x: float, y: float, **attributes: str | float) -> str:
    """Return a text at a place."""
    return element("text", escape(words), x=x, y=y, **attributes)


def picture(width: float, height: float, title: str, *children: str) -> str:
    """Return a whole picture; `title` is what a reader who does not see it is told."""
    return element(
        "svg",
        element("title", escape(title)),
        element("style", STYLE),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_attribute(width)} {_attribute(height)}",
        width=width,
        height=height,
        role="img",
    )


def mark(kind: int, x: float, y: float, radius: float = 3.5) -> str:
    """Return the mark of the n-th series: a disc, a square, a triangle, a diamond, a cross."""
    r = radius
    shapes = (
        f"M{x - r:.2f} {y:.2f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0",
        f"M{x - r:.2f} {y - r:.2f}h{2 * r}v{2 * r}h{-2 * r}z",
        f"M{x:.2f} {y - r:.2f}l{r} {2 * r}h{-2 * r}z",
        f"M{x:.2f} {y - r:.2f}l{r} {r}l{-r} {r}l{-r} {-r}z",
        f"M{x - r:.2f} {y - r / 3:.2f}h{2 * r}v{r * 2 / 3:.2f}h{-2 * r}z",
    )
    return element("path", d=shapes[kind % len(shapes)])


def legend(names: Sequence[str], x: float, y: float, dashed: Sequence[bool] = ()) -> str:
    """Return a legend on one line; a dashed series has a stroke before its mark."""
    parts = []
    for number, name in enumerate(names):
        colour = {"class_": f"c{number % COLOURS}", "fill": "currentColor"}
        if dashed:
            stroke = element(
                "line", x1=x, x2=x + 22, y1=y, y2=y, stroke="currentColor", stroke_width=2, **_dash(dashed[number])
            )
            parts.append(element("g", stroke, mark(number, x + 11, y), **colour))
            x += 12
        else:
            parts.append(element("g", mark(number, x + 5, y), **colour))
        parts.append(text(name, x + 15, y + 4, class_="ink"))
        x += 36 + 6.6 * len(name)
    return "".join(parts)


def _dash(dashed: bool) -> dict[str, str | float]:
    return {"stroke_dasharray": "5 4"} if dashed else {}


def _attribute(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
