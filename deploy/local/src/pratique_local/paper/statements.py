"""Statements: which findings of the paper hold here, in words with their numbers."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from pratique_local.paper.disclosure import MEASURE_NAMES, percent, scope_name
from pratique_local.paper.document import Block, Heading, Paragraph, Table
from pratique_local.paper.learning import Learned
from pratique_privacy.sweeps.findings import Finding
from pratique_shared.contracts.utility import UtilityRow

CLAIMS = {
    "pseudonyms_change_nothing": "C0 = C1 in every figure",
    "c4_and_c6_lowest": "C4 and C6 re-identify least",
    "ppi_prime_correlates_more": "PPI' correlates more strongly than PPI",
}


def findings_section(findings: Sequence[Finding], learned: Learned | None) -> Iterator[Block]:
    """Yield every statement for every scope with a verdict, then those on usefulness."""
    yield Heading("Which findings hold")
    rows = [
        [CLAIMS[one.name], scope_name(one.group), _measure(one), verdict(one.holds), _numbers(one)] for one in findings
    ]
    yield Table(
        "Findings of the paper, held against these captures", ["statement", "scope", "measure", "", "numbers"], rows, 5
    )
    yield Paragraph(
        "The paper's own Table IV has C7 (10.0 %) below C4 (11.4 %) on 5GAD: there the second statement holds for the "
        "mean k, not for exact-QI."
    )
    if learned is not None:
        yield _usefulness(learned)


def verdict(holds: bool | None) -> str:
    """Return what is said of a statement."""
    return {True: "holds", False: "does not hold", None: "cannot be told"}[holds]


def _measure(finding: Finding) -> str:
    return "all" if finding.measure is None else MEASURE_NAMES[finding.measure]


def _numbers(finding: Finding) -> str:
    numbers = finding.numbers
    match finding.name:
        case "pseudonyms_change_nothing":
            return f"{numbers['differing']:.0f} of {numbers['sources']:.0f} captures differ"
        case "c4_and_c6_lowest":
            return " < ".join(f"{name} {percent(value)}" for name, value in numbers.items())
        case "ppi_prime_correlates_more":
            if finding.holds is None:
                return "no correlation"
            low, high = numbers["difference_low"], numbers["difference_high"]
            interval = "" if low is None or high is None else f", difference [{low:.2f}, {high:.2f}]"
            return f"{numbers['ppi_prime']:.2f} against {numbers['ppi']:.2f}{interval}"
        case _:
            assert_never(finding.name)


def _usefulness(learned: Learned) -> Table:
    """Set the three readings of §V-G against the rows: averages last, the rarest go, the exemption keeps them."""
    plain = {row.tau: row for row in learned.rows if not row.exempt_rarest}
    exempt = {row.tau: row for row in learned.rows if row.exempt_rarest}
    rows = []
    if {1, 8} <= plain.keys():
        first, eight = plain[1], plain[8]
        numbers = f"accuracy {first.accuracy:.2f} to {eight.accuracy:.2f}"
        rows.append(["At tau = 8 nine tenths of the accuracy are left", verdict(_left(first, eight) >= 0.9), numbers])
        retained = eight.f1_retained or 0.0
        numbers = f"{_left(first, eight):.2f} of the accuracy, {retained:.2f} of macro-F1"
        outlasts = _left(first, eight) > retained
        rows.append(["At tau = 8 accuracy keeps a larger share than macro-F1", verdict(outlasts), numbers])
    if {1, 2} <= plain.keys():
        first, two = plain[1], plain[2]
        numbers = f"{first.edge_recall:.2f} to {two.edge_recall:.2f}"
        lost = two.edge_recall <= 0.75 * first.edge_recall if first.edge_recall else None
        rows.append(
            ["Recall on the two rarest drops by a quarter or more as suppression begins", verdict(lost), numbers]
        )
    if {1, 8} <= plain.keys() and 8 in exempt:
        numbers = f"{plain[8].edge_recall:.2f} to {exempt[8].edge_recall:.2f}"
        kept = exempt[8].edge_recall > plain[8].edge_recall if plain[1].edge_recall else None
        rows.append(["At tau = 8 the exemption restores recall on the two rarest", verdict(kept), numbers])
    return Table("Findings on usefulness", ["statement", "", "numbers"], rows, 3)


def _left(before: UtilityRow, after: UtilityRow) -> float:
    return after.accuracy / before.accuracy if before.accuracy else 0.0
