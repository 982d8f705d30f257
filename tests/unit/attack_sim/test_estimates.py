"""Estimates from shards: numbers worked in sight."""

import math

import pytest

from pratique_attack_sim.adversaries.linkage import simulate_linkage
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_shared.frames import estimates
from pratique_shared.frames.estimates import Estimate, Score, combine, disagrees
from tests.support.matrices import skewed


def test_mean_errors_and_interval_are_those_of_the_textbook() -> None:
    # Four targets. Repetition 0 earns 1, 1, 0, 0; repetition 1 earns 1, 1, 1, 0: means 1/2 and 3/4.
    found = combine([Score(first=0, targets=4, sums=(2.0, 3.0), squares=(2.0, 3.0))])
    assert found is not None
    assert (found.estimate, found.repetitions, found.targets) == (0.625, 2, 4)
    assert found.se == pytest.approx(0.125)  # sd = sqrt(2 * (1/8)^2 / 1) = .17678, over sqrt(2)
    # Squared deviations inside: 2 - 4/4 = 1 and 3 - 9/4 = 3/4; variance (1 + 3/4) / (2 * 3).
    assert found.se_targets == pytest.approx(math.sqrt(1.75 / 6 / 4))
    assert found.ci95 == (0.0, 1.0)  # t = 12.7 for one degree of freedom: cut to [0, 1]


def test_twenty_repetitions_use_students_t() -> None:
    sums = tuple(50.0 + (-1) ** number for number in range(20))  # means .49 and .51, standard deviation .01 sqrt(20/19)
    found = combine([Score(first=0, targets=100, sums=sums, squares=sums)])
    assert found is not None
    assert found.estimate == pytest.approx(0.5)
    assert found.se == pytest.approx(0.01 / math.sqrt(19))
    assert found.ci95 == pytest.approx((0.5 - 2.0930 * 0.01 / math.sqrt(19), 0.5 + 2.0930 * 0.01 / math.sqrt(19)))


@pytest.mark.parametrize(("freedom", "point"), [(1, 12.7062), (19, 2.0930), (30, 2.0423), (40, 2.0211), (199, 1.9720)])
def test_the_points_of_students_t_are_the_tabled_ones(freedom: int, point: float) -> None:
    assert estimates.t95(freedom) == pytest.approx(point, abs=5e-5)


def test_a_single_repetition_has_the_spread_over_its_targets_only() -> None:
    found = combine([Score(first=0, targets=100, sums=(50.0,), squares=(50.0,))])
    assert found is not None
    assert found.se is None
    assert found.se_targets is not None
    assert found.se_targets == pytest.approx(math.sqrt(25 / 99 / 100))
    assert found.ci95 == pytest.approx((0.5 - 1.959964 * found.se_targets, 0.5 + 1.959964 * found.se_targets))


def test_a_single_credit_says_nothing_about_its_spread() -> None:
    found = combine([Score(first=0, targets=1, sums=(1.0,), squares=(1.0,))])
    assert found == Estimate(1.0, None, None, (0.0, 1.0), 1, 1)
    assert not disagrees(found, 0.1)


def test_equal_repetitions_leave_an_interval_of_one_point() -> None:
    found = combine([Score(first=0, targets=10, sums=(1.0, 1.0, 1.0), squares=(0.1, 0.1, 0.1))])
    assert found is not None
    assert (found.estimate, found.se, found.ci95) == (0.1, 0.0, (0.1, 0.1))


def test_an_empty_release_has_no_estimate() -> None:
    assert combine([Score(first=0, targets=0, sums=(0.0, 0.0), squares=(0.0, 0.0))]) is None


@pytest.mark.parametrize(
    "shards",
    [
        [],
        [Score(0, 3, (), ())],
        [Score(0, 3, (1.0,), (1.0,)), Score(2, 3, (1.0,), (1.0,))],
        [Score(0, 3, (1.0, 1.0), (1.0, 1.0)), Score(1, 3, (1.0,), (1.0,))],
        [Score(0, 3, (1.0,), (1.0,)), Score(1, 4, (1.0,), (1.0,))],
    ],
    ids=["none", "hollow", "gap", "overlap", "targets"],
)
def test_shards_that_are_not_one_run_are_refused(shards: list[Score]) -> None:
    with pytest.raises(ValueError, match="repetition"):
        combine(shards)


def test_a_score_needs_a_square_for_each_sum() -> None:
    with pytest.raises(ValueError, match="one sum of squares"):
        Score(first=0, targets=3, sums=(1.0,), squares=())


def test_a_wrong_exact_value_is_called_out_and_chance_is_not() -> None:
    # 2,000 targets x 20: V = 1/4, so 5.4 * .5 / 200 + 34 / 40,000 = .0143 is allowed.
    found = combine([Score(first=0, targets=2000, sums=(1000.0,) * 20, squares=(1000.0,) * 20)])
    assert found is not None
    assert not disagrees(found, 0.514)
    assert disagrees(found, 0.515)
    assert disagrees(found, 0.485)
    assert not disagrees(found, None)


def test_two_lucky_targets_are_no_disagreement() -> None:
    found = combine([Score(first=0, targets=2, sums=(2.0, 2.0), squares=(2.0, 2.0))])
    assert found is not None
    assert found.ci95 == (1.0, 1.0)
    assert not disagrees(found, 0.5)


def test_the_interval_holds_the_exact_expectation_in_about_95_of_100_runs() -> None:
    codes = skewed(40, (12, 4, 3), seed=1)
    exact = exact_linkage(codes, accuracy=0.8, wrong_value="uniform")
    assert exact is not None
    inside = 0
    for seed in range(200):
        score = simulate_linkage(codes, accuracy=0.8, wrong_value="uniform", seed=seed, first=0, last=20)
        found = combine([score])
        assert found is not None
        assert found.ci95[0] <= found.estimate <= found.ci95[1]
        inside += found.ci95[0] <= exact <= found.ci95[1]
    assert 180 <= inside <= 198  # 190 expected, standard deviation 3.1
