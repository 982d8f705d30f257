"""The report: the whole posture of a release and all its risk results, in the order in which a reader asks."""

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from pratique_privacy.evidence.limits import LIMITATIONS
from pratique_privacy.evidence.report import risk
from pratique_privacy.evidence.report.charts import Bar, rows
from pratique_privacy.evidence.report.page import bullets, page, paragraph, section, table
from pratique_privacy.evidence.words import FLAGS, NONE, UNITS, figure, percent, step_text
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.posture import posture_of, released_labels
from pratique_shared.contracts.posture import Metrics, Posture

# What a figure means, and in which direction it hides better (Kekatos et al. 2026, §IV-B and §IV-D).
MEANINGS: Final = {
    "rows": ("records in the table", ""),
    "classes": ("groups of records that agree on every quasi-identifier", ""),
    "k": ("records in the smallest class", "higher"),
    "uniques": ("records that are alone in their class", "lower"),
    "k_rw": ("class size of a typical record; can hide lone ones", "higher"),
    "granularity": ("classes over records", "lower"),
    "l": ("fewest distinct sensitive values in a class", "higher"),
    "l_entropy": ("the same, counting how evenly they are spread", "higher"),
    "t": ("greatest distance of a class's sensitive values from those of all", "lower"),
    "t_ordered": ("the same for ordered values, by how far they lie apart", "lower"),
    "exact_reid": ("mean chance of one who knows every quasi-identifier", "lower"),
    "max_risk": ("chance in the smallest class, 1/k", "lower"),
    "share_below_k": ("records in classes smaller than the target", "lower"),
    "ppi": ("Privacy-Posture Index: a summary", "higher"),
    "ppi_prime": ("the same with the class size of a typical record", "higher"),
}
MOST_LABELS: Final = 20


def report_of(facts: ReleaseFacts, results: risk.Risk, *, before: bool) -> str:
    """Return the report of a release that has its outcome; `before` is for those who may see the raw table's figures.

    `results` are those of `/risk`, as far as the reader may see them.
    """
    posture = posture_of(facts)
    if posture is None or posture.gate is None:
        raise ValueError("only a release with a verdict has a report")
    sections = [
        _head(facts, posture),
        _gate(posture),
        _figures(posture, posture.before if before else None),
        _sensitive(posture.after),
        risk.classes(results),
        risk.subsets(results),
        risk.adversaries(posture),
        risk.readings(posture),
        _records(posture, hidden=not before),
        risk.attributes(results),
        _policy(posture),
        _remarks(posture),
        _files(posture),
    ]
    return page(f"Posture of {posture.release}", sections)


def _head(facts: ReleaseFacts, posture: Posture) -> str:
    requested, verdict = facts.requested, posture.verdict or "indeterminate"
    told = {"for": requested.recipient, "purpose": requested.purpose, "computed": posture.computed_at}
    said = "; ".join(f"{name} {text}" for name, text in told.items() if text)
    return (
        f"<h1>{escape(posture.release)}</h1>"
        f'<p>Gate: <span class="verdict {verdict}">{verdict}</span>. {escape(UNITS[posture.unit])}</p>'
        f"{paragraph(said, 'soft')}"
    )


def _gate(posture: Posture) -> str:
    assert posture.gate is not None  # `report_of` has seen it
    rows_ = [
        (check.metric, f"{check.op} {figure(check.bound)}", figure(check.value), check.status)
        for check in posture.gate.checks
    ]
    text = "A figure that is missing is never a pass." if rows_ else "No bound was asked for."
    return section("Gate", paragraph(text, "soft"), table(("figure", "bound", "measured", ""), rows_, (1, 2)))


def _figures(posture: Posture, before: Metrics | None) -> str:
    head = ["figure", "after", "meaning", "hides better"]
    found = []
    for name, (meaning, better) in MEANINGS.items():
        row = [name, figure(getattr(posture.after, name)), meaning, better]
        if before is not None:
            row.insert(1, figure(getattr(before, name)))
        found.append(row)
    if before is not None:
        head.insert(1, "before")
    whole, ppi = posture.all_columns, posture.ppi_parameters
    return section(
        "Figures" if before is None else "Figures before and after",
        table(head, found, range(1, len(head) - 2)),
        paragraph(
            f"Over every released column, quasi-identifier or not: {figure(whole.classes)} classes, "
            f"{figure(whole.uniques)} unique records. PPI with targets k {ppi.k_target}, l {ppi.l_target} and weights "
            f"{', '.join(map(figure, ppi.weights))}.",
            "soft",
        ),
    )


def _sensitive(after: Metrics) -> str:
    names = ("l", "l_entropy", "t", "t_ordered")
    found = [(column, *(figure(getattr(one, n)) for n in names)) for column, one in after.by_sensitive.items()]
    return section("By sensitive column", table(("column", *names), found, (1, 2, 3, 4)) if len(found) > 1 else "")


def _records(posture: Posture, *, hidden: bool) -> str:
    records = posture.records
    shares = [(name, percent(share)) for name, share in records.cells_suppressed.items()]
    unread = [(name, figure(count)) for name, count in records.unreadable.items()]
    shown = released_labels(posture) if hidden else records.survival_by_label
    labels = sorted(shown.items(), key=lambda pair: (pair[1], pair[0]))
    bars = [Bar(label, share, percent(share)) for label, share in labels[:MOST_LABELS]]
    return section(
        "Records",
        paragraph(f"{figure(records.rows_out)} of {figure(records.rows_in)} survived ({percent(records.survival)})."),
        table(("column", "cells suppressed"), shares, (1,)),
        table(("column", "cells that its step could not read"), unread, (1,)),
        rows(bars, "Survival by label, least first") if bars else "",
    )


def _policy(posture: Posture) -> str:
    named = f"{posture.built_in}. " if posture.built_in else ""
    kinds = ("identifiers", "quasi_identifiers", "sensitive", "insensitive", "drop")
    listed = [(kind.replace("_", "-"), ", ".join(getattr(posture.attributes, kind))) for kind in kinds]
    return section(
        "Policy",
        paragraph(f"{named}SHA-256 {posture.policy_sha256}", "soft"),
        bullets(step_text(step) for step in posture.steps),
        table(("class", "columns"), [row for row in listed if row[1]]),
    )


def _remarks(posture: Posture) -> str:
    return section("What to mind", bullets([*_raised(posture), *LIMITATIONS]))


def _raised(posture: Posture) -> Iterator[str]:
    for flag in posture.flags:
        yield f"{flag}: {FLAGS.get(flag, 'see the documentation')}"
    for finding in posture.findings:
        yield f"{finding.code}: {finding.detail}"
    for prior in posture.prior_releases:
        yield f"Earlier release of the same bytes to the same recipient: {prior.release}, {prior.created_at}."


def _files(posture: Posture) -> str:
    rows_: list[tuple[Any, ...]] = [(form, sha256) for form, sha256 in sorted(posture.files.items())]
    versions = ", ".join(f"{name} {number}" for name, number in posture.versions.items())
    head = table(("released file", "SHA-256"), rows_)
    return section("Evidence", head or paragraph("Nothing was released."), paragraph(versions or NONE, "soft"))
