"""The posture table: what a release measures before and after, in words that need no manual."""

from collections.abc import Mapping
from typing import Any

from pratique.columns import figure, lay_out, percent, plain
from pratique.exchange import Json

# Title, the direction in which a figure hides better, and its definition (Kekatos et al. 2026, §IV-B, in few words).
COUNTS = (
    ("rows", "", "records in the table"),
    ("classes", "", "groups of rows that agree on every quasi-identifier (QI)"),
    ("k", "higher", "rows in the smallest class"),
    ("uniques", "lower", "rows that are alone in their class"),
    ("k_rw", "higher", "class size of a typical row; can hide lone rows"),
    ("l", "higher", "fewest distinct sensitive values in a class"),
    ("l_entropy", "higher", "the same, counting how evenly they are spread"),
    ("t", "lower", "how far a class's sensitive values are from all (0 to 1)"),
    ("t_ordered", "lower", "the same by distance, for ordered values"),
)
SHARES = (
    ("share_below_k", "lower", "rows in classes smaller than the target k*"),
    ("max_risk", "lower", "1/k: chance to pick the right row in the smallest class"),
    ("exact_reid", "lower", "classes/rows: mean chance of one who knows every QI"),
)
ATTACKS = (
    ("exact_qi", "exact QI", "knows every QI of the target"),
    ("partial_qi", "partial QI", "has forgotten some of them"),
    ("linkage", "linkage", "knows them from another source, some of them wrong"),
)
FLAGS = {
    "empty_release": "nothing is left after suppression: no figure can be given",
    "few_classes": "fewer than 30 rows or 3 classes: the figures rest on very little",
    "formulas_neutralised": "cells that a spreadsheet would have run as formulas begin with an apostrophe",
    "identifying_insensitive": "a column called insensitive tells most rows apart: a fingerprint beside any k",
    "no_gate": "no gate was asked for: the verdict says nothing about the figures",
    "rare_labels_lost": "the rarest labels were suppressed: a model will not learn them",
    "suppressed_sa": "sensitive values were suppressed, and `*` counts as a value of its own",
    "trivial_t": "t is 0 only because the sensitive value is constant or there is one class",
}
MOST_LABELS = 8  # named one by one; a set of protocols is a label too, and there may be many
VERDICTS = {"pass": "pass", "fail": "FAIL", "indeterminate": "INDETERMINATE"}
OPERATORS = {"min": ">=", "max": "<="}
UNITS = {
    "host": "Rows are hosts: the figures count machines, not subscribers.",
    "session": "Rows are sessions: one subscriber at one gNB in five minutes.",
}
CLOSING = (
    "Measured figures, not a bound on what someone with other knowledge can find. PPI is a summary: read it with k and "
    "uniques."
)


