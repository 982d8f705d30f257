"""Rank tables: features as dense ranks and labels as codes, which is all that a utility study is told."""

from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_shared.contracts.utility import EDGE_LABELS

Ranks: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RankTable:
    """Features of shape (rows, features) and labels of shape (rows,); `support` is the number of rows of each label.

    Codes of labels are in the order of their names, so that a tie by code is a tie by name.
    """

    features: Ranks
    labels: Ranks
    support: npt.NDArray[np.int64]

    @classmethod
    def of(cls, codes: Ranks) -> Self:
        """Take a table whose last column holds the labels.

        Raises ValueError for labels that are not exactly 0..m-1 with m >= 2, or without a feature.
        """
        if codes.ndim != 2 or codes.shape[1] < 2 or not codes.shape[0]:
            raise ValueError("a table of ranks has rows, features and a label")
        labels = codes[:, -1]
        if labels.min() < 0 or labels.max() >= labels.size or not labels.max():
            raise ValueError("there are at least two labels, coded from 0")
        support = np.bincount(labels).astype(np.int64)
        if not support.all() or support.max() < 2:
            raise ValueError("the codes of the labels are dense, and some label has two rows")
        return cls(codes[:, :-1], labels, support)

    def rarest(self, count: int) -> Rows:
        """Return the `count` rarest labels, ties by code; one record alone cannot be learnt and tested, and is none."""
        ranked = np.lexsort((np.arange(self.support.size), self.support))
        return ranked[self.support[ranked] > 1][:count]

    @property
    def edge(self) -> Rows:
        """The two rarest labels, whose recall is reported beside the averages (Kekatos et al. 2026, Table V)."""
        return self.rarest(EDGE_LABELS)
