"""`pratique webhook`: addresses that hear of what happens, what they were sent, and a receiver to try it with."""

import argparse
from pathlib import Path

from pratique.columns import plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, add_limit, count, example, group
from pratique.commands.listener import listen
from pratique.commands.shell import Shell
from pratique.exchange import Json

EVENTS = (
    "release.completed",
    "release.failed",
    "release.cancelled",
    "release.withdrawn",
    "capture.ready",
    "capture.failed",
)
ADD = """Let an address hear of what happens from now on: signed as Standard Webhooks, as CloudEvents.

The secret is shown this once. The service sends to https addresses of the public internet and to those that its
operator has opened (PRATIQUE_WEBHOOK_ALLOW)."""
LISTEN = """Receive webhooks on this machine, verify their signatures, and print each event once, until Ctrl-C.

Without --secret-file it makes a webhook for as long as it listens; for that the service must reach --at, and a
service on this machine must be started with PRATIQUE_WEBHOOK_ALLOW=127.0.0.0/8."""

ADDED = example("pratique webhook add https://hooks.example.com/pratique --event release.completed")
HEARD = example("pratique webhook listen", "pratique webhook listen --secret-file secret.txt --count 1 --json")


def add(commands: Commands) -> None:
    """Add the noun and its verbs."""
    noun = group(commands, "webhook", "let an address hear of what happens", epilog=ADDED)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    make = group(verbs, "add", "make a webhook; its secret is shown once", ADD, ADDED)
    make.add_argument("address", metavar="URL", help="where the events go")
    _add_filters(make)
    make.add_argument("--name", help="what you call it")
    make.set_defaults(run=create)
    every = group(verbs, "list", "list the webhooks", epilog=example("pratique webhook list"))
    add_limit(every, 0)
    every.set_defaults(run=show_all)
    for name, summary, run in (
        ("delete", "delete a webhook; nothing more is sent to it", delete),
        ("deliveries", "show what a webhook was sent, and how it went", show_deliveries),
        ("redeliver", "send a delivery once more, at once", redeliver),
    ):
        words = "whk_01 dlv_01" if name == "redeliver" else "whk_01"
        verb = group(verbs, name, summary, epilog=example(f"pratique webhook {name} {words}"))
        verb.add_argument("webhook", metavar="ID", help="whk_..")
        verb.set_defaults(run=run)
        if name == "redeliver":
            verb.add_argument("delivery", metavar="DELIVERY", help="dlv_..")
        if name == "deliveries":
            add_limit(verb)
    hear = group(verbs, "listen", "receive webhooks here, verify and print them", LISTEN, HEARD)
    hear.add_argument("--port", type=count, default=8765, metavar="N", help="where to listen on 127.0.0.1 (8765)")
    hear.add_argument("--at", metavar="URL", help="this receiver as the service reaches it")
    hear.add_argument("--secret-file", type=Path, metavar="FILE", help="secret of a webhook that there is already")
    hear.add_argument("--count", type=count, default=0, metavar="N", help="stop after N events (0: go on)")
    _add_filters(hear)
    hear.set_defaults(run=listen)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    types = "release.completed/failed/cancelled/withdrawn, capture.ready/failed; repeatable (default all)"
    parser.add_argument("--event", action="append", choices=EVENTS, metavar="TYPE", help=types)
    parser.add_argument("--recipient", metavar="NAME", help="only of releases to this recipient")


def create(shell: Shell, options: argparse.Namespace) -> int:
    """Make a webhook."""
    given = {"url": options.address, "events": options.event, "recipient": options.recipient, "name": options.name}
    made = shell.client.create_webhook({name: value for name, value in given.items() if value is not None})
    text = f"{plain(made['id'])}  secret {plain(made['secret'])}\nKeep the secret: it is not shown again."
    shell.show(made, text, short=f"{plain(made['id'])} {plain(made['secret'])}")
    return exits.OK


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List webhooks."""
    rows = list(shell.client.webhooks())
    shell.show_list(
        rows[: options.limit or None],
        ("ID", "STATUS", "EVENTS", "URL"),
        lambda row: (
            plain(row.get("id")),
            plain(row.get("status")),
            "all" if set(row.get("events") or ()) == set(EVENTS) else plain(" ".join(row.get("events") or ())),
            plain(row.get("url")),
        ),
    )
    return exits.OK


def delete(shell: Shell, options: argparse.Namespace) -> int:
    """Delete a webhook."""
    shell.client.delete_webhook(options.webhook)
    shell.show({"id": options.webhook, "deleted": True}, f"{plain(options.webhook)}  deleted")
    return exits.OK


def show_deliveries(shell: Shell, options: argparse.Namespace) -> int:
    """List deliveries with their last try."""
    rows: list[Json] = []
    for row in shell.client.deliveries(options.webhook):
        rows.append(row)
        if len(rows) == options.limit:
            break
    shell.show_list(
        rows,
        ("ID", "EVENT", "SUBJECT", "STATUS", "TRIES", "LAST"),
        lambda row: (
            plain(row.get("id")),
            plain(row.get("event")),
            plain(row.get("subject")),
            plain(row.get("status")),
            str(len(row.get("tries") or ())),
            _last(row),
        ),
    )
    return exits.OK


def redeliver(shell: Shell, options: argparse.Namespace) -> int:
    """Send a delivery once more."""
    state = shell.client.redeliver(options.webhook, options.delivery)
    shell.show(state, f"{plain(state['id'])}  will be sent again", short=plain(state["id"]))
    return exits.OK


def _last(row: Json) -> str:
    tries = row.get("tries") or []
    return plain(tries[-1].get("status") or tries[-1].get("error") or tries[-1].get("result")) if tries else "-"
