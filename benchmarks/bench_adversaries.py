"""Benchmark: both adversaries by indexed look-ups, against the usual scan of all rows for each target.

    python benchmarks/bench_adversaries.py [--quick]

CPU seconds of this process for 20 repetitions of both adversaries, every row a target, index included. The scan plays
the same draws; it is timed on a few repetitions and scaled to 20, and each of them must give the same sums.
"""

import argparse
import math
import resource
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.credit import score, stream
from pratique_attack_sim.adversaries.linkage import simulate_linkage
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi, simulate_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_shared.frames.estimates import Score, combine, disagrees

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Timed = TypeVar("Timed")

REPETITIONS, SEED, FORGET, ACCURACY = 20, 1, 0.5, 0.8
NAIVE_REPETITIONS = {1_000: 20, 10_000: 2}  # N: repetitions that the scan plays
SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "coarse d=4": lambda _: (50, 24, 12, 8),
    "profile d=4": lambda n: (max(n // 50, 2), 288, 40, 12),
    "unique d=4": lambda n: (n, n, n // 2, n // 10),
    "profile d=6": lambda n: (max(n // 50, 2), 288, 40, 12, 8, 5),
}


def release(rows: int, domains: Sequence[int]) -> Codes:
    """Make a release whose columns have few common values and a long tail."""
    chance = np.random.default_rng(0)
    codes = np.empty((rows, len(domains)), dtype=np.int32)
    for column, domain in enumerate(domains):
        values = (chance.random(rows) ** 2 * domain).astype(np.int64)
        codes[:, column] = np.unique(values, return_inverse=True)[1]
    return codes


def timed(work: Callable[[], Timed]) -> tuple[Timed, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def indexed(codes: Codes, last: int) -> tuple[Score, Score]:
    return (
        simulate_partial_qi(codes, forget=FORGET, seed=SEED, first=0, last=last),
        simulate_linkage(codes, accuracy=ACCURACY, wrong_value="uniform", seed=SEED, first=0, last=last),
    )


def scanned_partial(codes: Codes, repetition: int) -> Counts:
    chance = stream("partial_qi", SEED, repetition)
    kept = np.array([chance.random(len(codes)) >= FORGET for _ in range(codes.shape[1])]).T
    return np.array([np.count_nonzero((codes[:, k] == row[k]).all(axis=1)) for row, k in zip(codes, kept, strict=True)])


def scanned_linkage(codes: Codes, repetition: int) -> Counts:
    chance = stream("linkage", SEED, repetition)
    seen = codes.copy()
    for column in range(codes.shape[1]):
        wrong = np.flatnonzero(chance.random(len(codes)) >= ACCURACY)
        domain = int(codes[:, column].max()) + 1
        seen[wrong, column] = chance.integers(domain, size=wrong.size, dtype=np.int32)
    sizes = np.zeros(len(codes), dtype=np.int64)
    for target, query in enumerate(seen):
        scores = np.count_nonzero(codes == query, axis=1)
        best = scores.max()
        sizes[target] = np.count_nonzero(scores == best) if scores[target] == best else 0
    return sizes


def scanned(codes: Codes, last: int) -> tuple[Score, Score]:
    partial = [scanned_partial(codes, repetition) for repetition in range(last)]
    linkage = [scanned_linkage(codes, repetition) for repetition in range(last)]
    return score(0, len(codes), partial), score(0, len(codes), linkage)


def naive_seconds(codes: Codes, found: tuple[Score, Score]) -> float | None:
    """Play the scan, hold the indexed sums against it, and return its time for all repetitions."""
    last = NAIVE_REPETITIONS.get(len(codes))
    if last is None:
        return None
    naive, seconds = timed(lambda: scanned(codes, last))
    for mine, theirs in zip(found, naive, strict=True):
        assert mine.sums[:last] == theirs.sums, "the indexed way and the scan differ"
        assert mine.squares[:last] == theirs.squares, "the indexed way and the scan differ"
    return seconds * REPETITIONS / last


def measure(name: str, rows: int, before: tuple[int, float] | None) -> tuple[int, float]:
    """Print one line of the table and return (rows, seconds) for the next line's exponent."""
    codes = release(rows, SHAPES[name](rows))
    found, seconds = timed(lambda: indexed(codes, REPETITIONS))
    naive = naive_seconds(codes, found)
    exposed, exposing = timed(lambda: exposure(codes))
    partial = exact_partial_qi(exposed, rows, forget=FORGET)
    linkage, summing = timed(lambda: exact_linkage(codes, accuracy=ACCURACY, wrong_value="uniform"))
    for mine, exact in zip(found, (partial, linkage), strict=True):
        estimate = combine([mine])
        assert estimate is not None
        assert not disagrees(estimate, exact), "simulation and exact value disagree"
    exponent = "" if before is None else f"{math.log(seconds / before[1]) / math.log(rows / before[0]):.2f}"
    peer = f"{naive:10.1f} {naive / seconds:8.0f}" if naive is not None else f"{'-':>10} {'-':>8}"
    exact_linkage_seconds = "-" if linkage is None else f"{summing:.3f}"
    print(f"{name:12} {rows:>9,} {seconds:10.3f} {peer} {exponent:>9} {exposing:14.3f} {exact_linkage_seconds:>14}")
    return rows, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="stop at 10,000 rows and play the scan at 1,000 only")
    quick = parser.parse_args().quick
    if quick:
        del NAIVE_REPETITIONS[10_000]
    print(f"{'shape':12} {'N':>9} {'indexed s':>10} {'naive s':>10} {'ratio':>8} {'exponent':>9} ", end="")
    print(f"{'exact partial':>14} {'exact linkage':>14}   (CPU seconds, {REPETITIONS} repetitions of both)")
    for name in SHAPES:
        before = None
        for rows in (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000):
            before = measure(name, rows, before)
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB; all sums equal to the scan's"
    )


if __name__ == "__main__":
    main()
