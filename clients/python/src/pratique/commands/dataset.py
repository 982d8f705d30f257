"""`pratique dataset`: tables of one's own, sent to be released like a capture."""

import argparse
from pathlib import Path

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_wait, group
from pratique.commands.capture import add_labels
from pratique.commands.shell import Shell, follow
from pratique.exchange import Json

PUSH = """Send a table: .csv, .ndjson, .jsonl, or .json with {"rows": [..]}.

Its columns are then classified by the `attributes` of a release; `pratique classify --dataset ID` suggests them."""


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "dataset", "send a table of your own")
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    parser = group(verbs, "push", "send a table", PUSH)
    parser.add_argument("file", type=Path, metavar="FILE", help="its ending tells the format")
    add_labels(parser)
    add_wait(parser, "the table is read")
    parser.set_defaults(run=push)


def push(shell: Shell, options: argparse.Namespace) -> int:
    """Send a table and, unless told otherwise, wait until it is read."""
    with shell.bar("sending") as bar:
        state = shell.client.push_dataset(
            options.file,
            name=options.name or options.file.name,
            pilot=options.pilot,
            open_to=options.open_to,
            progress=bar,
        )
    if options.wait and "columns" not in state:
        with shell.bar("reading") as bar:
            state = shell.client.wait_dataset(state["id"], options.timeout, follow(bar))
    shell.show(state, summary(state), short=plain(state["id"]))
    return exits.OK


def summary(state: Json) -> str:
    """Return a dataset in a line for itself and one for each column."""
    head = f"{plain(state['id'])}  {figure(state.get('rows'))} rows"
    columns = [f"  {plain(each.get('name'))}: {plain(each.get('type'))}" for each in state.get("columns") or []]
    return "\n".join([head, *columns])
