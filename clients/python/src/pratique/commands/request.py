"""The request: the options of `pratique release create` joined into the body of `POST /releases`."""

import argparse
from typing import Any

from pratique.commands.arguments import Misuse, gate
from pratique.exchange import Json

PLAIN = ("name", "recipient", "purpose", "pilot", "attributes")
LENT = ("attributes", "gate", "attacks", "ppi")  # what a stored policy may bring along besides its steps


def release_body(options: argparse.Namespace) -> Json:
    """Return the body: the file's, with what the command line says in its place.

    A policy file in the form of a stored policy lends what neither the file nor the command line gives.
    Raises Misuse without a source or a policy.
    """
    body: dict[str, Any] = dict(options.file or {})
    if source := source_of(options):
        body["source"] = source
    body |= {name: value for name in PLAIN if (value := getattr(options, name)) is not None}
    if options.no_gate:
        body["gate"] = {}
    elif options.gate:
        body["gate"] = gate(options.gate)
    match options.policy:
        case dict() as brought:
            body["policy"] = {name: value for name, value in brought.items() if name not in LENT}
            body = {name: brought[name] for name in LENT if name in brought} | body
        case str() as named:
            body["policy"] = named
    for part, words in (("source", "--capture, --dataset or --file"), ("policy", "--policy or --file")):
        if part not in body:
            raise Misuse(f"a release needs a {part}: give {words}")
    return body


def source_of(options: argparse.Namespace) -> Json | None:
    """Return the source that the options name, if they name one; raises Misuse for a unit without captures."""
    if options.dataset:
        source: Json = {"dataset": options.dataset}
    elif not options.capture:
        source = {}
    elif len(options.capture) == 1:
        source = {"capture": options.capture[0]}
    else:
        source = {"captures": options.capture}
    if options.unit and not options.capture:
        raise Misuse("--unit goes with --capture")
    return source | ({"unit": options.unit} if options.unit else {}) or None
