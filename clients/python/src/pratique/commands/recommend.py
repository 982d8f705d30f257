"""`pratique recommend`: which policy passes a gate at the least loss."""

import argparse
import json
from pathlib import Path

from pratique.columns import figure, percent, plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_wait, bound, gate, group, json_object
from pratique.commands.request import source_of
from pratique.commands.shell import UNWRAPPED, Shell, follow
from pratique.exchange import Json

ABOUT = """Search the levels of generalisation of each quasi-identifier, times thresholds of suppression, for the policy
that passes the gate at the least loss.

The answer is a policy that `release create --policy FILE` takes, and the front of risk against loss: what one more
step of privacy would cost. Exit status 3 when no policy that was looked at passes."""
EXAMPLES = """examples:
  pratique recommend --capture cap_01 --attributes classes.json --gate "k>=5" --gate "survival>=0.8" -o policy.json
  pratique recommend --dataset dst_01 --attributes classes.json --gate "linkage<=0.2" --seconds 120"""
SHOWN = 12  # points of the front


def add(commands: Commands) -> None:
    """Add the command."""
    parser = group(commands, "recommend", "find the policy that passes a gate at the least loss", ABOUT, EXAMPLES)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--capture", action="append", metavar="ID", help="a capture; repeat to pool several")
    source.add_argument("--dataset", metavar="ID", help="a table of your own")
    parser.add_argument("--unit", choices=("host", "session"), help="what a row of a capture is (default host)")
    parser.add_argument("--attributes", type=json_object, metavar="FILE", help="the class of each column, as JSON")
    parser.add_argument("--policy", type=json_object, metavar="FILE", help="steps that come first, as JSON")
    parser.add_argument("--gate", type=bound, action="append", metavar="BOUND", help='"k>=5"; repeatable; default k>=2')
    parser.add_argument("--evaluations", type=int, metavar="N", help="choices of levels to look at (default 2000)")
    parser.add_argument("--seconds", type=float, metavar="S", help="how long to search (default 60)")
    parser.add_argument("--file", type=json_object, metavar="FILE", help="the whole request as JSON (- for input)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the recommended policy there")
    add_wait(parser, "the search has ended")
    parser.set_defaults(run=run)


def run(shell: Shell, options: argparse.Namespace) -> int:
    """Ask and, unless told otherwise, wait for the policy."""
    state = shell.client.create_recommendation(_body(options))
    if not options.wait:
        shell.show(state, plain(state["id"]), short=plain(state["id"]))
        return exits.OK
    shell.remark(f"accepted as {plain(state['id'])}")
    with shell.bar("searching") as bar:
        state = shell.client.wait_recommendation(state["id"], options.timeout, follow(bar))
    best = state.get("recommended")
    if best is not None and options.output is not None:
        options.output.write_text(json.dumps(best["policy"], indent=2) + "\n", encoding="utf-8")
        shell.remark(f"the policy is in {options.output}")
    shell.show(state, summary(state, shell.width), short=plain(state["id"]))
    return exits.OK if best is not None else exits.GATE_FAILED


def _body(options: argparse.Namespace) -> Json:
    budget = {name: getattr(options, name) for name in ("evaluations", "seconds")}
    given = {
        "source": source_of(options),
        "attributes": options.attributes,
        "policy": options.policy,
        "gate": gate(options.gate) if options.gate else None,
        "budget": {name: value for name, value in budget.items() if value is not None} or None,
    }
    return {**(options.file or {}), **{name: value for name, value in given.items() if value is not None}}


def summary(state: Json, width: int = UNWRAPPED) -> str:
    """Return what was found: the steps of the policy, its figures and losses, and points of the front."""
    best, search = state.get("recommended"), state.get("search") or {}
    lines = [f"{plain(state['id'])}  {plain(state.get('status'))}"]
    if best is None:
        lines.append("  no policy that was looked at passes the gate")
    else:
        lines += [f"  {plain(json.dumps(step))}" for step in best["policy"]["steps"]]
        lines.append("  it is the least loss there is" if state.get("proved") else "  a lesser loss may exist")
    if search.get("cut"):
        lines.append(f"  the search was cut by its budget: {plain(search['cut'])}")
    front = list(state.get("front") or [])
    points = [*([best] if best else []), *front[:: max(1, len(front) // SHOWN)]]
    if points:
        lines += ["", table([HEADINGS, *(_point(each, each is best) for each in points)], width)]
    return "\n".join(lines)


HEADINGS = ("", "K", "EXACT", "PARTIAL", "LINKAGE", "SURVIVAL", "ENTROPY LOSS", "GRANULARITY LOSS")


def _point(found: Json, best: bool) -> tuple[str, ...]:
    predicted, loss = found["predicted"], found["loss"]
    return (
        "best" if best else "",
        figure(predicted.get("k")),
        figure(predicted.get("exact_qi")),
        figure(predicted.get("partial_qi")),
        figure(predicted.get("linkage")),
        percent(loss["survival"]),
        percent(loss["entropy"]),
        percent(loss["granularity"]),
    )
