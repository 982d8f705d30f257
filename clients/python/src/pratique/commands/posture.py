"""`pratique posture`, `gate` and `suggestions`: what a release measures, whether it passes, what would help."""

import argparse
import json
from pathlib import Path

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_wait, example, group
from pratique.commands.shell import Shell, follow
from pratique.exchange import Json
from pratique.posture_table import gate_lines, render, verdict_text
from pratique.profile import Profile, verdict_of

POSTURE = """Show what a release measures, before and after the policy: class sizes, diversity, closeness, the
adversaries with their intervals, the gate, and what to mind when reading them.

A recipient sees the figures after; the raw side is the operator's."""
GATE = """Show the gate of a release, check by check. The exit status tells the verdict:

  0  pass           the records may be downloaded
  3  fail           a bound is not met
  4  indeterminate  a figure is missing, which is no pass either"""
GATE_EXAMPLES = """examples:
  pratique gate rel_01 && pratique release records rel_01 -o round12.parquet
  pratique gate rel_01 --profile round.toml          bounds of your own beside those of the release"""

SHOWN = example("pratique posture rel_01", "pratique posture rel_01 --json > posture.json")
HELP = example("pratique suggestions rel_01")


def add(commands: Commands) -> None:
    """Add the three commands."""
    posture = group(commands, "posture", "show what a release measures, before and after", POSTURE, SHOWN)
    gate = group(commands, "gate", "show whether a release passes: exit status 0, 3 or 4", GATE, GATE_EXAMPLES)
    suggestions = group(commands, "suggestions", "show which changes of policy would help, and why", epilog=HELP)
    for parser, run in ((posture, show_posture), (gate, show_gate), (suggestions, show_suggestions)):
        parser.add_argument("release", metavar="ID", help="rel_..")
        parser.set_defaults(run=run)
    gate.add_argument(
        "--profile", type=Path, metavar="FILE", help="hold these bounds too: TOML or JSON, such as `k = 5`"
    )
    add_wait(gate, "the gate is decided", "show how it stands")


def show_posture(shell: Shell, options: argparse.Namespace) -> int:
    """Print the posture table."""
    posture = shell.client.posture(options.release)
    shell.show(posture, render(posture, shell.width), short=plain(posture.get("verdict") or posture.get("status")))
    return exits.OK


def show_gate(shell: Shell, options: argparse.Namespace) -> int:
    """Print the checks; the verdict is the exit status."""
    asked = None if options.profile is None else Profile.load(options.profile)
    if options.wait:
        with shell.bar("queued") as bar:
            shell.client.wait_release(options.release, options.timeout, follow(bar))
    gate = shell.client.gate(options.release)
    if asked is not None:
        gate = _joined(gate, asked.checks(shell.client.posture(options.release)))
    verdict = gate.get("verdict")
    shell.show(gate, "\n".join(gate_lines(gate, shell.width)), short=verdict_text(verdict))
    return exits.of_verdict(verdict)


def _joined(gate: Json, checks: list[Json]) -> Json:
    """Return a gate with checks of a profile; it passes only if both do."""
    verdicts = {str(gate.get("verdict")), verdict_of(checks)}
    verdict = "fail" if "fail" in verdicts else "pass" if verdicts == {"pass"} else "indeterminate"
    return {**gate, "verdict": verdict, "checks": [*(gate.get("checks") or []), *checks]}


def show_suggestions(shell: Shell, options: argparse.Namespace) -> int:
    """Print suggestions, each with its reason, the change, and the figures to expect."""
    found = shell.client.suggestions(options.release)
    text = "\n\n".join(suggestion(each) for each in found) or "Nothing to suggest for this release."
    shell.show(found, text, short="\n".join(plain(each.get("rule")) for each in found))
    return exits.OK


def suggestion(each: Json) -> str:
    """Return one suggestion in up to three lines."""
    lines = [f"{plain(each.get('rule'))}: {plain(each.get('reason'))}"]
    if patch := each.get("patch"):
        lines.append(f"  change: {plain(json.dumps(patch, ensure_ascii=False))}")
    if predicted := each.get("predicted"):
        lines.append("  expect: " + ", ".join(f"{plain(name)} {figure(value)}" for name, value in predicted.items()))
    return "\n".join(lines)
