"""`pratique risk`: where the risk of a release sits, by classes, sets of fields, fields and records."""

import argparse

from pratique.columns import figure, percent, plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, example, group
from pratique.commands.shell import UNWRAPPED, Shell
from pratique.exchange import Json

ASPECTS = ("class", "subset", "attribute", "record")
ABOUT = """Show where the risk of a release sits: how many records hide in classes of which size, which sets of fields
give records away, what each field adds, and the smallest classes."""
EXAMPLES = example("pratique risk rel_01", "pratique risk rel_01 --by class --by subset --json")
MOST = 20  # rows of a part that a person is shown


def add(commands: Commands) -> None:
    """Add the command."""
    parser = group(commands, "risk", "show where the risk of a release sits", ABOUT, EXAMPLES)
    parser.add_argument("release", metavar="ID", help="rel_..")
    parser.add_argument("--by", action="append", choices=ASPECTS, help="which part; repeatable (default all)")
    parser.set_defaults(run=show)


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show the risk."""
    found = shell.client.risk(options.release, ",".join(options.by) if options.by else None)
    shell.show(found, summary(found, shell.width), short=plain(options.release))
    return exits.OK


def summary(found: Json, width: int = UNWRAPPED) -> str:
    """Return each part as a table; members that a newer service adds stand in the JSON."""
    return "\n\n".join(_part(name, found[name], width) for name in ASPECTS if name in found)


def _part(name: str, part: object, width: int) -> str:
    rows = _rows(part)
    laid = [tuple(row) for row in rows if rows]
    if not laid:
        return f"{name}: nothing"
    more = [f"  .. {len(laid) - MOST} more: --json has them all"] if len(laid) > MOST else []
    return "\n".join([f"by {name}", table(laid[: MOST + 1], width), *more])


def _rows(part: object) -> list[list[str]]:
    """Return a list of objects as rows under their member names, an object as a row a member."""
    if isinstance(part, list) and part and isinstance(part[0], dict):
        names = list(part[0])
        return [[plain(name).upper() for name in names], *([_cell(row.get(name)) for name in names] for row in part)]
    if isinstance(part, dict):
        return [["FIGURE", "VALUE"], *([plain(name), _cell(value)] for name, value in part.items())]
    return []


def _cell(value: object) -> str:
    match value:
        case list():
            return ", ".join(_cell(each) for each in value)
        case dict():
            return "  ".join(f"{plain(name)} {_cell(each)}" for name, each in value.items())
        case float() if 0 <= value <= 1:
            return percent(value)
        case _:
            return figure(value)
