"""The assurance report: every figure of the last outcome of every check, with what it was measured on."""

import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from pratique_shared.runtime.clock import now
from tests.assurance.figures import Figure, Profile

HEAD: Final = """\
# Assurance

What must never happen, and what was measured against it. `make assure` runs every check and writes this page; `make
assure PROFILE=ci` takes smaller numbers and leaves the page alone. `python -m tests.assurance kills --profile full
--report docs/assurance.md` runs one check and puts its figures in place of the earlier ones. What a check does stands
at the head of its module in `tests/assurance/checks`. A figure with a least value shows that the check looked at
something. No bound is moved to what was measured: what misses its bound is marked.
"""
TAIL: Final = """
## What this does not show

- Everything ran on one machine over loopback: no network that loses or delays, no second kernel, no power cut. A kill
  ends a process; what the kernel holds for the disk survives it.
- No container engine, kubelet or KEDA: the read-only root, dropped capabilities, limits and network policies of the
  compose file and the manifests are written and checked for form, not seen at work.
- S3 is a simulation (moto) with conditional puts made atomic; a real one was not asked.
- Clocks jump inside of processes. The machine's own does not, and neither does that of the queue server.
- The O-RAN coordinator is a fake of its described behaviour; the Java one was not run.
- A canary is an identifier that was put in. A form of one that nobody thought of is not looked for.
"""


@dataclass(frozen=True)
class Made:
    """With what an outcome was measured."""

    profile: Profile
    day: str
    revision: str
    machine: str


@dataclass(frozen=True)
class Outcome:
    """What a check found: its figures, or the error that ended it, and the seconds it took."""

    check: str
    figures: Sequence[Figure]
    error: str
    seconds: float
    made: Made

    @property
    def holds(self) -> bool:
        """Whether the check ran to its end, measured something, and every figure held."""
        return not self.error and bool(self.figures) and all(figure.holds for figure in self.figures)


_STORED: Final = TypeAdapter(Outcome)


def keep(outcome: Outcome, folder: Path) -> None:
    """Put an outcome in place of the earlier one of its check."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{outcome.check}.json").write_bytes(_STORED.dump_json(outcome, indent=1))


def kept(checks: Iterable[str], folder: Path) -> list[Outcome]:
    """Return the last outcome of each check that has one."""
    paths = [folder / f"{check}.json" for check in checks]
    return [_STORED.validate_json(path.read_bytes()) for path in paths if path.exists()]


def made_here(profile: Profile) -> Made:
    """Return what is measured with now: this revision on this machine."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    told = subprocess.run(asked, cwd=Path(__file__).parent, check=False, capture_output=True, text=True)
    cores = len(os.sched_getaffinity(0))
    machine = f"{cores} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return Made(profile, f"{now():%Y-%m-%d}", told.stdout.strip() or "unknown", machine)


def said(figure: Figure) -> str:
    """Return a figure as one line of text."""
    mark = "pass" if figure.holds else "FAIL"
    return f"{figure.name}: {_amount(figure.value, figure)} ({figure.bound} {_amount(figure.limit, figure)}) {mark}"


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the report as Markdown."""
    missed = [
        f"{outcome.check} ({figure.name})" for outcome in outcomes for figure in outcome.figures if not figure.holds
    ]
    missed += [f"{outcome.check} (ended by {outcome.error})" for outcome in outcomes if outcome.error]
    figures = sum(len(outcome.figures) for outcome in outcomes)
    verdict = (
        f"{len(outcomes)} checks, {figures} figures, {len(missed)} missed{': ' if missed else ''}{', '.join(missed)}."
    )
    lines = [HEAD, verdict, "", "| check | profile | measured | took | |", "|---|---|---|--:|---|"]
    for outcome in outcomes:
        made = f"{outcome.made.day}, revision {outcome.made.revision}, {outcome.made.machine}"
        lines.append(
            f"| {outcome.check} | {outcome.made.profile} | {made} | {outcome.seconds:.0f} s | {_mark(outcome.holds)} |"
        )
    lines += ["", "| check | figure | value | bound | |", "|---|---|--:|--:|---|"]
    for outcome in outcomes:
        for each in outcome.figures:
            bound = f"{each.bound} {_amount(each.limit, each)}"
            lines.append(
                f"| {outcome.check} | {each.name} | {_amount(each.value, each)} | {bound} | {_mark(each.holds)} |"
            )
        if outcome.error:
            lines.append(f"| {outcome.check} | ended by {outcome.error} | | | {_mark(False)} |")
    return "\n".join([*lines, TAIL])


def _amount(value: float, figure: Figure) -> str:
    number = f"{value:,.0f}" if isfinite(value) and value == int(value) else f"{value:,.3g}"
    return f"{number} {figure.unit}" if figure.unit else number


def _mark(holds: bool) -> str:
    return "pass" if holds else "**FAIL**"
