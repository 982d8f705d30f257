"""The assurance report: one table of every figure, with the machine and the revision that it was measured on."""

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pratique_shared.runtime.clock import now
from tests.assurance.figures import Figure, Profile

HEAD = """\
# Assurance

What must never happen, and what was measured against it. `make assure` runs every check and writes this page;
`make assure PROFILE=ci` takes smaller numbers and leaves the page alone. A control is a figure that shows that a check
looked at something; a check without its controls would pass on an empty house.
"""


@dataclass(frozen=True)
class Outcome:
    """What a check found: its figures, or the error that ended it, and the seconds it took."""

    check: str
    figures: Sequence[Figure]
    error: str
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether the check ran to its end, measured something, and every figure held."""
        return not self.error and bool(self.figures) and all(figure.holds for figure in self.figures)


def said(figure: Figure) -> str:
    """Return a figure as one line of text."""
    unit = f" {figure.unit}" if figure.unit else ""
    mark = "pass" if figure.holds else "FAIL"
    return f"{figure.name}: {figure.value:,.6g}{unit} ({figure.bound} {figure.limit:,.6g}{unit}) {mark}"


def page(profile: Profile, outcomes: Sequence[Outcome]) -> str:
    """Return the report as Markdown."""
    lines = [HEAD, _measured_on(profile), "", "| check | figure | value | bound | |", "|---|---|--:|--:|---|"]
    for outcome in outcomes:
        for figure in outcome.figures:
            unit = f" {figure.unit}" if figure.unit else ""
            mark = "pass" if figure.holds else "**FAIL**"
            value, limit = f"{figure.value:,.6g}{unit}", f"{figure.bound} {figure.limit:,.6g}{unit}"
            lines.append(f"| {outcome.check} | {figure.name} | {value} | {limit} | {mark} |")
        if outcome.error:
            lines.append(f"| {outcome.check} | ended by {outcome.error} | | | **FAIL** |")
    took = ", ".join(f"{outcome.check} {outcome.seconds:.0f} s" for outcome in outcomes)
    return "\n".join([*lines, "", f"The checks took: {took}.", ""])


def _measured_on(profile: Profile) -> str:
    revision = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        check=False,
        capture_output=True,
        text=True,
    ).stdout.strip()
    cores = len(os.sched_getaffinity(0))
    return (
        f"Measured {now():%Y-%m-%d} at revision {revision or 'unknown'}, profile `{profile}`, {cores} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, all of it on one machine."
    )
