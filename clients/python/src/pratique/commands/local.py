"""`pratique local`: commands without a service, which another distribution brings along."""

import argparse
from collections.abc import Callable
from importlib.metadata import entry_points

from pratique.commands.arguments import Commands, example, group
from pratique.commands.shell import Screen

# Each entry names a module with DESCRIPTION, EXAMPLES, add_arguments(parser) and run(options) -> exit status.
ENTRIES, NOUN = "pratique.local", "local"
EXAMPLE = example("pratique local run night.pcapng --policy policy.yaml")


def add(commands: Commands, *, whole: bool) -> None:
    """Add the noun where an installed distribution has a command for it; the client itself has none.

    Its commands are loaded only for the whole grammar.
    """
    found = sorted(entry_points(group=ENTRIES), key=lambda entry: entry.name)
    if not found:
        return
    noun = group(commands, NOUN, "work on this machine alone, without a service", epilog=EXAMPLE)
    if not whole:
        return
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    for entry in found:
        brought = entry.load()
        parser = group(verbs, entry.name, brought.DESCRIPTION.partition("\n")[0], brought.DESCRIPTION, brought.EXAMPLES)
        brought.add_arguments(parser)
        parser.set_defaults(run_offline=_alone(brought.run))


def _alone(run: Callable[[argparse.Namespace], int]) -> Callable[[Screen, argparse.Namespace], int]:
    """Return a command that speaks for itself."""
    return lambda _, options: run(options)
