"""`pratique audit`: who did what, and whether the log of it holds."""

import argparse
from itertools import islice

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_limit, example, group
from pratique.commands.shell import Shell

CHECK = """Have the service hold every entry of the audit log against its chain (auditor, admin).

Exit status 1 where a chain is broken. Note the newest hash elsewhere from time to time (`audit list --json`): no chain
can show the loss of its own end."""


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    uses = example("pratique audit list --limit 50", "pratique audit check")
    noun = group(commands, "audit", "read and check the audit log (auditor)", epilog=uses)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    listing = group(verbs, "list", "list entries, newest first", epilog=example("pratique audit list --limit 50"))
    add_limit(listing)
    listing.set_defaults(run=show_all)
    check = group(verbs, "check", "hold the log against its chains", CHECK, example("pratique audit check"))
    check.set_defaults(run=run_check)


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List entries."""
    rows = list(islice(shell.client.audit(), options.limit or None))
    shell.show_list(
        rows,
        ("AT", "PHASE", "ROLE", "OPERATION", "STATUS", "OBJECT"),
        lambda row: (
            plain(row.get("at")),
            plain(row.get("phase")),
            plain(row.get("role") or "-"),
            plain(row.get("operation")),
            plain(row.get("status") or "-"),
            plain(row.get("object") or "-"),
        ),
    )
    return exits.OK


def run_check(shell: Shell, options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called alike
    """Check the chains."""
    found = shell.client.check_audit()
    intact = found.get("intact") is True
    said = "intact" if intact else "BROKEN"
    lines = [f"{said}  {figure(found.get('entries'))} entries in {figure(found.get('chains'))} chains"]
    lines += [f"  {plain(each)}" for each in found.get("breaks") or []]
    shell.show(found, "\n".join(lines), short=said.lower())
    return exits.OK if intact else exits.ERROR
