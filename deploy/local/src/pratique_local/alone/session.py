"""The session: options become a release, and the release becomes files, a posture and an exit status."""

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from typing import TextIO

from pydantic import ValidationError

from pratique import render_posture
from pratique.commands.arguments import Misuse, gate
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

WRITTEN = ("posture.json", "records.parquet", "records.arrow", "records.csv", "records.ndjson")


def perform(options: argparse.Namespace, out: TextIO | None = None, err: TextIO | None = None) -> int:
    """Make the release; what cannot stand is said as everywhere in the command line."""
    out, err = out or sys.stdout, err or sys.stderr
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
    if not S_ISREG(options.file.stat().st_mode):
        detail = f"{options.file} is not a regular file: name the capture or table itself."
        raise Unprocessable("not-a-file", detail)
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