def render(posture: Json, width: int = 100) -> str:
    """Return the posture as text of at most `width` columns (80 or more keep every explanation on its line).

    A posture without `before`, as a recipient gets it, has one column of figures; a running one shows what is there.
    """
    sections = [
        _head(posture),
        _records(posture, width),
        _metrics(posture, width),
        _attacks(posture.get("attacks"), width),
        gate_lines(posture.get("gate"), width),
        _remarks(posture, width),
        lay_out([(line,) for line in _closing(posture)], width),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def verdict_text(verdict: object) -> str:
    """Return a verdict as a word; none yet is `not decided`."""
    return VERDICTS.get(str(verdict), "not decided" if verdict is None else plain(verdict))


def gate_lines(gate: Mapping[str, Any] | None, width: int) -> list[str]:
    """Return the checks of a gate, each with its bound, what was measured, and how it went."""
    if not gate:
        return []
    rows = [
        (
            f"{plain(check.get('metric'))} {_operator(check.get('op'))} {figure(check.get('bound'))}",
            f"measured {figure(check.get('value'))}",
            verdict_text(check.get("status")),
        )
        for check in gate.get("checks") or []
    ]
    head = f"Gate: {verdict_text(gate.get('verdict'))}"
    return [head, *lay_out(rows, width, indent="  ")] if rows else [f"{head} (no checks)"]


def _operator(op: object) -> str:
    return OPERATORS.get(str(op), plain(op))


def _head(posture: Json) -> list[str]:
    facts = [f"Release {plain(posture.get('release', '?'))}", verdict_text(posture.get("verdict"))]
    if posture.get("status") != "completed":
        facts.append(f"{plain(posture.get('status'))}: what is measured so far")
    return ["   ".join(facts)]


def _terms(posture: Json) -> list[tuple[str, str]]:
    """Say what the figures are about: the steps that were taken, and the columns that were called what."""
    steps = [
        f"{plain(step.get('op'))}({plain(step['column'])})" if "column" in step else f"{plain(step.get('op'))}"
        for step in posture.get("steps") or []
    ]
    named = f"{plain(posture['built_in'])}: " if posture.get("built_in") else ""
    attributes = posture.get("attributes") or {}
    rows = [("Policy", f"{named}{', '.join(steps) or 'no step'}")] if "steps" in posture else []
    for key, title in (
        ("quasi_identifiers", "Quasi-identifiers"),
        ("sensitive", "Sensitive"),
        ("insensitive", "Insensitive"),
    ):
        if columns := attributes.get(key):
            rows.append((title, ", ".join(plain(column) for column in columns)))
    return rows


def _records(posture: Json, width: int) -> list[str]:
    records = posture.get("records")
    if not records:
        return []
    flow = f"{figure(records.get('in'))} in, {figure(records.get('out'))} out"
    rows = [*_terms(posture), ("Records", f"{flow}: {percent(records.get('survival'))} survive")]
    for key, title, show in (
        ("cells_suppressed", "Cells made *", percent),
        ("unreadable", "Unreadable, made *", figure),
    ):
        if shares := records.get(key):
            rows.append((title, ", ".join(f"{plain(name)} {show(value)}" for name, value in shares.items())))
    if labels := records.get("survival_by_label"):
        rows.append(("Survival by label", _survivors(labels)))
    if everything := posture.get("all_columns"):
        rows.append(
            (
                "All columns",
                f"{figure(everything.get('uniques'))} rows are alone once every released column is compared",
            )
        )
    return lay_out(rows, width)


def _survivors(labels: Mapping[str, float]) -> str:
    """Name the labels that lost records, hardest hit first; the others are counted."""
    hit = sorted((share, name) for name, share in labels.items() if share < 1)
    named = [f"{plain(name)} {percent(share)}" for share, name in hit[:MOST_LABELS]]
    if len(hit) > MOST_LABELS:
        named.append(f"{len(hit) - MOST_LABELS} more lost some")
    if len(hit) < len(labels):
        named.append(f"{'the other ' if hit else 'all '}{len(labels) - len(hit)} labels lost none")
    return ", ".join(named)


def _metrics(posture: Json, width: int) -> list[str]:
    sides = [(name, posture[name]) for name in ("before", "after") if posture.get(name)]
    if not sides:
        return []
    metrics = [measured for _, measured in sides]
    rows = [("", *(name for name, _ in sides), "better", "")]
    rows += [(key, *(figure(each.get(key)) for each in metrics), better, words) for key, better, words in COUNTS]
    rows += [(key, *(percent(each.get(key)) for each in metrics), better, words) for key, better, words in SHARES]
    rows += _by_sensitive(metrics)
    rows += _ppi(metrics, posture.get("ppi_parameters") or {})
    return lay_out(rows, width, right=frozenset(range(1, 1 + len(sides))))


def _by_sensitive(metrics: list[Json]) -> list[tuple[str, ...]]:
    columns = list(metrics[-1].get("by_sensitive") or {})
    if len(columns) < 2:
        return []  # the headline is that column's own
    return [
        (f"{name} of {plain(column)}", *(figure(_own(each, column).get(name)) for each in metrics), better, "")
        for column in columns
        for name, better in (("l", "higher"), ("t", "lower"))
    ]


def _own(metrics: Json, column: str) -> Json:
    own: Json = (metrics.get("by_sensitive") or {}).get(column) or {}
    return own


def _ppi(metrics: list[Json], parameters: Json) -> list[tuple[str, ...]]:
    weights = " ".join(figure(weight) for weight in parameters.get("weights") or [])
    targets = f"k* {figure(parameters.get('k_target'))}, l* {figure(parameters.get('l_target'))}, weights {weights}"
    return [
        ("PPI", *(figure(each.get("ppi")) for each in metrics), "higher", f"summary of k, l, t ({targets})"),
        ("PPI'", *(_ppi_prime(each) for each in metrics), "higher", "the same with k_rw for k: blind to lone rows"),
    ]


def _ppi_prime(metrics: Json) -> str:
    # PPI' can hide a tail of singletons, so that it never stands where k and uniques do not.
    if metrics.get("k") is None or metrics.get("uniques") is None:
        return figure(None)
    return figure(metrics.get("ppi_prime"))


def _attacks(attacks: Mapping[str, Any] | None, width: int) -> list[str]:
    if not attacks:
        return []
    rows = [(title, *_estimate(attacks[key]), words) for key, title, words in ATTACKS if attacks.get(key) is not None]
    return ["Chance, per row, that an adversary points at the right one", *lay_out(rows, width, frozenset({1}), "  ")]


def _estimate(result: object) -> tuple[str, str]:
    """Return the headline and what stands beside it; the plain simulation is always the headline of a simulated one."""
    if not isinstance(result, dict):
        return percent(result), "exact"
    if failed := result.get("error"):
        return figure(None), f"failed: {plain(failed)}"
    notes = [] if result.get("exact") is None else [f"exact {percent(result['exact'])}"]
    if interval := result.get("ci95"):
        notes.append(f"95 %: {percent(interval[0])[:-2]} to {percent(interval[1])}")
    if result.get("agrees") is False:
        notes.append("the two disagree")
    return percent(result.get("estimate")), ", ".join(notes)


def _remarks(posture: Json, width: int) -> list[str]:
    """Return the flags in words, the findings of the service, and earlier releases to the same recipient."""
    rows = [
        (plain(flag), FLAGS.get(flag, "a condition that this client does not know"))
        for flag in posture.get("flags") or []
    ]
    rows += [(plain(each.get("code")), plain(each.get("detail"))) for each in posture.get("findings") or []]
    if prior := posture.get("prior_releases"):
        named = ", ".join(plain(each.get("release")) for each in prior)
        rows.append(("prior_releases", f"this recipient has {named} of the same source: rows may be joined"))
    if joined := posture.get("composition"):
        with_others = (
            f"beside {len(joined.get('releases') or [])} releases of this recipient: k {figure(joined.get('k'))}"
        )
        rows.append(("composition", f"{with_others}, alone {figure(joined.get('uniques'))}"))
    return ["Take note", *lay_out(rows, width, indent="  ")] if rows else []


def _closing(posture: Json) -> list[str]:
    unit = UNITS.get(str(posture.get("unit")))
    return [*([unit] if unit else []), CLOSING]
