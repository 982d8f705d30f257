"""`pratique local run`: a capture and a policy in, records and posture out, and no service."""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from pratique import render_posture
from pratique.commands.arguments import Misuse, bound, gate, json_object, some
from pratique.commands.exits import ERROR, USAGE, of_verdict
from pratique.progress import Bar
from pratique_ingest.plan import LARGEST, BadPlan, read_plan
from pratique_local.alone.policy_file import read_policy
from pratique_local.alone.release import Made, Wanted, release
from pratique_privacy.gate import check_metrics
from pratique_privacy.http.invalid import field_errors
from pratique_privacy.policy.keys import KEY_BYTES
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.gate import Bound
from pratique_shared.contracts.problems import Problem, Unprocessable
from pratique_shared.runtime.children import ChildDied

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
WRITTEN = ("posture.json", "records.parquet", "records.arrow", "records.csv", "records.ndjson")


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


def run(options: argparse.Namespace, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> int:
    """Make the release; what cannot stand is said as everywhere in the command line."""
    try:
        wanted = wanted_of(options)
        options.output.mkdir(parents=True, exist_ok=True)
        for name in WRITTEN:  # what an earlier run left must not be taken for this one's
            (options.output / name).unlink(missing_ok=True)
        with Bar("starting", shown=not (options.json or options.quiet), stream=err) as bar:
            made = asyncio.run(release(wanted, lambda stage, done, total: bar(done, total, stage)))
        paths = write(made, options.output)
    except Misuse as misuse:
        print(f"pratique local run: {misuse}", file=err)
        return USAGE
    except Problem as problem:
        print(complaint(problem), file=err)
        return ERROR
    except ChildDied as died:
        print(f"pratique: the file asks for more than a run may take\n  (code {died.code})", file=err)
        return ERROR
    except OSError as error:
        print(f"pratique: {error.filename or 'a file'}: {error.strerror}", file=err)
        return ERROR
    tell(made, paths, options, out, err)
    return of_verdict(made.posture.verdict)


def wanted_of(options: argparse.Namespace) -> Wanted:
    """Return what the options ask for; raises `Problem`, OSError, Misuse."""
    stored, built_in = read_policy(options.policy)
    bounds = None
    if options.gate:
        bounds = {metric: Bound(**sides) for metric, sides in gate(options.gate).items()}
        check_metrics(bounds)
    if not options.file.is_file():
        raise FileNotFoundError(2, "No such file or directory", str(options.file))
    return Wanted(
        path=options.file,
        policy=stored,
        built_in=built_in,
        unit=options.unit,
        pilot=options.pilot,
        secret=_secret(options.secret),
        attributes=_attributes(options.attributes),
        gate=bounds,
        max_packets=options.max_packets,
        network_plan=_plan(options.network_plan),
    )


def _attributes(document: dict[str, object] | None) -> Attributes | None:
    if document is None:
        return None
    try:
        return Attributes.model_validate(document)
    except ValidationError as error:
        found = field_errors(error.errors(), document)
        raise Unprocessable("attributes-invalid", "The attributes cannot stand.", found) from None


def _secret(path: Path | None) -> bytes:
    if path is None:
        return secrets.token_bytes(KEY_BYTES)
    secret = path.read_bytes()
    if len(secret) < KEY_BYTES:
        detail = f"{path} is too short for a secret: `head -c 32 /dev/urandom > FILE` makes one."
        raise Unprocessable("secret-too-short", detail)
    return secret


def _plan(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return read_plan(path.read_bytes()[: LARGEST + 1].decode()).text
    except BadPlan as bad:
        raise Unprocessable("plan-invalid", bad.advice) from None
    except UnicodeDecodeError:
        raise Unprocessable("plan-invalid", f"{path} is not UTF-8 text.") from None


def write(made: Made, folder: Path) -> list[Path]:
    """Write the files of a release that passed, and its posture; return where."""
    document = json.dumps(made.posture.model_dump(mode="json", by_alias=True), indent=1)
    paths = [folder / "posture.json"]
    paths[0].write_text(document + "\n", encoding="utf-8")
    for form, data in made.files.items():
        paths.append(folder / f"records.{form}")
        paths[-1].write_bytes(data)
    return paths


def tell(made: Made, paths: Iterable[Path], options: argparse.Namespace, out: TextIO, err: TextIO) -> None:
    """Print the posture: as JSON, as a table, or as the one word of its verdict."""
    document = made.posture.model_dump(mode="json", by_alias=True)
    if options.json:
        print(json.dumps(document, indent=2), file=out)
        return
    if options.quiet:
        print(made.posture.verdict, file=out)
        return
    print(render_posture(document), file=out)
    for warning in made.warnings:
        print(f"{warning['count']} x {warning['code']}: {warning['detail']}", file=err)
    print("\n" + "\n".join(str(path) for path in paths), file=out)
    if not made.files:
        print("No records were written: the gate did not pass.", file=err)


def complaint(problem: Problem) -> str:
    """Return a problem as text: what happened, where, its code."""
    lines = [f"pratique: {problem.detail}"]
    lines += [f"  {error.pointer or '/'}: {error.detail}" for error in problem.errors]
    return "\n".join([*lines, f"  (code {problem.code})"])
