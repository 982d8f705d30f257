"""A utility study cut into units and put together again."""

import math
from collections.abc import Iterator

import pytest

from pratique_privacy.utility.study import combine_units, resampled_interval
from pratique_shared.contracts.utility import UtilityScored, UtilityTask, UtilityUnit, units_of

TASK = UtilityTask(taus=(2, 8), repeats=2)


def scores(task: UtilityTask, f1: dict[tuple[int, int], float]) -> Iterator[UtilityScored]:
    """Scores of splits of 70 and 30 rows; a unit that no figure is given for learnt from nothing."""
    for unit in units_of(task):
        found = f1.get((unit.repeat, unit.tau), 0.0)
        trained = 70 // unit.tau if found else 0
        yield UtilityScored(
            unit=unit, training=70, trained=trained, test=30, macro_f1=found, accuracy=found, edge_recall=found
        )


def test_a_study_is_cut_into_splits_and_thresholds_with_the_baseline_among_them() -> None:
    found = [(unit.repeat, unit.tau, unit.exempt_rarest) for unit in units_of(TASK)]
    assert found == [(repeat, tau, 0) for repeat in (0, 1) for tau in (1, 2, 8)]


def test_the_exemption_is_a_unit_more_for_every_threshold_that_suppresses() -> None:
    units = units_of(UtilityTask(taus=(1, 8), repeats=1, exempt_rarest=2))
    assert [(unit.tau, unit.exempt_rarest) for unit in units] == [(1, 0), (8, 0), (8, 2)]


def test_a_row_has_the_means_over_the_splits_and_what_is_retained_of_f1_in_each() -> None:
    found = combine_units(TASK, scores(TASK, {(0, 1): 0.8, (1, 1): 0.5, (0, 2): 0.4, (1, 2): 0.5}))
    two, eight = found
    assert (two.tau, two.repeats, two.untrained) == (2, 2, 0)
    assert (two.survival, two.macro_f1) == pytest.approx((0.5, 0.45))
    assert two.f1_retained == pytest.approx((0.4 / 0.8 + 0.5 / 0.5) / 2)
    assert (eight.untrained, eight.survival, eight.macro_f1, eight.f1_retained) == (2, 0.0, 0.0, 0.0)


def test_one_split_has_no_interval_and_a_baseline_of_nothing_retains_nothing_to_speak_of() -> None:
    single = UtilityTask(taus=(1, 2), repeats=1)
    one, two = combine_units(single, scores(single, {(0, 1): 0.69, (0, 2): 0.36}))
    assert one.f1_retained == 1.0
    assert two.f1_retained == pytest.approx(0.36 / 0.69)
    assert two.ci95.macro_f1 is None
    hopeless = combine_units(single, scores(single, {}))
    assert [row.f1_retained for row in hopeless] == [None, None]


def test_the_interval_allows_for_splits_that_share_their_records() -> None:
    # Mean .5, variance .02; (1/2 + 3/7) of it is .0186, its root .1363; Student's t for one degree is 12.706.
    low, high = resampled_interval([0.4, 0.6], 3 / 7) or (math.nan, math.nan)
    assert high == pytest.approx(0.5 + 12.7062 * math.sqrt((1 / 2 + 3 / 7) * 0.02))
    assert low == 0.0
    assert resampled_interval([0.5] * 5, 3 / 7) == (0.5, 0.5)
    assert resampled_interval([0.5], 3 / 7) is None


def test_shares_end_at_one() -> None:
    task = UtilityTask(taus=(1,), repeats=2)
    (row,) = combine_units(task, scores(task, {(0, 1): 1.0, (1, 1): 0.8}))
    assert row.ci95.macro_f1 is not None
    assert row.ci95.macro_f1[1] == 1.0


@pytest.mark.parametrize("spoil", ["missing", "doubled", "foreign"])
def test_scores_of_another_study_are_refused(spoil: str) -> None:
    found = list(scores(TASK, {}))
    match spoil:
        case "missing":
            found.pop()
        case "doubled":
            found.append(found[0])
        case _:
            found[0] = found[0].model_copy(update={"unit": UtilityUnit(repeat=9, tau=1)})
    with pytest.raises(ValueError, match="not those of the units"):
        combine_units(TASK, found)
