"""One unit of a utility study: split, suppression, scores, worked by hand; the learner is a toy."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_attack_sim.utility.scores import score_predictions
from pratique_attack_sim.utility.split import stratified_split
from pratique_attack_sim.utility.study import Predict, score_unit
from pratique_attack_sim.utility.suppression import survivors
from pratique_attack_sim.utility.table import RankTable
from pratique_shared.contracts.utility import UtilityTask, UtilityUnit

Ranks = npt.NDArray[np.int32]


def ranks(values: object) -> Ranks:
    return np.array(values, dtype=np.int32)


def chance(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# Three labels of 20, 10 and 6 rows: 0.3 of them are 6, 3 and 1.8, and 0.3 of 36 is 11 rounded.
LABELS = ranks([0] * 20 + [1] * 10 + [2] * 6)


def test_a_split_gives_every_label_its_share_of_the_test_part() -> None:
    split = stratified_split(LABELS, 0.3, chance())
    assert np.bincount(LABELS[split.test]).tolist() == [6, 3, 2]
    assert np.bincount(LABELS[split.training]).tolist() == [14, 7, 4]
    assert sorted([*split.training, *split.test]) == list(range(36))


def test_a_split_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    first, again, other = (stratified_split(LABELS, 0.3, chance(seed)).test.tolist() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_every_row_of_a_label_may_come_into_the_test_part() -> None:
    drawn = np.concatenate([stratified_split(LABELS, 0.3, chance(seed)).test for seed in range(60)])
    assert np.unique(drawn).size == 36


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.floats(0.01, 0.99), st.integers(0, 99))
def test_a_label_of_two_rows_is_in_both_parts_and_a_single_row_is_for_training(
    support: list[int], share: float, seed: int
) -> None:
    labels = ranks(np.repeat(np.arange(len(support)), support))
    split = stratified_split(labels, share, chance(seed))
    tested = np.bincount(labels[split.test], minlength=len(support)).tolist()
    assert all(0 < there < rows if rows > 1 else there == 0 for rows, there in zip(support, tested, strict=True))
    assert split.training.size + split.test.size == labels.size


# Features (0, 0) in five rows, (0, 1) in two, (1, 0) in one; label 2 is the rarest with two rows, then 0
# and 1 with three each.
TABLE = RankTable.of(ranks([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 1], [0, 1, 1], [1, 0, 2]]))
ALL = np.arange(8)


@pytest.mark.parametrize(
    ("tau", "exempt", "kept"),
    [
        (1, 0, [0, 1, 2, 3, 4, 5, 6, 7]),
        (2, 0, [0, 1, 2, 3, 4, 5, 6]),
        (3, 0, [0, 1, 2, 3, 4]),
        (6, 0, []),
        (6, 1, [4, 7]),
        (6, 2, [0, 1, 2, 4, 7]),
        (3, 1, [0, 1, 2, 3, 4, 7]),
    ],
)
def test_rows_in_small_classes_leave_unless_their_label_is_exempt(tau: int, exempt: int, kept: list[int]) -> None:
    assert survivors(TABLE, ALL, tau, exempt).tolist() == kept


def test_support_is_counted_inside_the_training_part_only() -> None:
    # Of the class (0, 1) only row 5 is in training: alone there, though its class has two rows in the table.
    assert survivors(TABLE, np.array([0, 1, 2, 5]), 2, 0).tolist() == [0, 1, 2]


def test_the_rarest_labels_are_those_of_fewest_rows_with_ties_by_code_and_two_rows_at_least() -> None:
    table = RankTable.of(ranks([[0, label] for label in [0, 0, 0, 1, 1, 2, 2, 3]]))
    assert table.rarest(2).tolist() == [1, 2]
    assert table.rarest(9).tolist() == [1, 2, 0]
    assert TABLE.edge.tolist() == [2, 0]  # 0 and 1 have three rows each


@pytest.mark.parametrize(
    "codes",
    [
        [[0, 0], [0, 0]],
        [[0, 0], [0, 2]],
        [[0, -1], [0, 1]],
        [[0, 0], [0, 1]],
        [[0], [1]],
        np.zeros((0, 2)),
    ],
    ids=["one label", "a gap", "negative", "one row each", "no feature", "no row"],
)
def test_a_table_that_cannot_be_learnt_from_is_refused(codes: object) -> None:
    with pytest.raises(ValueError, match="label"):
        RankTable.of(ranks(codes))


def test_scores_are_those_of_a_confusion_counted_by_hand() -> None:
    truth, predicted = ranks([0, 0, 0, 0, 1, 1, 2, 2]), ranks([0, 0, 0, 1, 1, 2, 0, 0])
    scores = score_predictions(truth, predicted, np.array([2, 1]))
    # Right: 3, 1, 0. F1: 2*3/(4+5) = 2/3, 2*1/(2+2) = 1/2, 0. Recall of 2 and 1: 0 and 1/2.
    assert scores.macro_f1 == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert scores.accuracy == 0.5
    assert scores.edge_recall == 0.25


def test_a_label_that_the_test_part_lacks_counts_for_nothing() -> None:
    scores = score_predictions(ranks([0, 0]), ranks([0, 2]), np.array([1, 0]))
    # F1 of label 0 is 2/(2+1); recall on the rarest is that of label 0 alone.
    assert (scores.macro_f1, scores.edge_recall) == pytest.approx((2 / 3, 0.5))


def by_first_feature(features: Ranks, labels: Ranks, trees: int, seed: int) -> Predict:
    """A learner that remembers the smallest label seen with each value of the first feature, and guesses 0 else."""
    known = {int(f): int(label) for f, label in sorted(zip(features[:, 0], labels, strict=True), reverse=True)}
    return lambda others: ranks([known.get(int(f), 0) for f in others[:, 0]])


# The first feature is the label, the second one tells rows apart: labels 0 and 1 in classes of ten, 2 and 3 alone.
TOLD = RankTable.of(
    ranks(
        [[label, 0, label] for label in (0, 1) for _ in range(10)]
        + [[label, n, label] for label in (2, 3) for n in range(10)]
    )
)
TASK = UtilityTask(repeats=3)


def test_a_learner_that_is_always_right_has_an_f1_of_one() -> None:
    scored = score_unit(TOLD, TASK, UtilityUnit(repeat=0, tau=1), by_first_feature)
    assert (scored.training, scored.trained, scored.test) == (28, 28, 12)
    assert (scored.macro_f1, scored.accuracy, scored.edge_recall) == (1.0, 1.0, 1.0)


def test_suppression_takes_the_labels_in_small_classes_and_the_test_part_keeps_them() -> None:
    scored = score_unit(TOLD, TASK, UtilityUnit(repeat=0, tau=2), by_first_feature)
    # Labels 2 and 3 stand alone: their 14 training rows leave, their 6 test rows are all taken for label 0.
    assert (scored.trained, scored.test) == (14, 12)
    assert scored.accuracy == 0.5
    assert scored.macro_f1 == pytest.approx((2 * 3 / (3 + 9) + 1 + 0 + 0) / 4)


def test_the_label_aware_exemption_keeps_the_rarest_and_their_recall() -> None:
    # One row less of labels 2 and 3: they are the rarest now, nine rows each.
    fewer = RankTable.of(np.delete(np.column_stack([TOLD.features, TOLD.labels]), [29, 39], axis=0))
    assert fewer.edge.tolist() == [2, 3]
    lost = score_unit(fewer, TASK, UtilityUnit(repeat=0, tau=2), by_first_feature)
    kept = score_unit(fewer, TASK, UtilityUnit(repeat=0, tau=2, exempt_rarest=2), by_first_feature)
    assert (lost.edge_recall, kept.edge_recall, kept.macro_f1) == (0.0, 1.0, 1.0)
    assert kept.trained == kept.training > lost.trained


def test_from_nothing_nothing_is_learnt() -> None:
    def never(features: Ranks, labels: Ranks, trees: int, seed: int) -> Predict:
        raise AssertionError

    scored = score_unit(TOLD, TASK, UtilityUnit(repeat=0, tau=99), never)
    assert (scored.trained, scored.macro_f1, scored.accuracy, scored.edge_recall) == (0, 0.0, 0.0, 0.0)


def test_thresholds_of_a_repeat_share_split_and_forest_and_repeats_do_not() -> None:
    given: list[tuple[bytes, int]] = []

    def watch(features: Ranks, labels: Ranks, trees: int, seed: int) -> Predict:
        given.append((features.tobytes(), seed))
        return by_first_feature(features, labels, trees, seed)

    together = RankTable.of(ranks([[n % 2, n // 8, n % 2] for n in range(80)]))  # no class is below three
    for repeat, tau in ((0, 1), (0, 2), (1, 1)):
        score_unit(together, TASK, UtilityUnit(repeat=repeat, tau=tau), watch)
    assert given[0] == given[1]
    assert given[0][1] != given[2][1]
    assert given[0][0] != given[2][0]
