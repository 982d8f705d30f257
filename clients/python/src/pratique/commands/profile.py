"""`pratique profile`: how far profiles can be generalised, and what that buys."""

import argparse

from pratique.columns import figure
from pratique.commands import exits
from pratique.commands.arguments import Commands, example, group, json_object, number
from pratique.commands.shell import Shell
from pratique.exchange import Json

GENERALISE = """Generalise profiles optimally at one or more costs.

FILE holds {"profiles": [[..]], "taxonomy": [[[0, 1], ..], ..], "gamma": 0.1}, and where wanted costs, target, compare.
Nothing is kept."""
EXAMPLES = example("pratique profile generalise profiles.json --gamma 0.1 --gamma 0.2")
HEADINGS = ("PROFILE", "GAMMA", "ENTROPY BEFORE", "AFTER", "CRITICAL GAMMA", "CRITICAL ENTROPY", "RECOVERABLE")


def add(commands: Commands) -> None:
    """Add the noun and its command."""
    noun = group(commands, "profile", "generalise profiles of counts or shares", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    parser = group(verbs, "generalise", "generalise profiles optimally", GENERALISE, EXAMPLES)
    parser.add_argument("file", type=json_object, metavar="FILE", help="the request, - for standard input")
    parser.add_argument(
        "--gamma", type=number, action="append", metavar="COST", help="in place of the file's; repeatable"
    )
    parser.set_defaults(run=generalise)


def generalise(shell: Shell, options: argparse.Namespace) -> int:
    """Ask, and show a line for each profile and gamma."""
    body = dict(options.file)
    if options.gamma:
        body["gamma"] = options.gamma
    shell.show_list(shell.client.generalise(body), HEADINGS, cells)
    return exits.OK


def cells(result: Json) -> tuple[str, ...]:
    """Return a result in the order of the headings."""
    names = ("profile", "gamma", "entropy_before", "entropy", "gamma_crit", "critical_entropy", "recoverable")
    return tuple(figure(result.get(name)) for name in names)
