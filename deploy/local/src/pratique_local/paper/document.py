"""A document: headings, paragraphs, lists, tables and figures, as Markdown or as one HTML page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias, assert_never


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 (the title) to 3."""

    words: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain words."""

    words: str


@dataclass(frozen=True)
class Items:
    """A list of plain words."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table with a caption above it; its first `worded` columns hold words, the others numbers."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    worded: int = 1


@dataclass(frozen=True)
class Figure:
    """A picture; `name` is that of its file beside the Markdown."""

    name: str
    caption: str
    svg: str


Block: TypeAlias = Heading | Paragraph | Items | Table | Figure

_PAGE_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1f2328;background:#fff}
h1,h2,h3{line-height:1.25}
table{border-collapse:collapse;margin:.3rem 0 1.6rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .7rem;border-bottom:1px solid #d0d7de;text-align:right;white-space:nowrap}
.words{text-align:left}
.wide{overflow-x:auto}
figure{margin:1rem 0 1.6rem}figure svg{max-width:100%;height:auto}figcaption{font-size:.9rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#3d444d}}
"""


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the document as Markdown; its figures are files beside it."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def as_html(blocks: Sequence[Block]) -> str:
    """Return the document as one HTML page that needs nothing else."""
    title = next((block.words for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_PAGE_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading(words, level):
            return f"{'#' * level} {_plain(words)}"
        case Paragraph(words):
            return _plain(words)
        case Items(items):
            return "\n".join(f"- {_plain(item)}" for item in items)
        case Table(caption, columns, rows, worded):
            aligned = "|".join("---" if place < worded else "---:" for place in range(len(columns)))
            lines = [f"|{'|'.join(map(_cell, row))}|" for row in (columns, *rows)]
            return "\n".join([f"**{_plain(caption)}**", "", lines[0], f"|{aligned}|", *lines[1:]])
        case Figure(name, caption, _):
            return f"![{_plain(caption)}]({name}.svg)\n\n*{_plain(caption)}*"
        case _:
            assert_never(block)


def _html(block: Block) -> str:
    match block:
        case Heading(words, level):
            return f"<h{level}>{escape(words)}</h{level}>"
        case Paragraph(words):
            return f"<p>{escape(words)}</p>"
        case Items(items):
            return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Table(caption, columns, rows, worded):
            head, *body = (
                _html_row(row, "td" if place else "th", worded) for place, row in enumerate((columns, *rows))
            )
            parts = f"<caption>{escape(caption)}</caption><thead>{head}</thead><tbody>{''.join(body)}</tbody>"
            return f'<div class="wide"><table>{parts}</table></div>'
        case Figure(_, caption, svg):
            return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        case _:
            assert_never(block)


def _html_row(row: Sequence[str], tag: str, worded: int) -> str:
    opened = (f'<{tag} class="words">' if place < worded else f"<{tag}>" for place in range(len(row)))
    return "<tr>" + "".join(f"{tag_}{escape(cell)}</{tag}>" for tag_, cell in zip(opened, row, strict=True)) + "</tr>"


def _plain(words: str) -> str:
    """Keep what a name of a file or a group holds from being read as markup."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in words)


def _cell(words: str) -> str:
    return _plain(words).replace("|", "\\|")


def figures_of(blocks: Sequence[Block]) -> Iterator[Figure]:
    """Yield the figures, each of which is a file beside the Markdown."""
    yield from (block for block in blocks if isinstance(block, Figure))
