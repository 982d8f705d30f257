"""The command that writes a sample capture: `python -m pratique_local sample OUT [--seed N]`."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pratique_local.sample import Scenario, write_sample, write_truth
from pratique_local.sample.subscribers import MOST_SUBSCRIBERS


def describe(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("out", type=Path, help="file to write: classic pcap if it ends in .pcap, else pcapng")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same file")
    parser.add_argument("--subscribers", type=_count, default=24, help="how many subscribers visit the lab, 1 to 240")
    parser.add_argument(
        "--scenario", choices=get_args(Scenario), default="lab",
        help="lab: a whole 5G lab with a 4G and a charging corner; oran: twelve sessions in two regions",
    )  # fmt: skip


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SUBSCRIBERS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {MOST_SUBSCRIBERS}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Write the capture and the truth about it, and say how much is in it."""
    out: Path = options.out
    out.parent.mkdir(parents=True, exist_ok=True)
    truth = write_sample(out, seed=options.seed, subscribers=options.subscribers, scenario=options.scenario)
    beside = write_truth(out, truth)
    print(f"{out}: {truth.packets} packets, {len(truth.hosts)} hosts; what it holds is told in {beside.name}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="pratique_local.sample", description="Write a generated 5G lab capture.")
    describe(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
