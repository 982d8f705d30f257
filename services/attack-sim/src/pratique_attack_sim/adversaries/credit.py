"""Credit: a candidate set of c rows that holds the target earns 1/c, any other earns nothing."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from pratique_attack_sim.adversaries.matrix import Counts
from pratique_shared.frames.estimates import Score

ADVERSARY: Final = {"partial_qi": 1, "linkage": 2}
GENERATOR: Final = "PCG64"
# Repetitions of a small release are looked up together: the fixed cost of 2^d tables is then paid once.
QUERIES_AT_ONCE: Final = 2**20


def stream(adversary: str, seed: int, repetition: int) -> np.random.Generator:
    """Return the chance of one repetition; it depends on nothing else, so shards may be cut anywhere."""
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(ADVERSARY[adversary], repetition)))
    )


def batches(first: int, last: int, rows: int) -> Iterator[range]:
    """Cut the repetitions first..last-1 into runs of about `QUERIES_AT_ONCE` targets, at least one repetition each."""
    step = max(QUERIES_AT_ONCE // max(rows, 1), 1)
    for start in range(first, last, step):
        yield range(start, min(start + step, last))


def score(first: int, targets: int, repetitions: list[Counts]) -> Score:
    """Sum the credit of each repetition, given the size of every target's candidate set (0: the target is not in it).

    The sums run over the sizes that occur, correctly rounded: they depend neither on the order of rows nor on the
    processor.
    """
    sums, squares = [], []
    for candidates in repetitions:
        tally = np.bincount(candidates)
        sizes = 1 + np.flatnonzero(tally[1:])
        often = tally[sizes]
        sums.append(math.fsum((often / sizes).tolist()))
        squares.append(math.fsum((often / (sizes * sizes)).tolist()))
    return Score(first=first, targets=targets, sums=tuple(sums), squares=tuple(squares))
