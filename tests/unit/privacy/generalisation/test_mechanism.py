"""The mechanism gives the strategy of a cost that hides a profile best, and says how sure it is."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.generalisation import critical
from pratique_privacy.generalisation.mechanism import Optima, Task, divergence, entropy, generalise, greatest_cost
from pratique_privacy.generalisation.taxonomy import Floats, taxonomy_of
from pratique_shared.contracts.problems import Unprocessable
from tests.support.beside import golden
from tests.unit.privacy.generalisation.peer import PAPER, Levels, optimum, runs

CHAIN: Levels = [runs(2, 3, 2, 3), runs(2, 5, 3), runs(7, 3)]


def best(
    profile: list[float], levels: Levels, gamma: float, costs: Floats | None = None, target: Floats | None = None
) -> Optima:
    """Generalise one profile."""
    taxonomy = taxonomy_of(levels, len(profile))
    wide = None if target is None else target[None]
    return generalise(Task(taxonomy, np.array([profile]), np.array([gamma]), costs, wide))


def test_the_published_example_starts_and_ends_where_the_paper_says() -> None:
    assert float(entropy(np.array(PAPER))) == pytest.approx(2.0652, abs=5e-5)
    two_families = best(PAPER, [runs(7, 3)], 0.41)
    # 1 - 7 x .02 - 3 x .15 = .41; flat: seven leaves of .43/7, three of .19.
    assert two_families.critical.bound == pytest.approx(0.41)
    assert two_families.critical.rate == pytest.approx(0.41)
    assert two_families.entropy == pytest.approx(2.1463, abs=5e-5)
    small_and_large = best(PAPER, [runs(2, 8)], 0.64)
    assert small_and_large.critical.bound == pytest.approx(0.64)
    assert small_and_large.entropy == pytest.approx(2.2086, abs=5e-5)


def test_lower_levels_make_flattening_cheaper_than_the_closed_form_says() -> None:
    found = best(PAPER, CHAIN, 0.385)
    # Leaves 0 and 1 miss .43/7 - .02 each; for 2 .. 6 their parent's sibling {0, 1} decides: .43/7 - .025 each, since
    # that much must come from the top; 7 .. 9 miss .19 - .15 each: 2 x .0414286 + 5 x .0364286 + 3 x .04 = 77/200.
    assert found.critical.rate == pytest.approx(77 / 200)
    assert found.critical.bound == pytest.approx(0.41)
    assert found.entropy == pytest.approx(found.critical.entropy)
    assert best(PAPER, CHAIN, 0.3849).entropy < found.critical.entropy - 1e-12


@pytest.mark.parametrize("name", ["o01", "o05", "o07", "o09", "o11", "o15", "o17", "o19", "o31", "o32", "o50"])
def test_golden_optima_are_met(name: str) -> None:
    case = json.loads(Path(golden("cases") / f"{name}.json").read_text())
    asked, right = case["input"], case["expected"]
    costs = None if asked["costs"] is None else np.array(asked["costs"], dtype=float)
    found = best(asked["q"], asked["hierarchy"], asked["gamma"], costs)
    assert found.entropy == pytest.approx(right["H"], abs=5e-8)
    assert found.gap <= 1e-7
    assert found.apparent[0] == pytest.approx(right["t"], abs=1e-5)
    assert found.critical.rate == pytest.approx(right["gamma_crit_least_cost"], abs=1e-9)
    assert found.critical.entropy == pytest.approx(right["critical_entropy"], abs=1e-12)
    assert greatest_cost(np.array([asked["q"]]), costs) == pytest.approx(right["gamma_max"])
    if costs is None:
        assert found.critical.bound == pytest.approx(right["gamma_crit_eq6"]["float"], abs=1e-12)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[float], Levels]:
    """A profile with zeros and ties, and a random chain of partitions, singletons and equal levels among them."""
    leaves = draw(st.integers(1, 9))
    counts = draw(st.lists(st.integers(0, 12), min_size=leaves, max_size=leaves).filter(any))
    labels = [draw(st.integers(0, leaves - 1)) for _ in range(leaves)]
    levels: Levels = []
    for _ in range(draw(st.integers(1, 3))):
        levels.append([[leaf for leaf in range(leaves) if labels[leaf] == name] for name in sorted(set(labels))])
        joined = {name: draw(st.sampled_from(sorted(set(labels)))) for name in sorted(set(labels))}
        labels = [joined[name] for name in labels]
    return [count / sum(counts) for count in counts], levels


@given(trees(), st.floats(0, 1), st.integers(0, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_the_optimum_is_that_of_a_general_solver(
    tree: tuple[list[float], Levels], part: float, kind: int, seed: int
) -> None:
    profile, levels = tree
    chance = np.random.default_rng(seed)
    costs = chance.integers(0, 4, (len(profile), len(levels))) / 2 if kind & 1 else None
    target = chance.dirichlet(np.ones(len(profile))) * 0.9 + 0.1 / len(profile) if kind & 2 else None
    q = np.array(profile)
    gamma = part * float(greatest_cost(q[None], costs)[0])
    found = best(profile, levels, gamma, costs, target)
    ours = float(-found.entropy[0]) if found.divergence is None else float(found.divergence[0])
    right = optimum(taxonomy_of(levels, len(profile)), q, gamma, costs, target)
    assert ours == pytest.approx(right, abs=1e-6)
    assert found.gap[0] <= 1e-7
    strategy = found.strategy[0]
    assert strategy.min() >= 0
    assert (strategy.sum(axis=-1) <= q + 1e-12).all()
    assert float((strategy * (1 if costs is None else costs)).sum()) == pytest.approx(gamma, abs=1e-9)


@given(trees(), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_the_least_flattening_rate_is_that_of_the_linear_program(tree: tuple[list[float], Levels], seed: int) -> None:
    profile, levels = tree
    taxonomy = taxonomy_of(levels, len(profile))
    masses = np.array([profile])[:, taxonomy.order]
    ones = np.ones((len(profile), len(levels)))
    _, right = critical.flattening_at(taxonomy, masses[0], ones)
    assert critical.least_rate(taxonomy, masses)[0] == pytest.approx(right, abs=1e-8)
    assert right <= critical.bound(taxonomy, masses)[0] + 1e-8
    strategy = critical.flattening(taxonomy, masses)
    assert strategy.sum() == pytest.approx(right, abs=1e-8)
    back = taxonomy.spread([taxonomy.sums(strategy[..., r], r) for r in range(len(levels))])
    assert masses - strategy.sum(axis=-1) + back == pytest.approx(critical.flat(taxonomy, masses), abs=1e-12)
    costs = np.random.default_rng(seed).random(ones.shape)
    cheapest, least = critical.flattening_at(taxonomy, masses[0], costs)
    assert least <= float((strategy[0] * costs).sum()) + 1e-8
    assert least <= critical.flattening_at(taxonomy, masses[0], costs, most=True)[1] + 1e-9
    assert (cheapest >= 0).all()


def test_the_curve_rises_to_the_critical_rate_and_bends_down() -> None:
    taxonomy = taxonomy_of(CHAIN, 10)
    gammas = np.linspace(0, 0.5, 51)
    found = generalise(Task(taxonomy, np.tile(PAPER, (51, 1)), gammas))
    rises = np.diff(found.entropy)
    assert found.entropy[0] == pytest.approx(2.06519143)
    assert (rises >= -1e-9).all()
    assert (np.diff(rises) <= 1e-8).all()
    assert found.entropy[39:] == pytest.approx(found.critical.entropy[39:])


def test_a_batch_gives_each_profile_what_it_gets_alone() -> None:
    chance = np.random.default_rng(7)
    profiles = chance.dirichlet(np.ones(10) * 0.4, 20)
    profiles[3, :5] = 0
    profiles /= profiles.sum(axis=-1, keepdims=True)
    gammas = chance.random(20)
    together = generalise(Task(taxonomy_of(CHAIN, 10), profiles, gammas))
    for row in range(20):
        alone = best(profiles[row].tolist(), CHAIN, float(gammas[row]))
        assert together.entropy[row] == pytest.approx(alone.entropy[0], abs=1e-8)
        assert together.apparent[row] == pytest.approx(alone.apparent[0], abs=1e-4)


@pytest.mark.parametrize("part", [0, 1e-9, 1e-6, 1e-3, 0.5, 0.999, 1 - 1e-6, 1 - 1e-9, 1])
def test_every_gamma_from_nothing_to_the_limit_has_a_strategy(part: float) -> None:
    chance = np.random.default_rng(11)
    for costs in (None, chance.integers(0, 3, (10, 3)).astype(float), chance.random((10, 3)) * 50):
        for target in (None, np.full(10, 0.1), chance.dirichlet(np.ones(10))):
            limit = float(greatest_cost(np.array([PAPER]), costs)[0])
            found = best(PAPER, CHAIN, part * limit, costs, target)
            spent = float((found.strategy * (1 if costs is None else costs)).sum())
            assert spent == pytest.approx(part * limit, abs=1e-9 * max(limit, 1))
            assert found.gap[0] <= 1e-7


def test_group_sums_never_change_and_equal_groups_bear_one_name() -> None:
    found = best(PAPER, CHAIN, 0.3)
    for group in CHAIN[2]:
        assert found.apparent[0, group].sum() == pytest.approx(sum(PAPER[leaf] for leaf in group), abs=1e-12)
    # {0, 1} stands in levels one and two, {7, 8, 9} in all three: their mass is published at the lowest.
    assert found.strategy[0, [0, 1], 1].sum() == 0
    assert found.strategy[0, [7, 8, 9], 1:].sum() == 0
    assert found.strategy[0, [7, 8, 9], 0].sum() > 0


def test_a_leaf_that_stands_for_many_empty_ones_counts_as_many() -> None:
    whole = best([0.5, 0.3, 0, 0, 0, 0.2], [[[0, 1, 2, 3, 4, 5]]], 0.2)
    folded = taxonomy_of([[[0, 1, 2, 3]]], 4, copies=[1, 1, 3, 1])
    found = generalise(Task(folded, np.array([[0.5, 0.3, 0, 0.2]]), np.array([0.2])))
    assert found.entropy == pytest.approx(whole.entropy, abs=1e-8)
    assert found.critical.rate == pytest.approx(whole.critical.rate)
    assert found.apparent[0] == pytest.approx(
        [*whole.apparent[0, :2], whole.apparent[0, 2:5].sum(), whole.apparent[0, 5]]
    )


def test_an_observer_may_spread_by_what_is_known_of_the_leaves() -> None:
    skewed = taxonomy_of([[[0, 1]]], 2, weights=[3, 1])
    found = generalise(Task(skewed, np.array([[0.9, 0.1]]), np.array([0.2])))
    # Leaf 0 gives .2 and three quarters of it come back: .9 - .2 + .15.
    assert found.apparent[0] == pytest.approx([0.85, 0.15], abs=1e-6)
    assert found.strategy[0, 0, 0] == pytest.approx(0.2, abs=1e-6)


def test_divergence_is_measured_from_the_target() -> None:
    found = best([0.5, 0.5], [[[0, 1]]], 0.1, target=np.array([0.25, 0.75]))
    # Leaf 0 gives all of the tenth and gets half of it back: (.45, .55).
    assert found.divergence == pytest.approx(0.45 * np.log(0.45 / 0.25) + 0.55 * np.log(0.55 / 0.75), abs=1e-7)
    assert divergence(np.array([0.25, 0.75]), np.array([0.25, 0.75])) == 0


def test_more_than_all_mass_cannot_be_spent() -> None:
    with pytest.raises(Unprocessable) as refused:
        best(PAPER, CHAIN, 1.001)
    assert refused.value.code == "gamma-infeasible"
    assert [error.detail for error in refused.value.errors] == ["give 0 to 1"]


def test_thousand_leaves_are_certified() -> None:
    profile = np.random.default_rng(5).dirichlet(np.full(1000, 0.5))
    levels = [runs(*[size] * (1000 // size)) for size in (5, 25, 125)]
    found = generalise(Task(taxonomy_of(levels, 1000), profile[None], np.array([0.1])))
    assert found.gap[0] <= 1e-7
    assert found.strategy.sum() == pytest.approx(0.1)
