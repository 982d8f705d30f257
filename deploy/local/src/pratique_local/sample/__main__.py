"""The command that writes a sample capture: `python -m pratique_local.sample OUT [--seed N]`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pratique_local.sample import write_sample


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the capture and say how much is in it."""
    parser = argparse.ArgumentParser(prog="pratique_local.sample", description="Write a generated 5G lab capture.")
    parser.add_argument("out", type=Path, help="file to write: classic pcap if it ends in .pcap, else pcapng")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same file")
    parser.add_argument("--subscribers", type=int, default=24, help="how many subscribers visit, 1 to 240")
    options = parser.parse_args(arguments)
    truth = write_sample(options.out, seed=options.seed, subscribers=options.subscribers)
    print(f"{options.out}: {truth.packets} packets, {len(truth.hosts)} hosts")


if __name__ == "__main__":
    main()
