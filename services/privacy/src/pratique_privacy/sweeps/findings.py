"""Findings: which statements of Kekatos et al. 2026 hold on the releases of a sweep."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pratique_privacy.sweeps.averages import Average, averages
from pratique_privacy.sweeps.correlation import Correlations
from pratique_privacy.sweeps.figures import FIGURES, MEASURES, Figure, Measure, ReleaseFigures, scopes

Name: TypeAlias = Literal["pseudonyms_change_nothing", "c4_and_c6_lowest", "ppi_prime_correlates_more"]
TWO_LOWEST: Final = frozenset({"C4", "C6"})


@dataclass(frozen=True)
class Finding:
    """One statement in one scope; `holds` is None where the sweep cannot tell.

    `measure` is the measure that it speaks of, None where it speaks of all figures. `numbers` say what it rests on.
    """

    name: Name
    group: str | None
    measure: Measure | None
    holds: bool | None
    numbers: dict[str, float | None] = field(default_factory=dict)


def findings(releases: Sequence[ReleaseFigures], correlations: Correlations) -> list[Finding]:
    """Hold the three statements of §V-E and §V-F against the releases, pooled and by group."""
    return [
        *_pseudonyms_change_nothing(releases),
        *_two_lowest(averages(releases)),
        *_prime_correlates_more(correlations),
    ]


def _pseudonyms_change_nothing(releases: Sequence[ReleaseFigures]) -> Iterator[Finding]:
    """Observation (i): C1 equals C0 in every figure of every source."""
    for scope in scopes(releases):
        hashed = {(one.group, one.source): one for one in scope.releases if one.configuration == "C1"}
        pairs = [
            (one, hashed[one.group, one.source])
            for one in scope.releases
            if one.configuration == "C0" and (one.group, one.source) in hashed
        ]
        differing = [pair for pair in pairs if any(_apart(pair, figure) for figure in FIGURES)]
        greatest = max((_apart(pair, figure) for pair in pairs for figure in FIGURES), default=0.0)
        numbers: dict[str, float | None] = {
            "sources": len(pairs),
            "differing": len(differing),
            "greatest_difference": greatest,
        }
        yield Finding("pseudonyms_change_nothing", scope.group, None, not differing if pairs else None, numbers)


def _apart(pair: tuple[ReleaseFigures, ReleaseFigures], figure: Figure) -> float:
    left, right = (release.figure(figure) for release in pair)
    if left is None or right is None:
        return 0.0 if left is right else float("inf")
    return abs(left - right)


def _two_lowest(found: Sequence[Average]) -> Iterator[Finding]:
    """Result 1: C4 and C6 have the two lowest means; a tie with a third does not hold."""
    for group in dict.fromkeys(average.group for average in found):
        for measure in MEASURES:
            means = {one.configuration: one.figures[measure].mean for one in found if one.group == group}
            known = {name: mean for name, mean in means.items() if mean is not None}
            holds = None
            if known.keys() > TWO_LOWEST:
                others = min(mean for name, mean in known.items() if name not in TWO_LOWEST)
                holds = max(known[name] for name in TWO_LOWEST) < others
            ranked = dict(sorted(known.items(), key=lambda item: item[1]))
            yield Finding("c4_and_c6_lowest", group, measure, holds, dict(ranked))


def _prime_correlates_more(found: Correlations) -> Iterator[Finding]:
    """Table III: r of PPI' exceeds r of PPI; the interval of the difference says how surely."""
    r = {(one.group, one.index, one.measure): one.r for one in found.correlations}
    for lead in found.leads:
        numbers = {
            "ppi": r[lead.group, "ppi", lead.measure],
            "ppi_prime": r[lead.group, "ppi_prime", lead.measure],
            "difference": lead.difference,
            "difference_low": None if lead.ci95 is None else lead.ci95[0],
            "difference_high": None if lead.ci95 is None else lead.ci95[1],
        }
        holds = None if lead.difference is None else lead.difference > 0
        yield Finding("ppi_prime_correlates_more", lead.group, lead.measure, holds, numbers)
