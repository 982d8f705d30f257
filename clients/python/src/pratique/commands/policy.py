"""`pratique policy` and `classify`: what is done to the columns of a source, and what each column is."""

import argparse
import json

from pratique.columns import plain, table
from pratique.commands import exits
from pratique.commands.arguments import Commands, Misuse, example, group, json_object
from pratique.commands.shell import Shell
from pratique.exchange import Json

PUT = """Store a policy under a name. Storing again under that name adds a version; releases keep the one they ran with.

FILE is a JSON object {"steps": [..]}, which may bring "attributes", "gate", "attacks" and "ppi" along."""
PUT_EXAMPLES = """example:
  pratique policy put mine mine.json

a policy:
  {"steps": [{"column": "imsi", "op": "hmac", "bits": 128, "scope": "per_pilot"},
             {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64},
             {"column": "ip", "op": "threshold", "tau": 3}]}"""
LIST = example("pratique policy list")
SHOW = example("pratique policy show C4 > mine.json")
USES = example("pratique policy show C4 > mine.json", "pratique policy put mine mine.json")
SUGGEST = example("pratique classify --capture cap_01")
CLASSIFY = """Suggest a class for each column of a source: identifier, quasi-identifier, sensitive, insensitive or drop.

It is a suggestion with its reason: what is known about people elsewhere decides, and only you can judge that."""


def add(commands: Commands) -> None:
    """Add both commands."""
    noun = group(commands, "policy", "list, show and store policies", epilog=USES)
    verbs = noun.add_subparsers(title="commands", metavar="COMMAND")
    group(verbs, "list", "list the policies, the built-in ones included", epilog=LIST).set_defaults(run=show_all)
    one = group(verbs, "show", "print a policy as JSON", epilog=SHOW)
    one.add_argument("name", metavar="NAME", help="a built-in such as C4, or a stored policy")
    one.set_defaults(run=show)
    put = group(verbs, "put", "store a policy", PUT, PUT_EXAMPLES)
    put.add_argument("name", metavar="NAME", help="letters, digits, point, dash, underscore")
    put.add_argument("file", type=json_object, metavar="FILE", help="JSON (- for standard input)")
    put.set_defaults(run=store)
    classify = group(commands, "classify", "suggest what each column of a source is", CLASSIFY, SUGGEST)
    source = classify.add_mutually_exclusive_group()
    source.add_argument("--capture", metavar="ID", help="cap_..")
    source.add_argument("--dataset", metavar="ID", help="dst_..")
    classify.add_argument("--unit", choices=("host", "session"), help="what a row of a capture is (default host)")
    classify.set_defaults(run=show_classes)


def show_all(shell: Shell, options: argparse.Namespace) -> int:  # noqa: ARG001 - every command is called alike
    """List policies."""
    shell.show_list(
        list(shell.client.policies()),
        ("NAME", "VERSION", "SHA256"),
        lambda row: (
            plain(row.get("name")),
            "built-in" if row.get("built_in") else plain(row.get("version") or "-"),
            plain(row.get("sha256") or "-"),
        ),
    )
    return exits.OK


def show(shell: Shell, options: argparse.Namespace) -> int:
    """Print a policy, which is JSON for everybody."""
    policy = shell.client.policy(options.name)
    text = json.dumps(policy, indent=2, ensure_ascii=False)
    shell.show(policy, text, short=text)
    return exits.OK


def store(shell: Shell, options: argparse.Namespace) -> int:
    """Store a policy."""
    stored = shell.client.put_policy(options.name, options.file)
    version = f"  version {plain(stored['version'])}" if "version" in stored else ""
    shell.show(stored, f"{plain(options.name)}  stored{version}", short=plain(options.name))
    return exits.OK


def show_classes(shell: Shell, options: argparse.Namespace) -> int:
    """Print a suggested class per column with its reason."""
    if not (options.capture or options.dataset):
        raise Misuse("say what to classify: give --capture or --dataset")
    if options.unit and not options.capture:
        raise Misuse("--unit goes with --capture")
    source = {"capture": options.capture, "dataset": options.dataset, "unit": options.unit}
    answer = shell.client.classify({"source": {name: value for name, value in source.items() if value}})
    rows = suggested(answer)
    text = table([("COLUMN", "CLASS", "REASON"), *rows], shell.width)
    shell.show(answer, text, short="\n".join(f"{row[0]} {row[1]}" for row in rows))
    return exits.OK


def suggested(answer: Json) -> list[tuple[str, str, str]]:
    """Return column, class and reason of each column in an answer of `POST /classify`."""
    return [
        (plain(each.get("column")), plain(each.get("class")), plain(each.get("reason") or ""))
        for each in answer.get("columns") or []
    ]
