"""Exact expectations against the definitions, summed literally in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_attack_sim.adversaries.exact import exact_qi
from pratique_attack_sim.adversaries.known import exact_linkage_of, exact_partial_qi_of, exact_qi_of
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_shared.frames.linkage import WrongValue
from tests.support import adversary_oracle as oracle
from tests.support.matrices import Codes, code_matrices, dense, releases_and_beliefs, skewed

EMPTY = np.zeros((0, 2), dtype=np.int32)
ORAN = dense([(0, 0, 0)] * 6 + [(1, 0, 0)] * 3 + [(0, 1, 1)] * 3, 3)


@given(code_matrices(max_rows=30, max_width=5))
@settings(deadline=None, max_examples=50)
def test_exposure_counts_the_distinct_projections_of_every_subset(codes: Codes) -> None:
    release = oracle.table(codes)
    subsets = oracle.all_subsets(codes.shape[1])
    assert exposure(codes) == {subset: oracle.distinct(release, subset) for subset in subsets}


@given(code_matrices(), st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)]))
@settings(deadline=None, max_examples=50)
def test_partial_qi_is_the_mean_over_targets_and_patterns_of_forgetting(codes: Codes, forget: Fraction) -> None:
    release = oracle.table(codes)
    expected = float(oracle.expected_partial(release, release, forget))
    assert exact_partial_qi(exposure(codes), len(codes), forget=float(forget)) == pytest.approx(expected, abs=1e-12)


@given(
    code_matrices(max_rows=8, max_width=3),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(4, 5), Fraction(1)]),
    st.booleans(),
)
@settings(deadline=None, max_examples=50)
def test_linkage_is_the_mean_over_targets_and_all_that_could_be_seen(
    codes: Codes, accuracy: Fraction, exclude: bool
) -> None:
    release = oracle.table(codes)
    expected = float(oracle.expected_linkage(release, release, accuracy, exclude=exclude))
    wrong_value: WrongValue = "exclude" if exclude else "uniform"
    found = exact_linkage(codes, accuracy=float(accuracy), wrong_value=wrong_value)
    assert found == pytest.approx(expected, abs=1e-12)


@given(releases_and_beliefs(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_beliefs_that_are_not_the_release_earn_what_the_definition_gives(
    pair: tuple[Codes, Codes], exclude: bool
) -> None:
    codes, known = pair
    release, believed = oracle.table(codes), oracle.table(known)
    wrong_value: WrongValue = "exclude" if exclude else "uniform"
    linkage = float(oracle.expected_linkage(release, believed, Fraction(4, 5), exclude=exclude))
    assert exact_linkage_of(codes, known, accuracy=0.8, wrong_value=wrong_value) == pytest.approx(linkage, abs=1e-12)
    partial = float(oracle.expected_partial(release, believed, Fraction(1, 4)))
    assert exact_partial_qi_of(codes, known, forget=0.25) == pytest.approx(partial, abs=1e-12)
    everything = float(oracle.expected_partial(release, believed, Fraction(0)))
    assert exact_qi_of(codes, known) == pytest.approx(everything, abs=1e-12)


def test_the_oran_scenario_has_the_published_figures() -> None:
    # Three classes among twelve sessions; D over (), 3 single columns, 3 pairs, all = 1, 2+2+2, 3+3+2, 3.
    exposed = exposure(ORAN)
    assert exact_qi(exposed, 12) == 3 / 12
    assert exact_partial_qi(exposed, 12, forget=0.5) == pytest.approx((1 + 6 + 8 + 3) / 8 / 12)  # 3/16
    assert exact_linkage(ORAN, accuracy=0.8, wrong_value="uniform") == pytest.approx(27 / 125)


@pytest.mark.parametrize(("rows", "classes"), [(1, 1), (7, 3), (60, 14), (500, 500)])
def test_one_uniform_quasi_identifier_has_the_closed_forms(rows: int, classes: int) -> None:
    codes = dense([(row % classes,) for row in range(rows)], 1)
    exposed = exposure(codes)
    assert exact_qi(exposed, rows) == classes / rows
    assert exact_partial_qi(exposed, rows, forget=0.5) == pytest.approx((classes / rows + 1 / rows) / 2, abs=1e-12)
    linkage = exact_linkage(codes, accuracy=0.8, wrong_value="uniform")
    assert linkage == pytest.approx((0.8 * classes + 0.2) / rows, abs=1e-12)


def test_the_order_of_the_rows_changes_no_exact_value() -> None:
    codes = skewed(400, (30, 8, 6, 3), seed=3)
    shuffled = codes[np.random.default_rng(1).permutation(len(codes))]
    assert exposure(shuffled) == exposure(codes)
    for wrong_value in ("uniform", "exclude"):
        first = exact_linkage(codes, accuracy=0.8, wrong_value=wrong_value)
        assert exact_linkage(shuffled, accuracy=0.8, wrong_value=wrong_value) == first


def test_new_codes_for_the_same_values_change_no_exposure() -> None:
    codes = skewed(300, (40, 7, 5), seed=5)
    renamed = np.stack([np.random.default_rng(a).permutation(40)[column] for a, column in enumerate(codes.T)], axis=1)
    assert exposure(dense(renamed.tolist(), 3)) == exposure(codes)


def test_a_known_table_equal_to_the_release_is_the_plain_adversary() -> None:
    codes = skewed(40, (9, 4, 3), seed=2)
    plain = exact_linkage(codes, accuracy=0.8, wrong_value="uniform")
    assert exact_linkage_of(codes, codes, accuracy=0.8, wrong_value="uniform") == pytest.approx(plain, abs=1e-12)
    assert exact_qi_of(codes, codes) == pytest.approx(exact_qi(exposure(codes), 40), abs=1e-12)


def test_an_empty_release_has_no_figure() -> None:
    assert exact_qi(exposure(EMPTY), 0) is None
    assert exact_partial_qi(exposure(EMPTY), 0, forget=0.5) is None
    assert exact_linkage(EMPTY, accuracy=0.8, wrong_value="uniform") is None
    assert exact_qi_of(EMPTY, EMPTY) is None
    assert exact_linkage_of(EMPTY, EMPTY, accuracy=0.8, wrong_value="uniform") is None


def test_without_quasi_identifiers_every_adversary_guesses() -> None:
    codes = np.zeros((5, 0), dtype=np.int32)
    assert exact_qi(exposure(codes), 5) == 1 / 5
    assert exact_partial_qi(exposure(codes), 5, forget=0.5) == 1 / 5
    assert exact_linkage(codes, accuracy=0.8, wrong_value="uniform") == 1 / 5


def test_linkage_has_an_exact_value_up_to_the_stated_number_of_queries() -> None:
    codes = dense([(row, row % 4) for row in range(20)], 2)  # 20 x 4 queries
    assert exact_linkage(codes, accuracy=0.8, wrong_value="uniform", limit=80) is not None
    assert exact_linkage(codes, accuracy=0.8, wrong_value="uniform", limit=79) is None
    known = skewed(2000, (1500, 40), seed=1)
    assert exact_linkage_of(known, known, accuracy=0.8, wrong_value="uniform") is None


def test_twelve_columns_have_an_exact_value_and_thirteen_are_refused() -> None:
    codes = skewed(50, (2,) * 12, seed=4)
    exposed = exposure(codes)
    assert len(exposed) == 2**12
    assert exposed[tuple(range(12))] == len({tuple(row) for row in codes.tolist()})
    assert exact_linkage(codes, accuracy=1.0, wrong_value="uniform") == pytest.approx(exact_qi(exposed, 50))
    with pytest.raises(ValueError, match="twelve"):
        exposure(np.zeros((3, 13), dtype=np.int32))


@pytest.mark.parametrize("column", [[0, 2, 2], [1, 1, 2], [-1, 0, 1], [0, 0, 9]])
def test_codes_that_are_not_dense_are_refused_because_the_domain_would_be_wrong(column: list[int]) -> None:
    with pytest.raises(ValueError, match="dense"):
        exposure(np.array(column, dtype=np.int32)[:, None])


def test_a_known_table_of_another_shape_or_with_unheard_codes_is_refused() -> None:
    codes = dense([(0,), (1,)], 1)
    with pytest.raises(ValueError, match="row for each target"):
        exact_qi_of(codes, codes[:1])
    with pytest.raises(ValueError, match="outside the domain"):
        exact_qi_of(codes, np.array([[0], [2]], dtype=np.int32))
