"""The random forest in the attack worker's child, held against scikit-learn's own scores."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pratique_attack_sim.jobs import CHILD
from pratique_attack_sim.shard_child import score_in_child
from pratique_attack_sim.utility.scores import score_predictions
from pratique_privacy.utility.study import combine_units
from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.utility import RepeatScored, UtilityPlan, UtilityTask, units_of
from pratique_shared.runtime.child_process import Body
from pratique_shared.runtime.children import Child, these

TASK = UtilityTask(taus=(1, 2), repeats=2, trees=8, exempt_rarest=2)


def table() -> np.ndarray[Any, np.dtype[np.int32]]:
    """Sixty rows of which the first feature tells the label nine times in ten."""
    own = np.random.default_rng(6)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    told = np.where(own.random(60) < 0.9, labels, own.integers(0, 3, 60))
    return np.column_stack([told, own.integers(0, 4, 60), labels]).astype("<i4")


PLAN = UtilityPlan(matrix=Blob(key="blobs/x/ranks", sha256="0" * 64, bytes=720), rows=60, columns=3, task=TASK)


class Called:
    """A call for one split, that came with the table in two pieces."""

    def __init__(self, task: str) -> None:
        self.body: Body = {"op": "utility", "plan": PLAN.model_dump(mode="json"), "task": task}

    def blobs(self) -> Iterator[bytes]:
        data = table().tobytes()
        yield from (data[:100], data[100:])

    def progress(self, body: Body) -> None:
        raise AssertionError(body)


def scored(task: str) -> RepeatScored:
    return RepeatScored.model_validate(score_in_child(Called(task)).body)


def test_a_split_is_scored_under_every_threshold_on_the_table_that_came() -> None:
    found = {task: scored(task) for task in reversed(PLAN.tasks)}
    assert list(found) == ["utility/splits/1-2", "utility/splits/0-1"]
    units = [score.unit for task in PLAN.tasks for score in found[task].scores]
    assert units == list(units_of(TASK))
    assert {split.matrix_sha256 for split in found.values()} == {"0" * 64}
    rows = combine_units(TASK, [score for split in found.values() for score in split.scores])
    assert [(row.tau, row.exempt_rarest) for row in rows] == [(1, 0), (2, 0), (2, 2)]


def test_a_forest_learns_what_the_features_tell() -> None:
    first = scored("utility/splits/0-1").scores[0]
    assert (first.training, first.trained, first.test) == (42, 42, 18)
    assert 0.7 < first.accuracy <= 1.0


async def test_a_real_child_answers_as_this_process_does() -> None:
    task = PLAN.tasks[1]
    child = Child("pratique_attack_sim.shard_child:score_in_child", CHILD)
    try:
        reply = await child.call(Called(task).body, these(table().tobytes()), lambda _: None)
    finally:
        child.kill()
    assert RepeatScored.model_validate(reply.body) == scored(task)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_scikit_learn(seed: int) -> None:
    from sklearn import metrics  # noqa: PLC0415 - seconds to load

    own = np.random.default_rng(seed)
    truth = own.integers(0, 4, 50).astype(np.int32)
    predicted = np.where(own.random(50) < 0.5, truth, own.integers(0, 5, 50)).astype(np.int32)
    found = score_predictions(truth, predicted, np.array([3, 1]))
    kept = {"labels": np.unique(truth), "zero_division": 0}
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="macro", **kept))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found.edge_recall == pytest.approx(metrics.recall_score(truth, predicted, labels=[1, 3], average="macro"))
