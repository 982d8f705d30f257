"""`pratique release`: releases asked for, looked at, downloaded, taken back."""

import argparse
from itertools import islice
from pathlib import Path

from pratique.columns import figure, plain, table
from pratique.commands import exits
from pratique.commands.arguments import (
    Commands,
    Misuse,
    add_limit,
    add_wait,
    bound,
    example,
    group,
    json_object,
    policy,
    some,
)
from pratique.commands.capture import cell
from pratique.commands.request import release_body
from pratique.commands.shell import Shell, follow
from pratique.download import MEDIA_TYPES
from pratique.exchange import Json
from pratique.posture_table import verdict_text

CREATE = """Ask for a release: a source, transformed by a policy, measured, attacked, and held at a gate.

Only a release that passes its gate can be downloaded. With --wait (the default) the exit status is that of the gate:
0 pass, 3 fail, 4 indeterminate.

Each column of the source must be classified. A built-in policy (C0 to C7) brings its own classes and drops all else;
other policies need --attributes, a JSON file such as
  {"identifiers": ["imsi"], "quasi_identifiers": ["ip"], "sensitive": ["protocols"], "drop": ["guti"]}"""
CREATE_EXAMPLES = """examples:
  pratique release create --capture cap_01 --policy C4 --gate "k>=3" --gate "t<=0.5"
  pratique release create --dataset dst_01 --policy mine.json --attributes classes.json --recipient fl-aggregator-1
  pratique release create --file request.json --no-wait

metrics of a gate: k l l_entropy t t_ordered k_rw exact_reid max_risk uniques share_below_k ppi ppi_prime rows classes
  granularity, of the adversaries exact_qi partial_qi linkage, and survival, all_columns.uniques"""
RECORDS = """Download the records of a release that passed its gate.

The file appears under its name only when it is whole and has the SHA-256 that the service announced.
Exit status 3 when the gate did not pass."""
RECORDS_EXAMPLES = example(
    "pratique release records rel_01 -o night.parquet", "pratique release records rel_01 --cached"
)
PREVIEW = """Show rows of a release before and after, with the size of the class that each one hides in.

Raw values are among them: it is for the operator, and no part of what is released."""
PREVIEW_EXAMPLE = example("pratique release preview rel_01 -n 5")


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "release", "ask for a release, and download it if it passes", epilog=CREATE_EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    add_create(verbs)
    listing = group(verbs, "list", "list the releases, newest first", epilog=example("pratique release list --limit 5"))
    add_limit(listing)
    listing.set_defaults(run=show_all)
    records = group(verbs, "records", "download the records of a passing release", RECORDS, RECORDS_EXAMPLES)
    records.add_argument("release", metavar="ID", help="rel_..")
    records.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: ID.FORMAT)")
    records.add_argument("--format", choices=tuple(MEDIA_TYPES), help="default: by the ending of FILE, else parquet")
    records.add_argument("--cached", action="store_true", help="keep it in the cache, and receive it only once")
    records.set_defaults(run=download)
    preview = group(verbs, "preview", "show rows before and after (operator)", PREVIEW, PREVIEW_EXAMPLE)
    preview.add_argument("release", metavar="ID", help="rel_..")
    preview.add_argument("-n", "--rows", type=some, default=20, metavar="N", help="the first N (default 20)")
    preview.set_defaults(run=show_rows)
    for name, run, summary in (
        ("show", show, "show where a release stands"),
        ("cancel", cancel, "stop a release that is not finished"),
        ("withdraw", withdraw, "take a release back: posture and records are gone for everybody"),
    ):
        parser = group(verbs, name, summary, epilog=example(f"pratique release {name} rel_01"))
        parser.add_argument("release", metavar="ID", help="rel_..")
        parser.set_defaults(run=run)


def add_create(verbs: Commands) -> None:
    """Add `release create`."""
    parser = group(verbs, "create", "ask for a release", CREATE, CREATE_EXAMPLES)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--capture", action="append", metavar="ID", help="a capture; repeat to pool several")
    source.add_argument("--dataset", metavar="ID", help="a table of your own")
    parser.add_argument("--unit", choices=("host", "session"), help="what a row of a capture is (default host)")
    parser.add_argument(
        "--file", type=json_object, metavar="FILE", help="the whole request as JSON (- for standard input)"
    )
    parser.add_argument(
        "--policy", type=policy, metavar="NAME|FILE", help="a built-in, a stored policy, or a .json file"
    )
    parser.add_argument("--attributes", type=json_object, metavar="FILE", help="the class of each column, as JSON")
    bounds = parser.add_mutually_exclusive_group()
    bounds.add_argument("--gate", type=bound, action="append", metavar="BOUND", help='"k>=3"; repeatable; default k>=2')
    bounds.add_argument("--no-gate", action="store_true", help="ask for no bound (operator); the release says so")
    parser.add_argument("--recipient", help="who is to have it; recipients see their own releases only")
    parser.add_argument("--purpose", help="what it is for; stands in the certificate")
    parser.add_argument("--name", help="a name for lists")
    parser.add_argument("--pilot", help="the pilot of pseudonyms where the source has none")
    parser.add_argument("--idempotency-key", metavar="KEY", help="asking again with KEY gives the same release")
    add_wait(parser, "the release is measured and its gate decided")
    parser.set_defaults(run=create)


