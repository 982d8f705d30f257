"""Optimal generalisation against CLARABEL in the same run, each with the gap that it is certain of.

    python benchmarks/bench_generalisation.py [--quick]

The peer solves the same programme as a conic one (exponential cones), at its default tolerances.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pratique_privacy.generalisation.mechanism import Optima, Task, entropy, generalise
from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy, taxonomy_of
from tests.unit.privacy.generalisation.peer import runs, solved

SIZES = (5, 25, 125)  # leaves of a group, a level each
GAMMA = 0.1
GOAL_RATIO, GOAL_SECONDS = 50, {1_000: 0.1, 10_000: 0.5}


def host_profile(leaves: int) -> tuple[Taxonomy, Floats]:
    """Return a tree of three levels and a skewed profile over it."""
    levels = [runs(*[size] * (leaves // size)) for size in SIZES]
    return taxonomy_of(levels, leaves), np.random.default_rng(5).dirichlet(np.full(leaves, 0.5))


def ours(taxonomy: Taxonomy, profile: Floats, repeats: int) -> tuple[float, Optima]:
    """Return the least CPU seconds of a solution, critical rate included, and the solution."""
    best, found = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        found = generalise(Task(taxonomy, profile[None], np.array([GAMMA])))
        best = min(best, time.process_time() - start)
    assert found is not None
    return best, found


def compared(leaves: int, repeats: int, *, peer: bool) -> bool:
    """Print both sides at one size; return whether the goals were met."""
    taxonomy, profile = host_profile(leaves)
    seconds, found = ours(taxonomy, profile, repeats)
    goal = GOAL_SECONDS[leaves]
    print(
        f"{leaves} leaves, {len(SIZES)} levels, gamma {GAMMA}: {seconds:.3f} CPU s (goal {goal}), "
        f"entropy {float(entropy(profile)):.6f} -> {found.entropy[0]:.9f}, certified gap {found.gap[0]:.1e}, "
        f"critical rate {found.critical.rate[0]:.4f}"
    )
    if not peer:
        return True
    start = time.process_time()
    solution, inside = solved(taxonomy, profile, GAMMA)
    took = time.process_time() - start
    ratio = inside / seconds
    print(
        f"  CLARABEL: {inside:.2f} s inside the solver ({took:.2f} with its set-up), {solution.status}, "
        f"{solution.iterations} iterations, entropy {-solution.obj_val:.9f}, "
        f"its own gap {abs(solution.obj_val - solution.obj_val_dual):.1e}: {ratio:.0f} times ours (goal {GOAL_RATIO})"
    )
    return ratio >= GOAL_RATIO


def batch(profiles: int, leaves: int) -> None:
    """Print what a table of host profiles costs."""
    taxonomy = taxonomy_of([runs(*[5] * (leaves // 5)), runs(*[leaves // 2] * 2)], leaves)
    drawn = np.random.default_rng(7).dirichlet(np.full(leaves, 0.3), profiles)
    start = time.process_time()
    found = generalise(Task(taxonomy, drawn, np.full(profiles, GAMMA)))
    took = time.process_time() - start
    print(f"{profiles} profiles of {leaves} leaves at once: {took:.2f} CPU s, worst gap {found.gap.max():.1e}")


def main() -> int:
    """Run; 0 if every goal that was looked at is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repetition, CLARABEL at 1,000 leaves only")
    quick = parser.parse_args().quick
    met = [compared(1_000, 1 if quick else 5, peer=True), compared(10_000, 1 if quick else 3, peer=not quick)]
    batch(200 if quick else 2_000, 40)
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
