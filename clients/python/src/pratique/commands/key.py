"""`pratique key`: the API keys of a tenant, and what the own one may do."""

import argparse
import os
from datetime import datetime
from itertools import islice
from pathlib import Path

from pratique.columns import plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, Misuse, add_limit, example, group
from pratique.commands.shell import Shell
from pratique.exchange import Json

ROLES = ("operator", "recipient", "auditor", "admin")
ADD = """Make an API key (admin). It is shown this once; with -o it goes into a file that only you can read, and is not
shown at all."""


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    made = example("pratique key add recipient --recipient fl-aggregator-1 -o fl.key", "pratique key add auditor")
    noun = group(commands, "key", "make, list and revoke API keys", epilog=made)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    make = group(verbs, "add", "make a key (admin)", ADD, made)
    make.add_argument("role", choices=ROLES, metavar="ROLE", help=", ".join(ROLES))
    make.add_argument("--recipient", metavar="NAME", help="whose releases a key of the role recipient opens")
    make.add_argument("--name", help="what you call it")
    make.add_argument("--expires", type=moment, metavar="TIME", help="when it ends, such as 2027-01-01T00:00:00Z")
    make.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the key there, and show it nowhere")
    make.set_defaults(run=create)
    every = group(verbs, "list", "list the keys, without their secrets (admin)", epilog=example("pratique key list"))
    add_limit(every, 0)
    every.set_defaults(run=show_all)
    end = group(verbs, "revoke", "end a key within seconds (admin)", epilog=example("pratique key revoke key_01"))
    end.add_argument("key", metavar="ID", help="the id of the key, as in the list")
    end.set_defaults(run=revoke)
    own = group(verbs, "whoami", "show what the own key may do", epilog=example("pratique key whoami"))
    own.set_defaults(run=show_own)


def moment(text: str) -> str:
    """Read a moment with its zone (RFC 3339)."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.min  # noqa: DTZ901 - told apart by its missing zone
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no moment with a zone: write 2027-01-01T00:00:00Z")
    return found.isoformat()


def create(shell: Shell, options: argparse.Namespace) -> int:
    """Make a key."""
    if (options.role == "recipient") != (options.recipient is not None):
        raise Misuse("--recipient goes with the role recipient, and with no other")
    # Opened first: a key that cannot be written would be a key that nobody has.
    place = None if options.output is None else _private(options.output)
    given = {"role": options.role, "recipient": options.recipient, "name": options.name, "expires_at": options.expires}
    made = shell.client.create_api_key({name: value for name, value in given.items() if value is not None})
    if place is None:
        text = f"{plain(made['id'])}  key {plain(made['key'])}\nKeep the key: it is not shown again."
        shell.show(made, text, short=plain(made["key"]))
        return exits.OK
    with os.fdopen(place, "w") as file:
        file.write(made["key"] + "\n")
    shown = {**{name: value for name, value in made.items() if name != "key"}, "path": str(options.output)}
    shell.show(shown, f"{plain(made['id'])}  {plain(made['role'])}  in {options.output}", short=plain(made["id"]))
    return exits.OK


def _private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List keys."""
    rows = list(islice(shell.client.api_keys(), options.limit or None))
    shell.show_list(
        rows,
        ("ID", "ROLE", "RECIPIENT", "STATE", "EXPIRES", "NAME"),
        lambda row: (
            plain(row["id"]),
            plain(row.get("role")),
            plain(row.get("recipient") or "-"),
            "revoked" if row.get("revoked") else "valid",
            plain(row.get("expires_at") or "-"),
            plain(row.get("name") or ""),
        ),
    )
    return exits.OK


def revoke(shell: Shell, options: argparse.Namespace) -> int:
    """Revoke a key."""
    shell.client.revoke_api_key(options.key)
    name = plain(options.key)
    shell.show({"id": options.key, "revoked": True}, f"{name}  revoked", short=name)
    return exits.OK


def show_own(shell: Shell, options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called alike
    """Show the role of the own key."""
    found: Json = shell.client.me()
    lines = [f"{name:<10}{plain(found.get(name) or '-')}" for name in ("key", "tenant", "role", "recipient")]
    shell.show(found, "\n".join(lines), short=plain(found.get("role")))
    return exits.OK
