"""`pratique dataset`: tables of one's own, sent to be released like a capture."""

import argparse
from itertools import islice
from pathlib import Path

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_limit, add_wait, example, group
from pratique.commands.capture import add_delete, add_labels
from pratique.commands.shell import Shell, follow
from pratique.exchange import Json

PUSH = """Send a table: .csv, .ndjson, .jsonl, or .json with {"rows": [..]}.

Its columns are then classified by the `attributes` of a release; `pratique classify --dataset ID` suggests them."""
EXAMPLES = example("pratique dataset push charging.csv --pilot lab")


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "dataset", "send a table of your own, and see those that there are", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    parser = group(verbs, "push", "send a table", PUSH, EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="its ending tells the format")
    add_labels(parser)
    add_wait(parser, "the table is read")
    parser.set_defaults(run=push)
    usage = example("pratique dataset list")
    listing = group(verbs, "list", "list the datasets, newest first", epilog=usage)
    add_limit(listing)
    listing.set_defaults(run=show_all)
    one = group(verbs, "show", "show a dataset: its rows and columns", epilog=example("pratique dataset show dst_01"))
    one.add_argument("dataset", metavar="ID", help="dst_..")
    one.set_defaults(run=show)
    add_delete(verbs, "dataset", "dst_..", lambda shell, name: shell.client.delete_dataset(name))


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


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List datasets."""
    rows = list(islice(shell.client.datasets(), options.limit or None))
    shell.show_list(
        rows,
        ("ID", "ROWS", "COLUMNS", "PILOT", "NAME"),
        lambda row: (
            plain(row["id"]),
            figure(row.get("rows")),
            figure(len(row.get("columns") or ())),
            plain(row.get("pilot") or "-"),
            plain(row.get("name") or ""),
        ),
    )
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show one dataset."""
    state = shell.client.dataset(options.dataset)
    shell.show(state, summary(state), short=plain(state.get("status") or state["id"]))
    return exits.OK


def summary(state: Json) -> str:
    """Return a dataset in a line for itself and one for each column."""
    head = f"{plain(state['id'])}  {figure(state.get('rows'))} rows"
    columns = [f"  {plain(each.get('name'))}: {plain(each.get('type'))}" for each in state.get("columns") or []]
    return "\n".join([head, *columns])
