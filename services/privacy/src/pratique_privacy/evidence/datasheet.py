"""The datasheet of a release: what its reader must know, in Markdown (after Gebru et al. 2021)."""

import re
from collections.abc import Iterable

from pratique_privacy.evidence.limits import LIMITATIONS
from pratique_privacy.evidence.words import FLAGS, UNITS, figure, percent, step_text
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.posture import posture_of
from pratique_shared.contracts.facts import Published
from pratique_shared.contracts.posture import AttackResult, Posture

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def datasheet_of(facts: ReleaseFacts) -> str:
    """Return the datasheet of a published release; it shows no figure of the source that a recipient may not see."""
    posture, outcome = posture_of(facts), facts.outcome
    if posture is None or not isinstance(outcome, Published):
        raise ValueError("only a published release has a datasheet")
    requested = facts.requested
    sections = [
        [f"# Datasheet of {requested.id}", f"Released on {outcome.at[:10]}. The certificate holds what is said here."],
        ["## Why it was made", f"Recipient: {_told(requested.recipient)}. Purpose: {_told(requested.purpose)}."],
        ["## What it holds", *_composition(posture, outcome)],
        ["## How it was collected", f"From {len(posture.sources) or 1} source(s). {UNITS[posture.unit]}"],
        ["## How it was transformed", *_transformation(posture)],
        ["## What was measured", *_measures(posture)],
        ["## What to mind", *_bullets([*LIMITATIONS, *_remarks(posture)])],
        ["## How to check it", *_checking(requested.id)],
    ]
    return "\n\n".join("\n\n".join(section) for section in sections) + "\n"


def _composition(posture: Posture, outcome: Published) -> list[str]:
    kinds = {
        column: kind
        for kind in ("identifiers", "quasi_identifiers", "sensitive", "insensitive")
        for column in getattr(posture.attributes, kind)
    }
    rows = [
        f"| {_plain(name)} | {word} | {_plain(kinds.get(name, ''))} |" for name, word in outcome.schema_types.items()
    ]
    records = posture.records
    return [
        f"{records.rows_out} records of {records.rows_in}; {percent(records.survival)} survived the policy.",
        "\n".join(["| column | type | class |", "|---|---|---|", *rows]),
    ]


def _transformation(posture: Posture) -> list[str]:
    named = f"Policy {_plain(posture.built_in)}. " if posture.built_in else ""
    steps = [_plain(step_text(step)) for step in posture.steps]
    return [f"{named}SHA-256 {posture.policy_sha256}.", *_bullets(steps or ["no step"])]


def _measures(posture: Posture) -> list[str]:
    after = posture.after
    names = ("classes", "k", "uniques", "k_rw", "l", "t", "exact_reid", "max_risk", "share_below_k", "ppi", "ppi_prime")
    rows = [f"| {_plain(name)} | {figure(getattr(after, name))} |" for name in names]
    if (attacks := posture.attacks) is not None:
        rows.append(f"| adversary: exact QI | {figure(attacks.exact_qi)} |")
        rows += [_attack("partial QI", attacks.partial_qi), _attack("linkage", attacks.linkage)]
    gate = [] if posture.gate is None else posture.gate.checks
    checks = [f"{_plain(c.metric)} {c.op} {figure(c.bound)}: measured {figure(c.value)}, {c.status}" for c in gate]
    return ["\n".join(["| figure | value |", "|---|---|", *filter(None, rows)]), *_bullets(checks or ["no gate"])]


def _attack(name: str, result: AttackResult | None) -> str:
    if result is None:
        return ""
    interval = "" if result.ci95 is None else f" [{figure(result.ci95[0])}, {figure(result.ci95[1])}]"
    return f"| adversary: {name} | {figure(result.estimate)}{interval}, exact {figure(result.exact)} |"


def _remarks(posture: Posture) -> list[str]:
    flags = [f"{_plain(flag)}: {FLAGS.get(flag, 'see the documentation')}" for flag in posture.flags]
    return [*flags, *(_plain(finding.detail) for finding in posture.findings)]


def _checking(release: str) -> list[str]:
    return [
        "Get the operator's public key by a way that you trust (`GET /keys/jwks.json`), then:",
        f"```\npython verify.py certificate.json --key jwks.json --records {release}.parquet\n```",
    ]


def _bullets(lines: Iterable[str]) -> list[str]:
    return ["\n".join(f"- {line}" for line in lines)]


def _told(text: str | None) -> str:
    return _plain(text) if text else "not told"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is: no markup of its own, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join("".join(c if c.isprintable() else " " for c in text).split()))
