"""The command line: words in, a command run, an exit status out."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from pratique.client import Client
from pratique.columns import plain
from pratique.commands import (
    audit,
    capture,
    cert,
    completion,
    dataset,
    exits,
    floor,
    key,
    local,
    policy,
    posture,
    preview,
    profile,
    recommend,
    release,
    risk,
    sweep,
    utility,
    webhook,
)
from pratique.commands.arguments import Misuse, common
from pratique.commands.complaint import complaint, complaint_document
from pratique.commands.shell import Screen, Shell
from pratique.errors import PratiqueError

ABOUT = """How identifiable the people and machines in a network profile still are, and releases of it that pass a gate.

A capture (or a table) goes in, a policy transforms its records, the release is measured and attacked, and only one
that passes its gate comes out."""
FIRST_STEPS = """first steps:
  pratique capture push night.pcapng --pilot lab                        gives cap_..
  pratique release create --capture cap_.. --policy C4 --gate "k>=3"    gives rel_..
  pratique posture rel_..                             what was measured, before and after
  pratique release records rel_.. -o night.parquet    the records, if the gate passed

exit status: 0 done or passed, 1 error, 2 wrong usage, 3 gate failed, 4 gate indeterminate,
  130 interrupted (what the service has accepted goes on), 141 the reader of the output has gone"""
NARROWEST, WIDEST = 40, 120  # lines longer than that are hard to read, whatever the terminal

NOUNS = (
    capture,
    dataset,
    policy,
    preview,
    release,
    posture,
    risk,
    cert,
    recommend,
    sweep,
    utility,
    profile,
    webhook,
    key,
    floor,
    audit,
)

Connect = Callable[[argparse.Namespace], Client]


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the whole grammar, or as much of it as these words need: commands from elsewhere take their time."""
    root = argparse.ArgumentParser(
        prog="pratique",
        description=ABOUT,
        epilog=FIRST_STEPS,
        parents=[common()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"pratique {version('pratique')}")
    # The common options have no default of their own, lest one after the command undo one before it.
    defaults = {"url": None, "key_file": None, "json": False, "quiet": False, "run_offline": None, "secret_file": None}
    root.set_defaults(**defaults, run=None, parser=root)
    commands = root.add_subparsers(title="commands", metavar="COMMAND")
    for noun in NOUNS:
        noun.add(commands)
    local.add(commands, whole=words is None or local.NOUN in words)
    completion.add(commands, parser)
    return root


def connect(options: argparse.Namespace) -> Client:
    """Open a client as the options and the environment say."""
    # Who listens with a secret of its own asks the service nothing, and needs no key for that.
    unasked = "none" if options.secret_file is not None else None
    return Client(options.url, unasked, key_file=options.key_file)


def main(argv: Sequence[str] | None = None, connect: Connect = connect) -> int:
    """Run one command and return its exit status; argparse leaves by itself on a wrong word (2) and on --help (0)."""
    words = sys.argv[1:] if argv is None else argv
    options = parser(words).parse_args(words)
    if options.run is None and options.run_offline is None:
        options.parser.print_help(sys.stderr)
        return exits.USAGE
    try:
        status = perform(options, connect)
        sys.stdout.flush()  # a reader that is gone shows here and not while Python shuts down
    except BrokenPipeError:
        forget_output()
        return exits.BROKEN_PIPE
    except KeyboardInterrupt:
        print("\npratique: interrupted; what the service has accepted goes on", file=sys.stderr)
        return exits.INTERRUPTED
    return status


def perform(options: argparse.Namespace, connect: Connect) -> int:
    """Run the command that the options name; an error becomes a complaint and a status."""
    try:
        width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))
        if options.run_offline is not None:  # no address, no key, nothing is sent
            held: int = options.run_offline(Screen(sys.stdout, sys.stderr, width, options.json, options.quiet), options)
            return held
        with connect(options) as client:
            shell = Shell(sys.stdout, sys.stderr, width, options.json, options.quiet, client=client)
            status: int = options.run(shell, options)
            return status
    except Misuse as misuse:
        options.parser.print_usage(sys.stderr)
        print(f"{options.parser.prog}: {misuse}", file=sys.stderr)
        return exits.USAGE
    except PratiqueError as error:
        print(complaint_document(error) if options.json else complaint(error), file=sys.stderr)
        return status_of(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"pratique: {plain(error.filename or 'a file')}: {error.strerror or 'cannot be used'}", file=sys.stderr)
        return exits.ERROR


def status_of(error: PratiqueError) -> int:
    """Return the exit status of an error: a closed gate is told from everything else."""
    return exits.GATE_FAILED if error.code == "gate-failed" else exits.ERROR


def forget_output() -> None:
    """Turn standard output to nowhere, so that Python's last flush finds somebody."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
