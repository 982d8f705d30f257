"""`pratique capture`: captures sent, listed, and looked into."""

import argparse
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from pratique.columns import figure, plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_limit, add_wait, example, group, some
from pratique.commands.shell import Shell, follow
from pratique.exchange import Json

PUSH = """Send a pcap or pcapng file (gzip and zstd too) and have its hosts profiled.

The file is sent in pieces and checked by its SHA-256. The same file for the same pilot gives the same id again.
What was cut off or cannot be decoded is counted and told, never guessed."""
EXAMPLES = """examples:
  pratique capture push night.pcapng --pilot lab
  id=$(pratique --quiet capture push night.pcapng --pilot lab)"""

RECORDS = example("pratique capture records cap_01 --limit 10", "pratique capture records cap_01 --unit session --json")
IDENTIFIERS = example("pratique capture identifiers cap_01")


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "capture", "send a capture, and see what was found in it", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    add_push(verbs)
    listing = group(verbs, "list", "list the captures, newest first", epilog=example("pratique capture list --limit 5"))
    add_limit(listing)
    listing.set_defaults(run=show_all)
    one = group(
        verbs, "show", "show a capture: state, counts, warnings", epilog=example("pratique capture show cap_01")
    )
    one.add_argument("capture", metavar="ID", help="cap_..")
    one.set_defaults(run=show)
    records = group(verbs, "records", "show the raw records of a capture (operator)", epilog=RECORDS)
    records.add_argument("capture", metavar="ID", help="cap_..")
    records.add_argument("--unit", choices=("host", "session"), default="host", help="what a row is (default host)")
    add_limit(records, default=0)
    records.set_defaults(run=show_records)
    identifiers = group(
        verbs, "identifiers", "show the subscriber identifiers seen in a capture (operator)", epilog=IDENTIFIERS
    )
    identifiers.add_argument("capture", metavar="ID", help="cap_..")
    identifiers.set_defaults(run=show_identifiers)
    add_delete(verbs, "capture", "cap_..", lambda shell, name: shell.client.delete_capture(name))


def add_push(verbs: Commands) -> None:
    """Add `capture push`."""
    parser = group(verbs, "push", "send a capture file", PUSH, EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="pcap or pcapng, may be gzip or zstd")
    add_labels(parser)
    parser.add_argument(
        "--max-packets",
        type=some,
        metavar="N",
        help="profile the first N frames only; a warning says so if it has more",
    )
    add_wait(parser, "the capture is profiled")
    parser.set_defaults(run=push)


def add_delete(verbs: Commands, noun: str, metavar: str, forget: Callable[[Shell, str], None]) -> None:
    """Add `delete`: the raw side of a source is gone, its releases stay."""
    usage = example(f"pratique {noun} delete {metavar.rstrip('.')}01")
    parser = group(verbs, "delete", f"delete a {noun}, its raw bytes and records; releases of it stay", epilog=usage)
    parser.add_argument("source", metavar="ID", help=metavar)

    def run(shell: Shell, options: argparse.Namespace) -> int:
        forget(shell, options.source)
        name = plain(options.source)
        shell.show({"id": options.source, "deleted": True}, f"{name}  deleted", short=name)
        return exits.OK

    parser.set_defaults(run=run)


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add what is said of a source when it is sent."""
    parser.add_argument("--pilot", help="the site it comes from; pseudonyms of two pilots cannot be joined")
    parser.add_argument("--name", help="a name for lists (default: that of the file)")
    parser.add_argument(
        "--open-to", action="append", metavar="RECIPIENT", help="a recipient who may ask for releases of it; repeatable"
    )


def push(shell: Shell, options: argparse.Namespace) -> int:
    """Send a file and, unless told otherwise, wait for its profile."""
    with shell.bar("sending") as bar:
        state = shell.client.push_capture(
            options.file,
            name=options.name or options.file.name,
            pilot=options.pilot,
            open_to=options.open_to,
            max_packets=options.max_packets,
            progress=bar,
        )
    if options.wait:
        with shell.bar("profiling") as bar:
            state = shell.client.wait_capture(state["id"], options.timeout, follow(bar))
    shell.show(state, summary(state), short=plain(state["id"]))
    return exits.OK


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List captures."""
    rows = list(islice(shell.client.captures(), options.limit or None))
    shell.show_list(
        rows,
        ("ID", "STATUS", "PACKETS", "RECORDS", "PILOT", "NAME"),
        lambda row: (
            plain(row["id"]),
            plain(row.get("status")),
            figure(row.get("packets")),
            figure(row.get("records")),
            plain(row.get("pilot") or "-"),
            plain(row.get("name") or ""),
        ),
    )
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show one capture."""
    state = shell.client.capture(options.capture)
    shell.show(state, summary(state), short=plain(state.get("status")))
    return exits.OK


def summary(state: Json) -> str:
    """Return a capture in a few lines: state, counts, and what could not be read."""
    lines = [f"{plain(state['id'])}  {plain(state.get('status'))}"]
    if state.get("packets") is not None:
        cut = "" if state.get("complete", True) else "; not all of the file, as the warnings say"
        lines.append(f"  {figure(state['packets'])} frames, {figure(state.get('records'))} hosts{cut}")
    for warning in state.get("warnings") or []:
        detail = plain(warning.get("detail") or "")
        lines.append(f"  {figure(warning.get('count'))} x {plain(warning.get('code'))}: {detail}".rstrip(": "))
    if error := state.get("error"):
        lines.append(f"  {plain(error.get('code'))}: {plain(error.get('detail'))}")
    return "\n".join(lines)


def show_records(shell: Shell, options: argparse.Namespace) -> int:
    """Show the records of a capture: the main columns to a person, every field as JSON."""
    rows = list(islice(shell.client.records(options.capture, options.unit), options.limit or None))
    columns = {
        "host": ("ip", "role", "packets", "bytes", "peer_count", "protocols"),
        "session": ("subscriber", "gnb", "sst", "sd", "window", "role", "packets"),
    }[options.unit]
    shell.show_list(rows, [name.upper() for name in columns], lambda row: [cell(row.get(name)) for name in columns])
    return exits.OK


def show_identifiers(shell: Shell, options: argparse.Namespace) -> int:
    """Show the identifiers of a capture, one a line."""
    found = shell.client.identifiers(options.capture)
    rows = [(kind, each) for kind, values in found.items() if isinstance(values, list) for each in values]
    lines = [
        f"{kind:<8} {plain(each.get('value'))}  {figure(each.get('packets'))} packets, {cell(each.get('hosts'))} hosts"
        for kind, each in rows
    ]
    shell.show(found, "\n".join(lines) or "no subscriber identifier was seen", short=f"{len(rows)}")
    return exits.OK


def cell(value: object) -> str:
    """Return a field of a record as text; a list is joined, null is empty."""
    match value:
        case None:
            return ""
        case list():
            return ",".join(plain(each) for each in value)
        case _:
            return plain(value)
