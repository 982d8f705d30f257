"""The page of a report: its frame, its style, and the header that lets a browser load nothing else."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--page:#f9f9f7;--card:#fcfcfb;--ink:#0b0b0b;--soft:#52514e;--line:#e1e0d9;--axis:#c3c2b7;
--mark:#2a78d6;--range:#86b6ef;--exact:#eb6834;--good:#006300;--bad:#b32b2b;--open:#8a5a00}
@media (prefers-color-scheme:dark){:root{--page:#0d0d0d;--card:#1a1a19;--ink:#fff;--soft:#c3c2b7;--line:#2c2c2a;
--axis:#52514e;--mark:#3987e5;--range:#1c5cab;--exact:#d95926;--good:#0ca30c;--bad:#f07070;--open:#fab219}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:54rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:0 0 .5rem}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem 1.25rem;margin:1rem 0}
p{margin:.3rem 0 .7rem}.soft{color:var(--soft)}
.verdict{font-weight:600}.pass{color:var(--good)}.fail{color:var(--bad)}.indeterminate{color:var(--open)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-top:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}td.number{font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-size:.88em;overflow-wrap:anywhere}
svg{width:100%;height:auto;display:block;margin:.5rem 0}
svg .name{fill:var(--soft);font-size:12px}svg .value{fill:var(--ink);font-size:12px}
svg .bar,svg .dot{fill:var(--mark)}svg .below,svg .exact{fill:var(--exact)}svg .range{fill:var(--range)}
svg .grid{stroke:var(--line)}svg .axis{stroke:var(--axis)}svg .bound{stroke:var(--ink);stroke-width:2}
@media print{body{background:none}section{break-inside:avoid;border-color:#ccc}}
"""
_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# Nothing is loaded, run or sent; the one style is known by its hash.
CONTENT_SECURITY_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page(title: str, sections: Iterable[str]) -> str:
    """Return the page. It carries its policy along for a reader who saves it as a file."""
    inside = CONTENT_SECURITY_POLICY.partition("; frame-ancestors")[0]  # of no effect in a page
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(inside)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>{''.join(sections)}</main></body></html>"
    )


def section(heading: str, *parts: str) -> str:
    """Return a section; one without content is left out."""
    body = "".join(parts)
    return f"<section><h2>{escape(heading)}</h2>{body}</section>" if body else ""


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """Return a table of plain texts; `numbers` are the columns of figures. Without rows it is nothing."""
    figures = frozenset(numbers)
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(_cell(cell, at in figures) for at, cell in enumerate(row))}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>' if body else ""


def _cell(text: str, number: bool) -> str:
    kind = "number" if number else f"verdict {text}" if text in ("pass", "fail", "indeterminate") else ""
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list of plain texts, nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def folded(summary: str, body: str) -> str:
    """Return what is shown when it is asked for."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>" if body else ""
