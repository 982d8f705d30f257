"""Seeded simulations against a literal play of the same draws."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_attack_sim.adversaries import credit
from pratique_attack_sim.adversaries.linkage import simulate_linkage, top_scorers
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.matrix import Matrix
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi, simulate_partial_qi
from pratique_attack_sim.adversaries.projections import Projections
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_shared.frames.estimates import Score, combine, disagrees
from pratique_shared.frames.linkage import WrongValue
from tests.support import adversary_oracle as oracle
from tests.support.matrices import Codes, code_matrices, dense, releases_and_beliefs, skewed

SEEDS = st.integers(0, 2**63 - 1)


def check_plays(score: Score, plays: list[list[int]]) -> None:
    """Hold a score against the candidate sets of a literal play."""
    expected = [oracle.sums(sizes) for sizes in plays]
    assert score.sums == pytest.approx([float(total) for total, _ in expected], rel=1e-14, abs=0)
    assert score.squares == pytest.approx([float(square) for _, square in expected], rel=1e-14, abs=0)


@given(code_matrices(), SEEDS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
@settings(deadline=None, max_examples=50)
def test_partial_qi_is_the_literal_play_draw_by_draw(codes: Codes, seed: int, forget: float) -> None:
    release = oracle.table(codes)
    score = simulate_partial_qi(codes, forget=forget, seed=seed, first=3, last=6)
    assert (score.first, score.targets) == (3, len(codes))
    check_plays(score, [oracle.drawn_partial(release, release, forget, seed, number) for number in (3, 4, 5)])


@given(code_matrices(max_rows=20), SEEDS, st.sampled_from([0.0, 0.5, 0.8, 1.0]), st.booleans())
@settings(deadline=None, max_examples=50)
def test_linkage_is_the_literal_play_draw_by_draw(codes: Codes, seed: int, accuracy: float, exclude: bool) -> None:
    release = oracle.table(codes)
    wrong_value: WrongValue = "exclude" if exclude else "uniform"
    score = simulate_linkage(codes, accuracy=accuracy, wrong_value=wrong_value, seed=seed, first=0, last=3)
    plays = [oracle.drawn_linkage(release, release, accuracy, seed, number, exclude=exclude) for number in range(3)]
    check_plays(score, plays)


@given(releases_and_beliefs(), SEEDS, st.booleans())
@settings(deadline=None, max_examples=50)
def test_believed_rows_are_played_draw_by_draw(pair: tuple[Codes, Codes], seed: int, exclude: bool) -> None:
    codes, known = pair
    release, believed = oracle.table(codes), oracle.table(known)
    partial = simulate_partial_qi(codes, forget=0.5, seed=seed, first=0, last=2, known=known)
    check_plays(partial, [oracle.drawn_partial(release, believed, 0.5, seed, number) for number in range(2)])
    wrong_value: WrongValue = "exclude" if exclude else "uniform"
    linkage = simulate_linkage(codes, accuracy=0.5, wrong_value=wrong_value, seed=seed, first=0, last=2, known=known)
    check_plays(
        linkage, [oracle.drawn_linkage(release, believed, 0.5, seed, number, exclude=exclude) for number in range(2)]
    )


@pytest.mark.parametrize("budget", [0, 4_000, 2**29])
@pytest.mark.parametrize("domains", [(5, 4, 3), (300, 250, 200, 150), (2, 2, 2, 2, 2, 2)])
def test_the_number_of_top_scorers_is_that_of_a_scan_of_all_rows(domains: tuple[int, ...], budget: int) -> None:
    codes = skewed(250, domains, seed=8)
    queries = codes.copy()
    chance = np.random.default_rng(9)
    for a in range(len(domains)):
        wrong = chance.random(len(codes)) < 0.5
        queries[wrong, a] = chance.integers(int(codes[:, a].max()) + 1, size=int(wrong.sum()))
    projections = Projections(Matrix.of(codes), budget=budget)
    found = top_scorers(projections, np.ascontiguousarray(queries.T), np.ascontiguousarray(codes.T))
    assert found.tolist() == oracle.naive_linkage(codes, queries).tolist()


@given(st.lists(st.integers(1, 11), max_size=4, unique=True), SEEDS)
@settings(deadline=None, max_examples=25)
def test_repetitions_give_the_same_numbers_however_they_are_cut(cuts: list[int], seed: int) -> None:
    codes = skewed(60, (12, 5, 4), seed=6)
    edges = [0, *sorted(cuts), 12]
    spans = list(pairwise(edges))[::-1]  # shards finish in any order
    partial = [simulate_partial_qi(codes, forget=0.5, seed=seed, first=a, last=b) for a, b in spans]
    linkage = [
        simulate_linkage(codes, accuracy=0.8, wrong_value="uniform", seed=seed, first=a, last=b) for a, b in spans
    ]
    assert combine(partial) == combine([simulate_partial_qi(codes, forget=0.5, seed=seed, first=0, last=12)])
    whole = simulate_linkage(codes, accuracy=0.8, wrong_value="uniform", seed=seed, first=0, last=12)
    assert combine(linkage) == combine([whole])
    assert tuple(total for score in reversed(linkage) for total in score.sums) == whole.sums


@pytest.mark.parametrize("at_once", [1, 100, 10**6])
def test_how_many_repetitions_are_looked_up_together_changes_nothing(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = skewed(80, (10, 6, 3), seed=7)
    expected = simulate_linkage(codes, accuracy=0.8, wrong_value="exclude", seed=4, first=0, last=5)
    partial = simulate_partial_qi(codes, forget=0.5, seed=4, first=0, last=5)
    monkeypatch.setattr(credit, "QUERIES_AT_ONCE", at_once)
    assert simulate_linkage(codes, accuracy=0.8, wrong_value="exclude", seed=4, first=0, last=5) == expected
    assert simulate_partial_qi(codes, forget=0.5, seed=4, first=0, last=5) == partial


def test_seed_adversary_and_repetition_each_have_draws_of_their_own() -> None:
    streams = [("partial_qi", 1, 0), ("partial_qi", 1, 1), ("partial_qi", 2, 0), ("linkage", 1, 0), ("linkage", 1, 1)]
    first = {credit.stream(adversary, seed, number).random() for adversary, seed, number in streams}
    assert len(first) == len(streams)
    assert credit.stream("linkage", 1, 1).random() == oracle.generator(1, 2, 1).random()


def test_the_mean_of_many_repetitions_is_the_exact_expectation() -> None:
    codes = skewed(300, (40, 8, 5), seed=11)
    partial = combine([simulate_partial_qi(codes, forget=0.5, seed=1, first=0, last=200)])
    exact = exact_partial_qi(exposure(codes), 300, forget=0.5)
    assert partial is not None
    assert exact is not None
    assert partial.se is not None
    assert abs(partial.estimate - exact) < 4 * partial.se
    assert not disagrees(partial, exact)
    for wrong_value in ("uniform", "exclude"):
        linkage = combine([simulate_linkage(codes, accuracy=0.8, wrong_value=wrong_value, seed=1, first=0, last=200)])
        expected = exact_linkage(codes, accuracy=0.8, wrong_value=wrong_value)
        assert linkage is not None
        assert linkage.se is not None
        assert expected is not None
        assert abs(linkage.estimate - expected) < 4 * linkage.se
        assert not disagrees(linkage, expected)


def test_an_adversary_without_noise_earns_the_exact_qi_bound() -> None:
    codes = dense([(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 1)], 2)  # classes of 2, 1 and 3
    partial = simulate_partial_qi(codes, forget=0.0, seed=1, first=0, last=2)
    linkage = simulate_linkage(codes, accuracy=1.0, wrong_value="uniform", seed=1, first=0, last=2)
    squares = float(Fraction(1, 2) + 1 + Fraction(1, 3))  # class of c rows: c times 1/c^2
    assert partial == linkage == Score(first=0, targets=6, sums=(3.0, 3.0), squares=(squares, squares))


def test_an_empty_release_scores_no_target() -> None:
    empty = np.zeros((0, 3), dtype=np.int32)
    partial = simulate_partial_qi(empty, forget=0.5, seed=1, first=0, last=4)
    linkage = simulate_linkage(empty, accuracy=0.8, wrong_value="exclude", seed=1, first=0, last=4)
    assert partial == linkage == Score(first=0, targets=0, sums=(0.0,) * 4, squares=(0.0,) * 4)


def test_without_quasi_identifiers_every_row_is_a_candidate() -> None:
    codes = np.zeros((4, 0), dtype=np.int32)
    expected = Score(first=2, targets=4, sums=(1.0,), squares=(0.25,))
    assert simulate_partial_qi(codes, forget=0.5, seed=1, first=2, last=3) == expected
    assert simulate_linkage(codes, accuracy=0.8, wrong_value="uniform", seed=1, first=2, last=3) == expected


def test_a_seed_means_the_same_numbers_after_an_upgrade() -> None:
    # Recorded once: a published estimate names its seed and generator, and must be found again.
    row = np.arange(40)
    codes = np.stack([row % 20, row % 7, row % 3], axis=1).astype(np.int32)
    partial = simulate_partial_qi(codes, forget=0.5, seed=1, first=0, last=2)
    uniform = simulate_linkage(codes, accuracy=0.8, wrong_value="uniform", seed=1, first=0, last=2)
    exclude = simulate_linkage(codes, accuracy=0.8, wrong_value="exclude", seed=1, first=0, last=2)
    assert partial.sums == pytest.approx((20.29294871794872, 15.144139194139195), rel=1e-14)
    assert uniform.sums == pytest.approx((28.166666666666668, 28.833333333333332), rel=1e-14)
    assert exclude.sums == pytest.approx((26.333333333333332, 25.5), rel=1e-14)
