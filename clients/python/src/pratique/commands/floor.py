"""`pratique floor`: the bounds that every release of the tenant is held to."""

import argparse

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, bound, example, gate, group
from pratique.commands.shell import Shell
from pratique.exchange import Json

SET = """Bound every later release of the tenant (admin). A request can only tighten the floor. The bounds given here
replace all that it had before; --none takes them away."""


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    uses = example("pratique floor show", 'pratique floor set --gate "k>=3" --gate "linkage<=0.5"')
    noun = group(commands, "floor", "see and set the bounds of every gate", epilog=uses)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    group(verbs, "show", "show the floor", epilog=example("pratique floor show")).set_defaults(run=show)
    put = group(verbs, "set", "set the floor (admin)", SET, example('pratique floor set --gate "k>=3"'))
    bounds = put.add_mutually_exclusive_group(required=True)
    bounds.add_argument("--gate", type=bound, action="append", metavar="BOUND", help='"k>=3"; repeatable')
    bounds.add_argument("--none", action="store_true", help="no bounds at all")
    put.set_defaults(run=store)


def show(shell: Shell, options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called alike
    """Show the floor."""
    return _shown(shell, shell.client.gate_floor())


def store(shell: Shell, options: argparse.Namespace) -> int:
    """Set the floor."""
    return _shown(shell, shell.client.put_gate_floor({} if options.none else gate(options.gate)))


def _shown(shell: Shell, floor: Json) -> int:
    lines = [
        f"{plain(metric)} {operator} {figure(bounds[side])}"
        for metric, bounds in (floor.get("gate") or {}).items()
        for side, operator in (("min", ">="), ("max", "<="))
        if bounds.get(side) is not None
    ]
    text = "\n".join(lines)
    shell.show(floor, text or "no bounds: a request alone decides", short=text)
    return exits.OK
