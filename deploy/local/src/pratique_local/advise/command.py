"""`advise`: says of each item of a stream whether to publish it or a family of it. Nothing leaves this machine."""

import argparse
import json
import secrets
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

import numpy as np

from pratique_local.advise.adviser import Adviser, Settings
from pratique_local.advise.leaves import BadTable, Leaves, read_leaves
from pratique_local.advise.running import RunningProfile
from pratique_local.advise.stream import advised
from pratique_privacy.generalisation.taxonomy import Floats
from pratique_shared.contracts.problems import Problem

DESCRIPTION = """Read items (NDJSON: {"item": "..."} or a JSON text on a line), and say of each: publish, or generalise
to which level. No server is asked.

The table is TOML or JSON: [taxonomy] leaf = ["family", "its family", ..], [items] "name or *pattern*" = "leaf", and,
where wanted, [profile] and [population] leaf = share. An item that matches nothing is answered with `unknown`."""

EXAMPLES = """example:
  pratique local advise table.toml --gamma 0.1 --input items.ndjson"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `advise` takes."""
    parser.add_argument("table", type=Path, metavar="TABLE", help="taxonomy and items, .toml or .json")
    parser.add_argument("--gamma", type=_share, required=True, help="the share of items to generalise, 0 to 1")
    parser.add_argument("--start", choices=("zero", "uniform"), default="zero", help="what is assumed before any item")
    parser.add_argument("--declared", action="store_true", help="take [profile] as it is, and don't learn from items")
    parser.add_argument("--training", type=_count, default=0, metavar="N", help="only learn from the first N items")
    parser.add_argument("--decay", type=_share, default=0.0, help="the part of the past that each item takes away")
    parser.add_argument("--settle", type=_share, default=0.02, help="recompute once the profile moved by this much")
    parser.add_argument(
        "--spread",
        choices=("uniform", "proportional"),
        default="uniform",
        help="how an observer divides a family: evenly, or like [population]",
    )
    parser.add_argument("--seed", type=_count, default=None, help="repeat the same draws; fresh ones without it")
    parser.add_argument("--input", type=Path, default=None, metavar="FILE", help="the items; standard input without it")
    parser.add_argument("--ask", action="store_true", help="ask before generalising; needs --input and a terminal")


def run(options: argparse.Namespace, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> int:
    """Answer a stream; 0, or 2 where the table or the options cannot stand."""
    try:
        leaves = read_leaves(options.table)
        if options.ask and options.input is None:
            raise BadTable("--ask reads answers from standard input: give the items by --input")
        adviser = adviser_of(leaves, options)
        asked = (err, sys.stdin) if options.ask else (None, None)
        with nullcontext(sys.stdin) if options.input is None else options.input.open(encoding="utf-8") as lines:
            for line in advised(lines, adviser, *asked):
                print(json.dumps(line, ensure_ascii=False), file=out, flush=True)
    except OSError as error:
        print(f"advise: {error.filename or 'the stream'}: {error.strerror}", file=err)
        return 2
    except (BadTable, Problem) as error:
        print(f"advise: {error.detail if isinstance(error, Problem) else error}", file=err)
        return 2
    return 0


def adviser_of(leaves: Leaves, options: argparse.Namespace) -> Adviser:
    """Build the adviser that the options describe; raises BadTable where the table lacks what they need."""
    weights: Floats | None = None
    if options.spread == "proportional":
        if leaves.population is None or any(leaves.population.get(name, 0) <= 0 for name in leaves.names):
            raise BadTable("--spread proportional needs [population] with a share above 0 for every leaf")
        weights = np.array([float(leaves.population[name]) for name in leaves.names])
    if options.declared:
        if leaves.declared is None:
            raise BadTable("--declared needs [profile] in the table")
        profile = RunningProfile(
            np.array([float(leaves.declared.get(name, 0)) for name in leaves.names]), declared=True
        )
    else:
        profile = RunningProfile.inferred(len(leaves.names), options.start, options.decay)
    seed = secrets.randbits(128) if options.seed is None else options.seed
    settings = Settings(options.gamma, options.training, options.settle)
    return Adviser(leaves, profile, settings, np.random.default_rng(seed), weights)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("give a number from 0 to 1")
    return value


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("give a whole number from 0")
    return int(text)
