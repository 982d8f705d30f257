"""A taxonomy is a tree over all leaves, and a profile is read as what it is; both say what would fit."""

import numpy as np
import pytest

from pratique_privacy.generalisation.curve import MOST_CELLS, Point, Question, curve
from pratique_privacy.generalisation.profile import profile_of
from pratique_privacy.generalisation.taxonomy import taxonomy_of
from pratique_shared.contracts.problems import Unprocessable

Levels = list[list[list[int]]]


@pytest.mark.parametrize(
    ("levels", "code", "where"),
    [
        ([], "taxonomy-size", "/taxonomy"),
        ([[[0, 1, 2]]] * 9, "taxonomy-size", "/taxonomy"),
        ([[[0, 1]]], "taxonomy-no-partition", "/taxonomy/0"),
        ([[[0, 1], [1, 2]]], "taxonomy-no-partition", "/taxonomy/0"),
        ([[[0, 1, 2]], [[0, 1, 2], []]], "taxonomy-no-partition", "/taxonomy/1"),
        ([[[0, 1, 3], [2]]], "taxonomy-no-partition", "/taxonomy/0"),
        ([[[0, 1, -1], [2]]], "taxonomy-no-partition", "/taxonomy/0"),
        ([[[0, 1, 2**64], [2]]], "taxonomy-no-partition", "/taxonomy/0"),
        ([[[0, 1], [2]], [[0], [1, 2]]], "taxonomy-no-tree", "/taxonomy/1"),
    ],
)
def test_what_is_no_tree_is_refused_at_its_level(levels: Levels, code: str, where: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        taxonomy_of(levels, 3)
    assert (refused.value.code, refused.value.errors[0].pointer) == (code, where)


def test_leaves_may_stand_in_any_order() -> None:
    taxonomy = taxonomy_of([[[3, 0], [2], [1]], [[1, 0, 3], [2]]], 4)
    values = np.array([1.0, 10, 100, 1000])[taxonomy.order]
    sums = {level: sorted(taxonomy.sums(values, level).tolist()) for level in (0, 1)}
    assert sums == {0: [10, 100, 1001], 1: [100, 1011]}
    assert sorted(taxonomy.levels[1].sizes.tolist()) == [1, 3]


def test_integers_are_counts_and_anything_else_is_shares() -> None:
    counts = profile_of([1, 0, 3], "/p")
    assert counts.shares.tolist() == [0.25, 0, 0.75]
    assert counts.counts is not None
    shares = profile_of([0.25, 0, 0.75 + 5e-10], "/p")
    assert shares.counts is None
    assert float(shares.shares.sum()) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([0.5, 0.5 + 2e-9], "profile-sum"),
        ([1.0, 3], "profile-sum"),
        ([-1, 3], "profile-negative"),
        ([0, 0], "profile-empty"),
        ([2**53, 2], "profile-too-large"),
    ],
)
def test_what_is_no_profile_is_refused(values: list[int | float], code: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        profile_of(values, "/profiles/0")
    assert (refused.value.code, refused.value.errors[0].pointer) == (code, "/profiles/0")


def points(**asked: object) -> list[Point]:
    plain: dict[str, object] = {"profiles": [[1, 2, 3, 4]], "levels": [[[0, 1], [2, 3]]], "gammas": [0.1]}
    return curve(Question(**{**plain, **asked}))  # type: ignore[arg-type]


def test_a_curve_stands_in_the_order_profile_gamma() -> None:
    found = points(profiles=[[1, 2, 3, 4], [4, 4, 1, 1]], gammas=[0.2, 0])
    assert [(point.profile, point.gamma) for point in found] == [(0, 0.2), (0, 0), (1, 0.2), (1, 0)]
    # {1, 2} and {3, 4}: half of each difference is cut, 1/20 of all in each family.
    assert found[0].gamma_crit == pytest.approx(0.2)
    assert found[0].apparent == pytest.approx([0.15, 0.15, 0.35, 0.35])
    assert found[1].published is not None
    assert found[1].published.leaves.tolist() == [1, 2, 3, 4]
    assert found[2].published is not None
    assert found[2].published.groups in ([[1], [1]], ([2, 0],), ([1, 1],), ([0, 2],))


def test_comparators_stand_beside_at_the_same_rate() -> None:
    (point,) = points(compare=["forgery", "suppression"])
    assert set(point.comparisons) == {"forgery", "suppression"}
    # 1 - 1/(4 x .4); 1 - 4 x .1
    assert point.comparisons["forgery"].critical == pytest.approx(0.375)
    assert point.comparisons["suppression"].critical == pytest.approx(0.6)


def test_costs_move_the_limit_and_take_the_closed_form_away() -> None:
    (point,) = points(costs=[[1], [1], [2], [2]], gammas=[1.7])
    assert point.gamma_crit_bound is None
    # All of {1, 2} at 1 and of {3, 4} at 2: .3 + 1.4
    with pytest.raises(Unprocessable) as refused:
        points(costs=[[1], [1], [2], [2]], gammas=[0, 1.71])
    assert (refused.value.code, refused.value.errors[0].pointer) == ("gamma-infeasible", "/gamma/1")
    assert refused.value.errors[0].detail == "give 0 to 1.7"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"profiles": [[1, 2, 3, 4], [1, 2]]}, "profile-length"),
        ({"costs": [[1], [1]]}, "costs-shape"),
        ({"costs": [[1], [1], [1], [-1]]}, "costs-negative"),
        ({"target": [1, 1, 1, 0]}, "target-zero"),
        ({"gammas": [-0.1]}, "gamma-infeasible"),
        ({"gammas": [0.1] * (MOST_CELLS // 4 + 1)}, "profiles-too-large"),
        ({"profiles": [[1] * 9000], "levels": [[list(range(9000))]] * 5}, "profiles-too-large"),
        ({"profiles": [[1, 2, 3, 4]] * 301, "costs": [[1]] * 4}, "too-many-profiles"),
    ],
)
def test_what_cannot_be_answered_is_refused(asked: dict[str, object], code: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        points(**asked)
    assert refused.value.code == code
    assert refused.value.errors
