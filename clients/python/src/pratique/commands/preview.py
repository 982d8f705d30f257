"""`pratique preview`: what a policy would do, tried on at most 10,000 rows of which nothing is kept."""

import argparse

from pratique.columns import figure, plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, Misuse, example, group, json_object, policy, some
from pratique.commands.capture import cell
from pratique.commands.request import LENT, source_of
from pratique.commands.shell import UNWRAPPED, Shell
from pratique.exchange import Json

ABOUT = """Apply a policy to a source of at most 10,000 rows and show the figures on both sides, and what would help.

Nothing is kept and nothing is released: it is for the operator."""
EXAMPLES = example(
    "pratique preview --capture cap_01 --policy C4", "pratique preview --file trial.json --rows 5 --json"
)
FIGURES = ("rows", "classes", "k", "l", "t", "k_rw", "uniques", "exact_reid", "ppi", "ppi_prime")


def add(commands: Commands) -> None:
    """Add the command."""
    parser = group(commands, "preview", "try a policy; nothing is kept", ABOUT, EXAMPLES)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--capture", action="append", metavar="ID", help="a capture; repeat to pool several")
    source.add_argument("--dataset", metavar="ID", help="a table of your own")
    parser.add_argument("--unit", choices=("host", "session"), help="what a row of a capture is (default host)")
    parser.add_argument("--policy", type=policy, metavar="NAME|FILE", help="a built-in, a stored one, or a .json file")
    parser.add_argument("--attributes", type=json_object, metavar="FILE", help="the class of each column, as JSON")
    parser.add_argument("--file", type=json_object, metavar="FILE", help="the whole request as JSON (- for input)")
    parser.add_argument("--rows", type=some, default=10, metavar="N", help="how many rows to show (default 10)")
    parser.set_defaults(run=run)


def run(shell: Shell, options: argparse.Namespace) -> int:
    """Try a policy."""
    found = shell.client.preview(_body(options))
    shell.show(found, summary(found, options.rows, shell.width), short=figure((found["after"]["metrics"]).get("k")))
    return exits.OK


def _body(options: argparse.Namespace) -> Json:
    body: Json = dict(options.file or {})
    named: Json = {"source": source_of(options), "attributes": options.attributes, "policy": options.policy}
    body |= {name: value for name, value in named.items() if value is not None}
    if isinstance(body.get("policy"), dict):
        brought = body["policy"]
        body["policy"] = {name: value for name, value in brought.items() if name not in LENT}
        if "attributes" in brought:
            body.setdefault("attributes", brought["attributes"])
    for part, words in (("source", "--capture, --dataset or --file"), ("policy", "--policy or --file")):
        if part not in body:
            raise Misuse(f"a preview needs a {part}: give {words}")
    return body


def summary(found: Json, rows: int, width: int = UNWRAPPED) -> str:
    """Return the figures on both sides, the first rows after, and the suggestions."""
    sides = [found[side]["metrics"] for side in ("before", "after")]
    figures = [(name, *(figure(side.get(name)) for side in sides)) for name in FIGURES]
    parts = [table([("FIGURE", "BEFORE", "AFTER"), *figures], width)]
    shown = found["after"]["rows"][:rows]
    if shown:
        names = list(shown[0])
        laid = [tuple(cell(row.get(name)) for name in names) for row in shown]
        parts.append(table([tuple(plain(name).upper() for name in names), *laid], width))
    helpful = [f"{plain(each.get('rule'))}: {plain(each.get('reason'))}" for each in found.get("suggestions") or []]
    return "\n\n".join([*parts, *(["\n".join(helpful)] if helpful else [])])
