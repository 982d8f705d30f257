"""A document reads the same as Markdown and as HTML, and nothing in it is taken for markup."""

from pratique_local.paper.document import (
    Block,
    Figure,
    Heading,
    Items,
    Paragraph,
    Table,
    as_html,
    as_markdown,
    figures_of,
)

BLOCKS: list[Block] = [
    Heading("Title", 1),
    Paragraph("a < b & *c*"),
    Items(["one", "two_three"]),
    Table("Figures", ["", "n|m"], [["<x>", "1.0"]]),
    Figure("plot", "A plot.", "<svg></svg>"),
]


def test_markdown_escapes_what_would_be_markup() -> None:
    assert as_markdown(BLOCKS) == (
        "# Title\n\na \\< b & \\*c\\*\n\n- one\n- two\\_three\n\n"
        "**Figures**\n\n||n\\|m|\n|---|---:|\n|\\<x\\>|1.0|\n\n![A plot.](plot.svg)\n\n*A plot.*\n"
    )


def test_html_holds_everything_in_one_page() -> None:
    page = as_html(BLOCKS)
    assert "<title>Title</title>" in page
    assert "<p>a &lt; b &amp; *c*</p>" in page
    assert '<td class="words">&lt;x&gt;</td><td>1.0</td>' in page
    assert '<th class="words"></th><th>n|m</th>' in page
    assert "<figure><svg></svg><figcaption>A plot.</figcaption></figure>" in page
    assert "http" not in page


def test_the_figures_of_a_document_are_found() -> None:
    assert [figure.name for figure in figures_of(BLOCKS)] == ["plot"]
