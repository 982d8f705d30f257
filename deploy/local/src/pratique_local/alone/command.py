"""`pratique local run`: a capture and a policy in, records and posture out, and no service."""

import argparse
from pathlib import Path

from pratique.commands.arguments import bound, json_object, some

DESCRIPTION = """Make a release of a capture or table here, without a service: profile, apply, measure, attack, gate.

The records are written only if the gate passes; the posture always is. Exit status as everywhere: 0 pass, 3 fail, 4
indeterminate. There is no certificate, no ledger of earlier releases, and no floor but that of your own policy.

A policy file (YAML, TOML, JSON) holds steps, and where wanted attributes, gate, attacks and ppi. Pseudonyms are made
with a fresh secret, so those of two runs cannot be joined; --secret names a file (32 bytes or more) that makes them
last."""
EXAMPLES = """examples:
  pratique local run night.pcapng --policy C4 --gate "k>=3"
  pratique local run night.pcapng --policy policy.yaml --pilot lab -o out/night
  pratique local run charging.csv --policy policy.yaml --json > posture.json

policy.yaml:
  attributes: {quasi_identifiers: [ip], sensitive: [role], insensitive: [packets], drop: [imsi, suci, guti, ..]}
  steps:
    - {op: ip_prefix, column: ip, v4: 24, v6: 64}
    - {op: threshold, column: ip, tau: 3}
  gate: {k: {min: 3}, linkage: {max: 0.5}}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` takes."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="pcap or pcapng (gzip, zstd too), or .csv .ndjson .json"
    )
    parser.add_argument("--policy", required=True, metavar="NAME|FILE", help="a built-in such as C4, or a policy file")
    parser.add_argument("--attributes", type=json_object, metavar="FILE", help="the class of each column, as JSON")
    parser.add_argument(
        "--gate", type=bound, action="append", metavar="BOUND", help='"k>=3"; in place of the policy\'s'
    )
    parser.add_argument("--unit", choices=("host", "session"), default="host", help="what a row of a capture is")
    parser.add_argument("--pilot", help="the site it comes from; per-pilot pseudonyms need it")
    parser.add_argument("--secret", type=Path, metavar="FILE", help="the secret of lasting pseudonyms")
    parser.add_argument("--max-packets", type=some, metavar="N", help="profile the first N frames only")
    parser.add_argument("--network-plan", type=Path, metavar="FILE", help="ports and regions of this network, as TOML")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("out"), metavar="FOLDER", help="for records and posture (default out)"
    )


def run(options: argparse.Namespace) -> int:
    """Make the release."""
    # Loaded here: it takes seconds that no other command should wait for.
    from pratique_local.alone.session import perform  # noqa: PLC0415

    return perform(options)
