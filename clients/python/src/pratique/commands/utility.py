"""`pratique utility`: what a classifier still learns of what suppression leaves."""

import argparse

from pratique.columns import figure, percent, plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, Misuse, add_wait, example, group, json_object
from pratique.commands.shell import UNWRAPPED, Shell, follow
from pratique.exchange import Json

CREATE = """Learn the label of records from features, on what class-support suppression leaves of the training part.

Each row of the answer is a threshold: survival, macro-F1, accuracy, recall on the two rarest labels, and how much of
macro-F1 is retained, as means over repeated splits with 95 % intervals. Averages hide that rare labels go first."""
EXAMPLES = """examples:
  pratique utility create --source cap_01
  pratique utility create --source cap_01 --exempt-rarest 2 --repeats 20
  pratique utility create --source dst_01 --label device --feature bytes --feature duration"""

SHOWN = example("pratique utility show utl_01")


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "utility", "measure what can still be learnt after suppression", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    parser = group(verbs, "create", "ask for a utility study", CREATE, EXAMPLES)
    parser.add_argument("--source", action="append", metavar="ID", help="a capture, dataset or release; repeatable")
    parser.add_argument("--label", help="the column to predict (default role)")
    parser.add_argument("--feature", action="append", metavar="COLUMN", help="a column to learn from; repeatable")
    parser.add_argument("--tau", action="append", type=int, metavar="N", help="a threshold; repeatable")
    parser.add_argument("--repeats", type=int, metavar="N", help="random splits (default 20; 1 as in the paper)")
    parser.add_argument("--exempt-rarest", type=int, metavar="N", help="once more with the N rarest labels kept")
    parser.add_argument("--seed", type=int, metavar="N", help="of splits and forests (default 1)")
    parser.add_argument("--file", type=json_object, metavar="FILE", help="the whole request as JSON (- for input)")
    add_wait(parser, "all splits are scored")
    parser.set_defaults(run=create)
    one = group(verbs, "show", "show a utility study and, once completed, its rows", epilog=SHOWN)
    one.add_argument("utility", metavar="ID", help="utl_..")
    one.set_defaults(run=show)


def create(shell: Shell, options: argparse.Namespace) -> int:
    """Ask for a study and, unless told otherwise, wait for its rows."""
    given = {
        "sources": options.source,
        "features": options.feature,
        "taus": options.tau,
        **{name: getattr(options, name) for name in ("label", "repeats", "exempt_rarest", "seed")},
    }
    body = {**(options.file or {}), **{name: value for name, value in given.items() if value is not None}}
    if not body.get("sources"):
        raise Misuse("a utility study needs sources: give --source or --file")
    state = shell.client.create_utility(body)
    if options.wait:
        shell.remark(f"accepted as {plain(state['id'])}")
        with shell.bar("queued") as bar:
            state = shell.client.wait_utility(state["id"], options.timeout, follow(bar))
    shell.show(state, summary(state, shell.width), short=plain(state["id"]))
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show a utility study."""
    state = shell.client.utility(options.utility)
    shell.show(state, summary(state, shell.width), short=plain(state.get("status")))
    return exits.OK


def summary(state: Json, width: int = UNWRAPPED) -> str:
    """Return a study as a table, a row a threshold."""
    lines = [f"{plain(state['id'])}  {plain(state.get('status'))}"]
    if error := state.get("error"):
        lines.append(f"  {plain(error.get('code'))}: {plain(error.get('detail'))}")
    if "rows" in state:
        lines += ["", _rows(state["rows"], width)]
    return "\n".join(lines)


def _rows(rows: list[Json], width: int) -> str:
    names = ("macro_f1", "accuracy", "edge_recall", "f1_retained")
    laid = [
        (
            figure(row["tau"]),
            figure(row["exempt_rarest"]),
            percent(row["survival"]),
            *(_with_interval(row[name], row["ci95"][name]) for name in names),
        )
        for row in rows
    ]
    return table([("TAU", "EXEMPT", "SURVIVAL", *(name.upper() for name in names)), *laid], width)


def _with_interval(value: float | None, interval: list[float] | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.3f}" if interval is None else f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
