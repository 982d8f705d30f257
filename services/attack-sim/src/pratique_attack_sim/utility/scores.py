"""Scores of predictions: what a reader of averages sees, and what happens to the rarest labels."""

import math
from dataclasses import dataclass

import numpy as np

from pratique_attack_sim.utility.table import Ranks, Rows


@dataclass(frozen=True)
class PredictionScores:
    """Macro-F1 over the labels of the test part, accuracy, and mean recall over the rarest labels."""

    macro_f1: float
    accuracy: float
    edge_recall: float


NOTHING_LEARNT = PredictionScores(0.0, 0.0, 0.0)


def score_predictions(truth: Ranks, predicted: Ranks, edge: Rows) -> PredictionScores:
    """Score predictions of labels; a label that the test part lacks counts for none of the three.

    F1 of a label is 2 right / (true + predicted), and 0 when it is never predicted (van Rijsbergen 1979, ch. 7).
    """
    width = int(max(truth.max(), predicted.max(), edge.max(initial=0))) + 1
    true = np.bincount(truth, minlength=width)
    guessed = np.bincount(predicted, minlength=width)
    right = np.bincount(truth[truth == predicted], minlength=width)
    there = np.flatnonzero(true)
    f1 = 2 * right[there] / (true[there] + guessed[there])
    rare = edge[true[edge] > 0]
    recall = right[rare] / true[rare]
    return PredictionScores(
        macro_f1=math.fsum(f1.tolist()) / f1.size,
        accuracy=int(right.sum()) / truth.size,
        edge_recall=math.fsum(recall.tolist()) / recall.size,
    )
