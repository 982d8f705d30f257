"""Generalisation: the section on profiles published at coarser levels (Gil et al. 2025)."""

from collections.abc import Iterator

from pratique_local.paper.document import Block, Heading, Paragraph


def generalisation_section() -> Iterator[Block]:
    """Yield the toy hierarchies and the 608 random profiles against forgery and suppression."""
    yield Heading("Optimal generalisation of profiles")
    yield Paragraph("This build has no mechanism for it yet.")