def create(shell: Shell, options: argparse.Namespace) -> int:
    """Ask for a release and, unless told otherwise, wait for its verdict, which is the exit status."""
    state = shell.client.create_release(release_body(options), options.idempotency_key)
    name = plain(state["id"])
    if not options.wait:
        shell.show(state, summary(state), short=name)
        return exits.OK
    shell.remark(f"accepted as {name}")  # whoever interrupts the wait knows what goes on
    with shell.bar("queued") as bar:
        state = shell.client.wait_release(state["id"], options.timeout, follow(bar))
    shell.show(state, summary(state), short=name)
    shell.remark(f"next: pratique posture {name}")
    return exits.of_verdict(state.get("verdict"))


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List releases."""
    rows = list(islice(shell.client.releases(), options.limit or None))
    shell.show_list(
        rows,
        ("ID", "STATUS", "VERDICT", "CREATED", "RECIPIENT", "NAME"),
        lambda row: (
            plain(row["id"]),
            plain(row.get("status")),
            plain(row.get("verdict") or "-"),
            plain(row.get("created_at") or "-"),
            plain(row.get("recipient") or "-"),
            plain(row.get("name") or ""),
        ),
    )
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show where a release stands."""
    state = shell.client.release(options.release)
    shell.show(state, summary(state), short=plain(state.get("verdict") or state.get("status")))
    return exits.OK


def summary(state: Json) -> str:
    """Return a release in a line or two: state and verdict, or the stage it is at, or why it failed."""
    lines = [f"{plain(state['id'])}  {plain(state.get('status'))}"]
    if state.get("verdict"):
        lines[0] += f"  gate: {verdict_text(state['verdict'])}"
    progress = state.get("progress")
    if isinstance(progress, dict) and state.get("status") in ("running", "attacking"):
        stage, done, total = (progress.get(part) for part in ("stage", "done", "total"))
        lines.append(f"  {plain(stage)}: {figure(done)} of {figure(total)}")
    if error := state.get("error"):
        lines.append(f"  {plain(error.get('code'))}: {plain(error.get('detail'))}")
    return "\n".join(lines)


def download(shell: Shell, options: argparse.Namespace) -> int:
    """Download the records of a passing release."""
    ending = options.output.suffix.lower().lstrip(".") if options.output else ""
    form = options.format or (ending if ending in MEDIA_TYPES else "parquet")
    path = options.output or Path(f"{options.release}.{form}")
    if options.cached and options.output:
        raise Misuse("--cached has a place of its own: leave --output out")
    with shell.bar("receiving") as bar:
        if options.cached:
            kept = shell.client.cached_records(options.release, form, progress=bar)
        else:
            kept = shell.client.download_records(options.release, path, form, bar)
    document = {"release": options.release, "path": str(kept.path), "bytes": kept.size, "sha256": kept.sha256}
    shell.show(document, f"{kept.path}  {figure(kept.size)} bytes  sha256 {kept.sha256}", short=str(kept.path))
    return exits.OK


def show_rows(shell: Shell, options: argparse.Namespace) -> int:
    """Show rows before and after."""
    found = shell.client.release_preview(options.release, options.rows)
    rows = found.get("rows") or []
    names = list(rows[0]["after"]) if rows else []
    laid = [(figure(row.get("class_size")), *(_change(name, row) for name in names)) for row in rows]
    shell.show(
        found, table([("CLASS", *(plain(name).upper() for name in names)), *laid], shell.width), short=str(len(rows))
    )
    return exits.OK


def _change(name: str, row: Json) -> str:
    after = cell(row["after"].get(name))
    return f"{cell((row.get('before') or {}).get(name))} -> {after}" if name in (row.get("changed") or ()) else after


def cancel(shell: Shell, options: argparse.Namespace) -> int:
    """Stop a release; one that has its outcome keeps it."""
    state = {"id": options.release, **shell.client.cancel(options.release)}
    shell.show(state, summary(state), short=plain(state["id"]))
    return exits.OK


def withdraw(shell: Shell, options: argparse.Namespace) -> int:
    """Take a release back."""
    shell.client.withdraw(options.release)
    name = plain(options.release)
    shell.show({"id": options.release, "withdrawn": True}, f"{name}  withdrawn", short=name)
    return exits.OK
