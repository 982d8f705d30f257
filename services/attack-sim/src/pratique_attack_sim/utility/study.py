"""One unit of a utility study: split, suppress, learn, score."""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from pratique_attack_sim.utility.scores import NOTHING_LEARNT, score_predictions
from pratique_attack_sim.utility.split import stratified_split
from pratique_attack_sim.utility.suppression import survivors
from pratique_attack_sim.utility.table import Ranks, RankTable
from pratique_shared.contracts.utility import UtilityScored, UtilityTask, UtilityUnit

STREAM: Final = 3  # beside those of the adversaries, 1 and 2

# From training features, their labels, trees and a seed to the labels of other features.
Predict: TypeAlias = Callable[[Ranks], Ranks]
Learn: TypeAlias = Callable[[Ranks, Ranks, int, int], Predict]


def score_unit(table: RankTable, task: UtilityTask, unit: UtilityUnit, learn: Learn) -> UtilityScored:
    """Run one unit (Kekatos et al. 2026, §V-G): train on what survives, score on the untouched test part.

    Split and forest depend on (seed, repeat) alone: all thresholds of a repeat are compared on the same split, and
    the outcome is the same on any number of workers.
    """
    drawn = np.random.SeedSequence(task.seed, spawn_key=(STREAM, unit.repeat))
    split = stratified_split(table.labels, task.test_share, np.random.Generator(np.random.PCG64(drawn)))
    forest_seed = int(drawn.spawn(1)[0].generate_state(1)[0])
    kept = survivors(table, split.training, unit.tau, unit.exempt_rarest)
    scores = NOTHING_LEARNT
    if kept.size:
        predict = learn(table.features[kept], table.labels[kept], task.trees, forest_seed)
        scores = score_predictions(table.labels[split.test], predict(table.features[split.test]), table.edge)
    return UtilityScored(
        unit=unit,
        training=split.training.size,
        trained=kept.size,
        test=split.test.size,
        macro_f1=scores.macro_f1,
        accuracy=scores.accuracy,
        edge_recall=scores.edge_recall,
    )
