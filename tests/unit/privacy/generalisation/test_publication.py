"""What is published is honest: every item once, and it is said what can be read back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.generalisation.mechanism import Task, generalise
from pratique_privacy.generalisation.publication import apparent, divide, publish, recoverable
from pratique_privacy.generalisation.taxonomy import taxonomy_of
from tests.unit.privacy.generalisation.peer import PAPER, Levels, runs

CHAIN: Levels = [runs(2, 3, 2, 3), runs(2, 5, 3), runs(7, 3)]


@given(st.lists(st.integers(0, 400), min_size=10, max_size=10).filter(any), st.floats(0, 1), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_every_item_is_published_once_and_group_sums_stay(counts: list[int], gamma: float, seed: int) -> None:
    taxonomy, items = taxonomy_of(CHAIN, 10), np.array(counts)
    strategy = generalise(Task(taxonomy, (items / items.sum())[None], np.array([gamma]))).strategy[0]
    made = publish(taxonomy, items, strategy, np.random.default_rng(seed))
    assert made.leaves.min() >= 0
    assert (made.leaves <= items).all()
    assert made.leaves.sum() + sum(int(level.sum()) for level in made.groups) == items.sum()
    for at, group in enumerate(CHAIN[2]):
        inside = [sum(int(m) for m, g in zip(made.groups[r], CHAIN[r], strict=True) if g[0] in group) for r in range(3)]
        assert made.leaves[group].sum() + sum(inside) == items[group].sum(), at
    again = publish(taxonomy, items, strategy, np.random.default_rng(seed))
    assert again.leaves.tolist() == made.leaves.tolist()
    shares = apparent(taxonomy, made)
    assert shares.sum() == pytest.approx(1)


def test_parts_are_rounded_by_their_largest_remainders() -> None:
    chance = np.random.default_rng(1)
    parts = np.array([[2.6, 0.3, 1.1], [0.0, 4.0, 0.0], [1.75, 1.75, 0.5]])
    assert divide(parts, np.array([4, 4, 4]), chance).tolist() == [[3, 0, 1], [0, 4, 0], [2, 2, 0]]


def test_ties_are_drawn() -> None:
    tie, five = np.array([[2.5, 2.5]]), np.array([5])
    drawn = {tuple(divide(tie, five, np.random.default_rng(seed))[0].tolist()) for seed in range(20)}
    assert drawn == {(2, 3), (3, 2)}


def read_back(profile: list[float], levels: Levels, gamma: float) -> list[int]:
    taxonomy = taxonomy_of(levels, len(profile))
    found = generalise(Task(taxonomy, np.array([profile]), np.array([gamma])))
    return np.flatnonzero(recoverable(taxonomy, found.strategy[0], found.active[0])).tolist()


def test_leaves_that_were_not_trimmed_are_recoverable_below_the_critical_rate() -> None:
    # The largest are cut to one level: 4, 5 and 6 in the first family, 9 alone in the second, which gives 9 away too.
    assert read_back(PAPER, [runs(7, 3)], 0.1) == [0, 1, 2, 3, 7, 8, 9]
    assert read_back(PAPER, [runs(7, 3)], 0) == list(range(10))


def test_nothing_is_recoverable_from_a_flat_profile() -> None:
    assert read_back(PAPER, [runs(7, 3)], 0.41) == []
    assert read_back(PAPER, [runs(7, 3)], 0.8) == []


def test_the_only_leaf_that_can_have_given_is_recoverable_too() -> None:
    # One leaf is trimmed: its family's count is its own, so that all is known.
    assert read_back([0.7, 0.1, 0.2], [[[0, 1, 2]]], 0.05) == [0, 1, 2]
    assert read_back([0.4, 0.4, 0.2], [[[0, 1, 2]]], 0.05) == [2]
