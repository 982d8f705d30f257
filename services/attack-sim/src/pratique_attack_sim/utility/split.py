"""Splits: training and test parts in which every label has its share."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.utility.table import Ranks, Rows


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of both parts, each in ascending order."""

    training: Rows
    test: Rows


def stratified_split(labels: Ranks, test_share: float, chance: np.random.Generator) -> Split:
    """Draw the test part label by label (Kekatos et al. 2026, §V-G: "a fixed stratified 70/30 split").

    Each label gives the whole part of its share; what is missing to the rounded share of all rows comes from the
    labels with the largest remainders, ties by code. A label of two or more rows has one at least in either part; a
    single row is for training.
    """
    order = np.lexsort((chance.random(labels.size), labels))
    support = np.bincount(labels)
    starts = np.cumsum(support) - support
    position = np.arange(labels.size) - np.repeat(starts, support)
    in_test = np.zeros(labels.size, np.bool_)
    in_test[order] = position < np.repeat(_quotas(support, test_share), support)
    return Split(np.flatnonzero(~in_test), np.flatnonzero(in_test))


def _quotas(support: npt.NDArray[np.int64], test_share: float) -> npt.NDArray[np.int64]:
    shares = support * test_share
    quotas = np.floor(shares).astype(np.int64)
    missing = round(float(support.sum() * test_share)) - int(quotas.sum())
    by_remainder = np.lexsort((np.arange(support.size), quotas - shares))
    quotas[by_remainder[: max(missing, 0)]] += 1
    clipped: npt.NDArray[np.int64] = np.clip(quotas, np.minimum(1, support - 1), support - 1)
    return clipped
