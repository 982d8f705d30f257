"""`pratique sweep`: many sources under many configurations, and what they say together."""

import argparse
from itertools import islice

from pratique.columns import figure, plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, Misuse, add_limit, add_wait, example, group, json_object
from pratique.commands.shell import UNWRAPPED, Shell, follow
from pratique.exchange import Json

CREATE = """Measure every source under every configuration, each as a release that is attacked and never published.

The answer: mean and deviation of every figure by configuration, the correlation of PPI and PPI' with resistance to
the three adversaries, and which of the published findings hold on these sources."""
EXAMPLES = """examples:
  pratique sweep create --source cap_01 --source cap_02
  pratique sweep create --source cap_01 --configuration C2 --configuration C4 --repetitions 50
  pratique sweep create --file sweep.json --json > sweep-result.json"""
ALL = tuple(f"C{number}" for number in range(8))
FIGURES = ("k", "ppi", "ppi_prime", "exact", "partial", "linkage")


def add(commands: Commands) -> None:
    """Add the noun and its commands."""
    noun = group(commands, "sweep", "measure many sources under many configurations", epilog=EXAMPLES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    add_create(verbs)
    listing = group(verbs, "list", "list the sweeps, newest first", epilog=example("pratique sweep list"))
    add_limit(listing)
    listing.set_defaults(run=show_all)
    for name, run, summary in (
        ("show", show, "show a sweep and, once completed, its answer"),
        ("cancel", cancel, "stop a sweep and its releases"),
    ):
        parser = group(verbs, name, summary, epilog=example(f"pratique sweep {name} swp_01"))
        parser.add_argument("sweep", metavar="ID", help="swp_..")
        parser.set_defaults(run=run)


def add_create(verbs: Commands) -> None:
    """Add `sweep create`."""
    parser = group(verbs, "create", "ask for a sweep", CREATE, EXAMPLES)
    parser.add_argument("--source", action="append", metavar="ID", help="a capture or dataset; repeatable")
    parser.add_argument(
        "--configuration", action="append", metavar="POLICY", help="a built-in or stored policy; default C0 to C7"
    )
    parser.add_argument("--unit", choices=("host", "session"), help="what a row of a capture is (default host)")
    parser.add_argument("--repetitions", type=int, metavar="N", help="of each adversary (default 20)")
    parser.add_argument("--seed", type=int, metavar="N", help="of adversaries and intervals (default 1)")
    parser.add_argument("--name", help="a name for lists")
    parser.add_argument("--pilot", help="the pilot of pseudonyms where the source has none")
    parser.add_argument("--file", type=json_object, metavar="FILE", help="the whole request as JSON (- for input)")
    parser.add_argument("--idempotency-key", metavar="KEY", help="asking again with KEY gives the same sweep")
    add_wait(parser, "all its releases are measured")
    parser.set_defaults(run=create)


def create(shell: Shell, options: argparse.Namespace) -> int:
    """Ask for a sweep and, unless told otherwise, wait for its answer."""
    state = shell.client.create_sweep(_body(options), options.idempotency_key)
    if options.wait:
        shell.remark(f"accepted as {plain(state['id'])}")
        with shell.bar("queued") as bar:
            state = shell.client.wait_sweep(state["id"], options.timeout, follow(bar))
    shell.show(state, summary(state, shell.width), short=plain(state["id"]))
    return exits.OK


def _body(options: argparse.Namespace) -> Json:
    body: Json = {"configurations": list(ALL), **(options.file or {})}
    given = {
        "sources": options.source,
        "configurations": options.configuration,
        "attacks": {"repetitions": options.repetitions} if options.repetitions else None,
        **{name: getattr(options, name) for name in ("unit", "seed", "name", "pilot")},
    }
    body |= {name: value for name, value in given.items() if value is not None}
    if not body.get("sources"):
        raise Misuse("a sweep needs sources: give --source or --file")
    return body


def show_all(shell: Shell, options: argparse.Namespace) -> int:
    """List sweeps."""
    rows = list(islice(shell.client.sweeps(), options.limit or None))
    shell.show_list(
        rows,
        ("ID", "STATUS", "CREATED", "NAME"),
        lambda row: (
            plain(row["id"]),
            plain(row.get("status")),
            plain(row.get("created_at") or "-"),
            plain(row.get("name") or ""),
        ),
    )
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Show a sweep."""
    state = shell.client.sweep(options.sweep)
    shell.show(state, summary(state, shell.width), short=plain(state.get("status")))
    return exits.OK


def cancel(shell: Shell, options: argparse.Namespace) -> int:
    """Stop a sweep."""
    state = shell.client.cancel_sweep(options.sweep)
    shell.show(state, summary(state, shell.width), short=plain(state["id"]))
    return exits.OK


def summary(state: Json, width: int = UNWRAPPED) -> str:
    """Return a sweep as tables: a row a configuration, a row a correlation, and the findings."""
    progress = state.get("progress") or {}
    lines = [f"{plain(state['id'])}  {plain(state.get('status'))}"]
    if state.get("status") in ("queued", "running"):
        lines.append(f"  {figure(progress.get('done'))} of {figure(progress.get('total'))} releases measured")
    if error := state.get("error"):
        lines.append(f"  {plain(error.get('code'))}: {plain(error.get('detail'))}")
    if "averages" in state:
        failed = sum(1 for row in state.get("releases") or [] if row.get("error"))
        lines += ["", _averages(state["averages"], width), "", _correlations(state["correlations"], width)]
        lines += ["", *dict.fromkeys(map(_finding, state["findings"]))]
        lines += [f"{failed} releases have no figures: `sweep show --json` says why"] if failed else []
    return "\n".join(lines)


def _averages(rows: list[Json], width: int) -> str:
    laid = [
        (
            plain(row["group"] or "all"),
            plain(row["configuration"]),
            figure(row["releases"]),
            *(f"{_short(row[f'{name}_mean'])} ± {_short(row[f'{name}_sd'])}" for name in FIGURES),
        )
        for row in rows
    ]
    return table([("GROUP", "POLICY", "RELEASES", *(name.upper() for name in FIGURES)), *laid], width)


def _correlations(rows: list[Json], width: int) -> str:
    laid = [
        (
            plain(row["group"] or "all"),
            plain(row["index"]),
            f"1 - {plain(row['measure'])}",
            _short(row["r"]),
            f"[{_short(row['ci95_low'])}, {_short(row['ci95_high'])}]",
        )
        for row in rows
    ]
    return table([("GROUP", "INDEX", "AGAINST", "R", "95 %"), *laid], width)


def _finding(row: Json) -> str:
    holds = {True: "holds", False: "does not hold", None: "cannot be said"}[row["holds"]]
    about = f" ({plain(row['measure'])})" if row.get("measure") else ""
    return f"{plain(row['finding'])}{about}, {plain(row['group'] or 'all')}: {holds}"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
