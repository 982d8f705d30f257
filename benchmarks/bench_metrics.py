"""Metrics against pycanon (or the literal oracle) in the same run, and how their cost grows with the table.

    python benchmarks/bench_metrics.py [--quick]

pycanon is no dependency of Pratique. To measure against it, make an environment of its own that also sees this one:
`python -m venv peer && peer/bin/pip install pycanon`, put a file `pratique.pth` with the line
`import site; site.addsitedir("<this environment>/lib/python3.11/site-packages")` into its site-packages, and run this
file with its python. Without pycanon the peer is `tests/support/oracle.py`, which computes in fractions.
"""

import argparse
import importlib
import importlib.util
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pratique_privacy.metrics.measure import measure
from pratique_shared.contracts.posture import Metrics, PpiParameters

QI, SA = ["ip", "protocol_count"], "role"
ROLES = ["UE", "gNB", "AMF", "SMF", "UPF", "DNS"]
FEW, MANY = 20, 200  # about 3,500 and 12,000 classes in 100,000 rows
GOAL_RATIO, GOAL_SECONDS, GOAL_EXPONENT = 500, 0.6, 1.1


def hosts(rows: int, spread: int = FEW) -> pl.DataFrame:
    """Return host records in /24 networks of skewed size; the peer's cost grows with their number, ours hardly."""
    stream = np.random.default_rng(173)
    network = (stream.pareto(1.2, rows) * spread).astype(np.int64) % 65_536
    names = pl.Series([f"10.{n // 256}.{n % 256}.0/24" for n in range(65_536)])
    return pl.DataFrame(
        {
            "ip": names.gather(network),
            "protocol_count": stream.integers(1, 5, rows),
            "role": pl.Series(ROLES).gather(stream.integers(0, len(ROLES), rows)),
        }
    )


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Return the least CPU seconds of a piece of work, and what it gave."""
    best, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def ours(table: pl.DataFrame) -> Metrics:
    return measure(table, QI, [SA], ppi=PpiParameters())


def pycanon_figures(table: pl.DataFrame) -> Callable[[], tuple[int, int, float]]:
    pandas, anonymity = importlib.import_module("pandas"), importlib.import_module("pycanon.anonymity")
    frame = pandas.DataFrame(table.to_dict(as_series=False))
    return lambda: (
        anonymity.k_anonymity(frame, QI),
        anonymity.l_diversity(frame, QI, [SA]),
        anonymity.t_closeness(frame, QI, [SA]),
    )


def oracle_figures(table: pl.DataFrame) -> Callable[[], tuple[int, int, float]]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    truth = importlib.import_module("tests.support.oracle").truth
    rows = table.to_dicts()

    def work() -> tuple[int, int, float]:
        right = truth(rows, QI, SA)
        return right.k, right.l, float(right.t)

    return work


def against_peer(rows: int, spread: int) -> float:
    """Print and return by what factor the peer takes longer for k, l and t than `measure` for every figure."""
    has_pycanon = importlib.util.find_spec("pycanon") is not None
    name, peer = ("pycanon", pycanon_figures) if has_pycanon else ("the oracle", oracle_figures)
    table = hosts(rows, spread)
    fast, found = timed(lambda: ours(table), repeats=5)
    slow, (k, l, t) = timed(peer(table))  # noqa: E741
    ratio = slow / fast
    same = (found.k, found.l) == (k, l) and found.t is not None and abs(found.t - t) < 1e-9
    print(f"{rows:>10,} rows, {found.classes:,} classes  ours {fast:.4f} s", end="  ")
    print(f"{name} {slow:.2f} s  ratio {ratio:.0f}  same figures: {same}")
    if not same:
        raise SystemExit(f"{name} gives other figures")
    return ratio


def growth(sizes: list[int]) -> float:
    """Print CPU seconds by size and return the exponent between the smallest and the largest."""
    seconds = []
    for rows in sizes:
        table = hosts(rows)
        taken, found = timed(lambda table=table: ours(table), repeats=3)  # type: ignore[misc]
        seconds.append(taken)
        print(f"{rows:>10,} rows  {taken:8.4f} s  {found.classes:,} classes")
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="Metrics against a peer, and their growth.")
    parser.add_argument("--quick", action="store_true", help="small tables, no growth")
    quick = parser.parse_args().quick
    print("CPU seconds; k, l, t by the peer against every figure by Pratique")
    sizes = [1_000, 5_000] if quick else [1_000, 10_000, 100_000]
    ratios = [against_peer(rows, spread) for rows in sizes for spread in (FEW, MANY)]
    if quick:
        return
    exponent = growth([100_000, 1_000_000, 10_000_000])
    few, many = ratios[-2:]
    print(f"ratio at the largest {few:.0f} and {many:.0f} (goal {GOAL_RATIO})")
    print(f"exponent {exponent:.2f} (goal {GOAL_EXPONENT}); goal at 1,000,000 rows: {GOAL_SECONDS} s")


if __name__ == "__main__":
    main()
