"""The adversaries by their definitions, row by row: slow, literal, and sharing no code with the product."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

Row = tuple[int, ...]
Table = Sequence[Row]


def table(codes: npt.NDArray[np.int32]) -> list[Row]:
    return [tuple(int(value) for value in row) for row in codes]


def credit(release: Table, target: int, scores: Sequence[int]) -> int:
    """Return how many rows share the top score, 0 when the target is not one of them."""
    best = max(scores)
    top = [row for row in range(len(release)) if scores[row] == best]
    return len(top) if target in top else 0


def partial_candidates(release: Table, target: int, known: Row, remembered: Sequence[int]) -> int:
    """Return the size of the candidate set for the columns remembered, 0 when it misses the target."""
    candidates = [i for i, row in enumerate(release) if all(row[a] == known[a] for a in remembered)]
    return len(candidates) if target in candidates else 0


def linkage_candidates(release: Table, target: int, seen: Row) -> int:
    """Score every row by the number of attributes that match what was seen."""
    return credit(release, target, [sum(x == y for x, y in zip(row, seen, strict=True)) for row in release])


def distinct(release: Table, subset: Sequence[int]) -> int:
    return len({tuple(row[a] for a in subset) for row in release})


def all_subsets(width: int) -> list[Row]:
    return [subset for size in range(width + 1) for subset in combinations(range(width), size)]


def expected_partial(release: Table, known: Table, forget: Fraction) -> Fraction:
    """Average the credit over every target and every pattern of forgetting."""
    width, total = len(known[0]), Fraction(0)
    for target, believed in enumerate(known):
        for kept in all_subsets(width):
            size = partial_candidates(release, target, believed, kept)
            chance = (1 - forget) ** len(kept) * forget ** (width - len(kept))
            total += chance / size if size else 0
    return total / len(release)


def seen_chances(believed: int, domain: Sequence[int], accuracy: Fraction, *, exclude: bool) -> dict[int, Fraction]:
    """Return the chance of every value that may be observed for the believed one."""
    wrong = [value for value in domain if not exclude or value != believed]
    if not wrong:
        return {believed: Fraction(1)}
    chances = {believed: accuracy}
    for value in wrong:
        chances[value] = chances.get(value, Fraction(0)) + (1 - accuracy) / len(wrong)
    return chances


def expected_linkage(release: Table, known: Table, accuracy: Fraction, *, exclude: bool = False) -> Fraction:
    """Average the credit over every target and everything that could be seen of it."""
    domains = [sorted({row[a] for row in release}) for a in range(len(release[0]))]
    total = Fraction(0)
    for target, believed in enumerate(known):
        channels = [seen_chances(value, domains[a], accuracy, exclude=exclude) for a, value in enumerate(believed)]
        for seen in product(*channels):
            chance = Fraction(1)
            for value, channel in zip(seen, channels, strict=True):
                chance *= channel[value]
            size = linkage_candidates(release, target, seen)
            total += chance / size if size else 0
    return total / len(release)


def generator(seed: int, adversary: int, repetition: int) -> np.random.Generator:
    """Return the stream that the seed contract names: PCG64, spawn key (adversary, repetition)."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(adversary, repetition))))


def drawn_partial(release: Table, known: Table, forget: float, seed: int, repetition: int) -> list[int]:
    """Play one repetition: column by column, one number in [0, 1) a target, forgotten when it is below `forget`."""
    chance = generator(seed, 1, repetition)
    draws = [chance.random(len(release)) for _ in range(len(release[0]))]
    sizes = []
    for target, believed in enumerate(known):
        remembered = [a for a, column in enumerate(draws) if column[target] >= forget]
        sizes.append(partial_candidates(release, target, believed, remembered))
    return sizes


def drawn_linkage(
    release: Table, known: Table, accuracy: float, seed: int, repetition: int, *, exclude: bool = False
) -> list[int]:
    """Play one repetition: column by column, who is seen wrong (a number >= `accuracy`), then what is seen instead."""
    chance = generator(seed, 2, repetition)
    seen = [list(row) for row in known]
    for a in range(len(release[0])):
        domain = sorted({row[a] for row in release})
        wrong = [target for target, draw in enumerate(chance.random(len(release))) if draw >= accuracy]
        choices = []
        for target in wrong:
            rest = [value for value in domain if not exclude or value != known[target][a]]
            choices.append(rest or [known[target][a]])
        if exclude:
            picks = chance.integers(np.array([len(choice) for choice in choices], dtype=np.int32), dtype=np.int32)
        else:
            picks = chance.integers(len(domain), size=len(wrong), dtype=np.int32)
        for target, choice, pick in zip(wrong, choices, picks, strict=True):
            seen[target][a] = choice[pick]
    return [linkage_candidates(release, target, tuple(row)) for target, row in enumerate(seen)]


def sums(sizes: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the sum of the credits and of their squares."""
    credits_ = [Fraction(1, size) for size in sizes if size]
    return sum(credits_, Fraction(0)), sum((value * value for value in credits_), Fraction(0))


def naive_linkage(codes: npt.NDArray[np.int32], queries: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Score all rows for each query in numpy, rows x rows x columns: the usual way."""
    sizes = np.zeros(len(codes), dtype=np.int64)
    for target, query in enumerate(queries):
        scores = (codes == query).sum(axis=1)
        best = scores.max()
        if scores[target] == best:
            sizes[target] = np.count_nonzero(scores == best)
    return sizes
