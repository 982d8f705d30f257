"""`pratique cert`: certificates fetched, and verified without the service."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from pratique.columns import plain
from pratique.commands import exits
from pratique.commands.arguments import Commands, example, group
from pratique.commands.shell import Screen, Shell
from pratique.errors import LocalFault
from pratique.verify import Rejected, Verified, verify

VERIFY = """Verify a certificate or a bundle without asking the service: its signature, its time, and the files.

The key is the operator's public key as PEM, JWK or JWKS; get it by a way that you trust (`pratique cert keys`, once).
It needs the package `cryptography` or the program openssl 3. Exit status 1 where anything does not hold."""
EXAMPLES = """examples:
  pratique cert keys -o operator.jwks.json
  pratique cert get rel_01 -o night.cert.json
  pratique cert verify night.cert.json --key operator.jwks.json --records night.parquet"""
GET = example("pratique cert get rel_01 -o night.cert.json", "pratique cert get rel_01 --part bundle -o evidence.zip")
KEYS = example("pratique cert keys -o operator.jwks.json")
PARTS = {"certificate": "cert.json", "bundle": "evidence.zip", "report": "report.html"}


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "cert", "fetch the evidence of a release, and verify it offline", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    check = group(verbs, "verify", "verify a certificate or bundle and files of records, offline", VERIFY, EXAMPLES)
    check.add_argument("file", type=Path, metavar="FILE", help="a certificate, or a bundle (zip)")
    check.add_argument("--key", type=Path, required=True, metavar="FILE", help="public key: PEM, JWK or JWKS")
    check.add_argument(
        "--records", type=Path, nargs="+", default=[], metavar="FILE", help="files that are to be of this release"
    )
    check.add_argument("--at", type=moment, metavar="TIME", help="the moment to hold it against (default: now)")
    check.set_defaults(run_offline=run_verify)
    get = group(verbs, "get", "download the certificate, the bundle or the report of a release", epilog=GET)
    get.add_argument("release", metavar="ID", help="rel_..")
    get.add_argument("--part", choices=tuple(PARTS), default="certificate", help="what of it (default certificate)")
    get.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: by the id)")
    get.set_defaults(run=run_get)
    keys = group(verbs, "keys", "fetch the public keys of the service as a JWKS", epilog=KEYS)
    keys.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: standard output)")
    keys.set_defaults(run=run_keys)


def moment(text: str) -> datetime:
    """Read a moment (RFC 3339); one without a zone is of this machine's."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no moment: write 2026-12-31T00:00:00Z") from None


def run_verify(screen: Screen, options: argparse.Namespace) -> int:
    """Verify what is given; nothing leaves this machine."""
    try:
        found = verify(options.file, options.key, options.records, options.at)
    except Rejected as rejected:
        raise LocalFault(rejected.code, rejected.detail) from None
    document = {
        "verified": True,
        "release": found.certificate.predicate["release"],
        "kid": found.certificate.kid,
        "held": list(found.held),
        "files": dict(found.files),
        "statement": found.certificate.statement,
    }
    screen.show(document, told(found), short=plain(document["release"]))
    return exits.OK


def told(found: Verified) -> str:
    """Return what held, line by line."""
    predicate = found.certificate.predicate
    lines = [f"verified  {plain(predicate['release'])}  gate: {plain(predicate['gate']['verdict'])}"]
    lines.append(f"  issued {plain(predicate['issued_at'])}, valid until {plain(predicate['valid_until'])}")
    lines.append(f"  for {plain(predicate['recipient'] or '-')}: {plain(predicate['purpose'] or 'no purpose told')}")
    lines.append(f"  key {found.certificate.kid}")
    lines += [f"  {plain(name)}: as certified" for name in found.held]
    lines += [f"  {plain(name)}: is {plain(subject)}" for name, subject in found.files.items()]
    return "\n".join(lines)


def run_get(shell: Shell, options: argparse.Namespace) -> int:
    """Download a part of the evidence."""
    path = options.output or Path(f"{options.release}.{PARTS[options.part]}")
    with shell.bar("receiving") as bar:
        kept = shell.client.download_evidence(options.release, path, options.part, bar)
    document = {"release": options.release, "path": str(kept.path), "bytes": kept.size, "sha256": kept.sha256}
    shell.show(document, f"{kept.path}  sha256 {kept.sha256}", short=str(kept.path))
    return exits.OK


def run_keys(shell: Shell, options: argparse.Namespace) -> int:
    """Fetch the public keys."""
    keys = shell.client.public_keys()
    text = json.dumps(keys, indent=1)
    if options.output is None:
        shell.show(keys, text, short=text)
        return exits.OK
    options.output.write_text(text + "\n", encoding="utf-8")
    listed = keys.get("keys", [])
    shell.show({"path": str(options.output), "keys": len(listed)}, f"{options.output}  {len(listed)} keys")
    return exits.OK
