"""The random forest in the attack worker's child, held against scikit-learn's own scores."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pratique_attack_sim.jobs import CHILD
from pratique_attack_sim.shard_child import score_in_child
from pratique_attack_sim.utility.scores import score_predictions
from pratique_privacy.utility.study import combine_units, units_of
from pratique_shared.contracts.utility import UtilityScored, UtilityTask, UtilityUnit
from pratique_shared.runtime.children import Body, Child, these

TASK = UtilityTask(taus=(1, 2), repeats=2, trees=8, exempt_rarest=2)


def table() -> np.ndarray[Any, np.dtype[np.int32]]:
    """Sixty rows of which the first feature tells the label nine times in ten."""
    own = np.random.default_rng(6)
    labels = np.repeat([0, 1, 2], [30, 20, 10])
    told = np.where(own.random(60) < 0.9, labels, own.integers(0, 3, 60))
    return np.column_stack([told, own.integers(0, 4, 60), labels]).astype("<i4")


class Called:
    """A call that came with the table in two pieces."""

    def __init__(self, units: list[UtilityUnit]) -> None:
        rows = [unit.model_dump() for unit in units]
        self.body: Body = {"op": "utility", "task": TASK.model_dump(), "units": rows, "rows": 60, "columns": 3}
        self.told: list[Body] = []

    def blobs(self) -> Iterator[bytes]:
        data = table().tobytes()
        yield from (data[:100], data[100:])

    def progress(self, body: Body) -> None:
        self.told.append(body)


def scored(units: list[UtilityUnit]) -> list[UtilityScored]:
    return [UtilityScored.model_validate(score) for score in score_in_child(Called(units)).body["scores"]]


def test_the_same_units_give_the_same_scores_however_the_work_is_cut() -> None:
    units = list(units_of(TASK))
    together = scored(units)
    apart = [score for unit in reversed(units) for score in scored([unit])]
    assert combine_units(TASK, together) == combine_units(TASK, apart)
    assert [score.unit for score in together] == units


def test_a_forest_learns_what_the_features_tell() -> None:
    first = scored([UtilityUnit(repeat=0, tau=1)])[0]
    assert (first.training, first.trained, first.test) == (42, 42, 18)
    assert 0.7 < first.accuracy <= 1.0


async def test_a_real_child_answers_as_this_process_does_and_tells_how_far_it_is() -> None:
    units = [UtilityUnit(repeat=1, tau=2)]
    child = Child("pratique_attack_sim.shard_child:score_in_child", CHILD)
    told: list[Body] = []
    try:
        reply = await child.call(Called(units).body, these(table().tobytes()), told.append)
    finally:
        child.kill()
    assert [UtilityScored.model_validate(score) for score in reply.body["scores"]] == scored(units)
    assert told == [{"done": 1, "total": 1}]


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_scikit_learn(seed: int) -> None:
    from sklearn import metrics  # type: ignore[import-untyped]  # noqa: PLC0415 - seconds to load

    own = np.random.default_rng(seed)
    truth = own.integers(0, 4, 50).astype(np.int32)
    predicted = np.where(own.random(50) < 0.5, truth, own.integers(0, 5, 50)).astype(np.int32)
    found = score_predictions(truth, predicted, np.array([3, 1]))
    kept = {"labels": np.unique(truth), "zero_division": 0}
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="macro", **kept))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found.edge_recall == pytest.approx(metrics.recall_score(truth, predicted, labels=[1, 3], average="macro"))
