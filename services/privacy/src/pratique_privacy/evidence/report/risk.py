"""The sections of a report on risk: classes, subsets of quasi-identifiers, attributes, adversaries."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pratique_privacy.evidence.report.charts import Bar, Interval, columns, intervals, rows
from pratique_privacy.evidence.report.page import folded, paragraph, section, table
from pratique_privacy.evidence.statement import attackers, wp29
from pratique_privacy.evidence.words import NONE, figure, percent
from pratique_shared.contracts.gate import GateResult
from pratique_shared.contracts.posture import AttackFigures, AttackResult, Posture

Risk = Mapping[str, Any]
_EDGES: Final = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000)  # where a bar of the histogram begins
MOST_SUBSETS: Final = 20  # as bars; all of them stand in the table below
ADVERSARIES: Final = {
    "exact_qi": ("exact QI", "knows every quasi-identifier of the target"),
    "partial_qi": ("partial QI", "has forgotten some of them"),
    "linkage": ("linkage", "knows them from elsewhere, some of them wrong"),
}


def classes(risk: Risk) -> str:
    """Show how many records stand in classes of which size."""
    found = risk.get("class")
    if not found:
        return ""
    bars, below = _histogram(found["histogram"], found["k_target"])
    share = percent(found["share_below_k"])
    return section(
        "Class sizes",
        paragraph(
            "Records by the size of their class: the rows that agree with them on every quasi-identifier. "
            f"{share} stand in classes smaller than the target of {found['k_target']}.",
        ),
        columns(bars, "Records by the size of their class", below),
        folded("Every size", table(("size", "classes", "records"), _sizes(found["histogram"]), (0, 1, 2))),
    )


def _histogram(found: Sequence[Mapping[str, int]], target: int) -> tuple[list[Bar], int]:
    """Return the bars from the first to the last that holds a record, and how many lie wholly below the target."""
    spans = list(zip(_EDGES, (*_EDGES[1:], None), strict=True))
    bars, below = [], 0
    for first, beyond in spans:
        inside = [bar for bar in found if bar["size"] >= first and (beyond is None or bar["size"] < beyond)]
        name = f"{first}+" if beyond is None else f"{first}" if beyond == first + 1 else f"{first}–{beyond - 1}"
        count = sum(bar["rows"] for bar in inside)
        bars.append(Bar(name, count, figure(count) if count else ""))
        below += beyond is not None and beyond <= target
    while len(bars) > 1 and not bars[-1].length:
        bars.pop()
    return bars, below


def _sizes(found: Sequence[Mapping[str, int]]) -> list[tuple[str, str, str]]:
    return [(figure(bar["size"]), figure(bar["classes"]), figure(bar["rows"])) for bar in found]


def subsets(risk: Risk) -> str:
    """Show what each set of quasi-identifiers gives away by itself."""
    found = sorted(risk.get("subset") or (), key=lambda one: (-one["exposure"], len(one["columns"])))
    if not found:
        return ""
    bars = [Bar(" + ".join(one["columns"]), one["exposure"], figure(one["exposure"])) for one in found[:MOST_SUBSETS]]
    every = [(" + ".join(one["columns"]), figure(one["distinct"]), figure(one["exposure"])) for one in found]
    return section(
        "Exposure of quasi-identifiers",
        paragraph(
            "For a set of quasi-identifiers, its distinct combinations over the records: the mean chance of somebody "
            "who knows exactly these of a target."
        ),
        rows(bars, "Exposure of sets of quasi-identifiers"),
        folded(f"All {len(every)} sets", table(("set", "distinct", "exposure"), every, (1, 2))),
    )


def attributes(risk: Risk) -> str:
    """Show how many distinct values every released column has."""
    found = [(one["column"], figure(one["distinct"])) for one in risk.get("attribute") or ()]
    return section("Columns", table(("column", "distinct values"), found, (1,)))


def adversaries(posture: Posture) -> str:
    """Show each adversary: interval, estimate, exact value, and the bounds of the gate."""
    attacks = posture.attacks
    if attacks is None:
        return section("Adversaries", paragraph("No adversary was asked for."))
    drawn = [_interval(name, attacks, posture.gate) for name in ADVERSARIES]
    shown = [one for one in drawn if one.exact is not None or one.estimate is not None]
    rows_ = [_attack_row(name, attacks) for name in ADVERSARIES]
    head = ("adversary", "what it knows", "estimate", "95 % interval", "exact", "parameters")
    return section(
        "Adversaries",
        paragraph(
            "The mean chance of naming a record's row. Dot: mean of the simulation, band: its 95 % interval, diamond: "
            "exact value, stroke: bound of the gate."
        ),
        intervals(shown, "Adversaries from 0 to 1") if shown else "",
        table(head, rows_, (2, 3, 4)),
        *(paragraph(text, "fail") for text in _disagreements(attacks)),
    )


def _interval(name: str, attacks: AttackFigures, gate: GateResult | None) -> Interval:
    bounds = {check.op: check.bound for check in (gate.checks if gate else ()) if check.metric == name}
    least, most = bounds.get(">="), bounds.get("<=")
    word = ADVERSARIES[name][0]
    if name == "exact_qi":
        return Interval(word, None, None, attacks.exact_qi, least, most)
    result: AttackResult | None = getattr(attacks, name)
    if result is None:
        return Interval(word, None, None, None, least, most)
    return Interval(word, result.estimate, result.ci95, result.exact, least, most)


def _attack_row(name: str, attacks: AttackFigures) -> tuple[str, ...]:
    word, knows = ADVERSARIES[name]
    if name == "exact_qi":
        return (word, knows, NONE, NONE, figure(attacks.exact_qi), "")
    result: AttackResult | None = getattr(attacks, name)
    if result is None:
        return (word, knows, NONE, NONE, NONE, "not asked for")
    interval = NONE if result.ci95 is None else f"{figure(result.ci95[0])} to {figure(result.ci95[1])}"
    told = [f"{key} {figure(value)}" for key, value in result.parameters.items()]
    told += [f"repetitions {result.repetitions}", f"seed {result.seed}"]
    if result.error is not None:
        told = [f"failed: {result.error}"]
    return (word, knows, figure(result.estimate), interval, figure(result.exact), ", ".join(told))


def _disagreements(attacks: AttackFigures) -> list[str]:
    named = {"partial QI": attacks.partial_qi, "linkage": attacks.linkage}
    return [
        f"Simulation and exact value of {word} differ by more than chance: trust neither."
        for word, result in named.items()
        if result is not None and result.agrees is False
    ]


def readings(posture: Posture) -> str:
    """Say which attacker and which question of the regulators each figure belongs to."""
    three = [(name, str(one["knows"]), figure(one["value"])) for name, one in attackers(posture.after).items()]
    questions = [
        (str(asked["question"]), ", ".join(f"{name} {figure(value)}" for name, value in asked["figures"].items()))
        for asked in wp29(posture, []).values()
    ]
    return section(
        "Whose risk a figure is",
        table(("attacker", "knows", "figure"), three, (2,)),
        table(("question (WP29, Opinion 05/2014)", "figures that bear on it"), questions),
    )
