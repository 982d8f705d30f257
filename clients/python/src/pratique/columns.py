"""Columns: rows of text laid out for a terminal."""

import textwrap
from collections.abc import Sequence

GAP = "  "
NARROWEST_NOTE = 16  # a last column narrower than this is left out: a word a line helps nobody


def plain(value: object) -> str:
    """Return a value as one line of text in which no character steers a terminal."""
    return "".join(each if each.isprintable() else "?" for each in str(value))


def figure(value: object) -> str:
    """Return a figure with up to four significant digits; null is `n/a`, never a number."""
    match value:
        case None:
            return "n/a"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case float():
            return f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
        case _:
            return plain(value)


def percent(value: object) -> str:
    """Return a share as a percentage with one digit; null is `n/a`."""
    match value:
        case bool() | None:
            return "n/a"
        case int() | float():
            return f"{100 * value:.1f} %"
        case _:
            return plain(value)


def lay_out(
    rows: Sequence[Sequence[str]],
    width: int,
    right: frozenset[int] = frozenset(),
    indent: str = "",
    *,
    whole: bool = False,
) -> list[str]:
    """Lay out rows of equal length: columns as wide as their widest cell, the last one wrapped into what is left.

    `right` are the columns set to the right, such as figures. Where little is left, the last column is dropped, or with
    `whole` runs over the edge.
    """
    if not rows:
        return []
    last = len(rows[0]) - 1
    widths = [max(len(row[place]) for row in rows) for place in range(last)]
    left = width - len(indent) - sum(widths) - len(GAP) * last
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(size) if place in right else cell.ljust(size)
            for place, (cell, size) in enumerate(zip(row, widths, strict=False))
        ]
        wrapped = textwrap.wrap(row[last], left) if left >= NARROWEST_NOTE else [row[last]] * whole
        head = indent + GAP.join([*cells, *wrapped[:1]])
        hanging = " " * (width - left)
        lines += [head.rstrip(), *(hanging + line for line in wrapped[1:])]
    return lines


def table(rows: Sequence[Sequence[str]], width: int) -> str:
    """Lay out a list whose first row is its heading: nothing of it is dropped."""
    return "\n".join(lay_out(rows, width, whole=True))
