"""The lattice: every choice of one level a column, what each costs, and which is coarser than which."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_privacy.recommendation.ladder import Ladder
from pratique_shared.frames.partition import class_labels

Node: TypeAlias = tuple[int, ...]  # the level of each column
Nodes: TypeAlias = npt.NDArray[np.int16]
Costs: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.int64]

MOST_NODES = 200_000


@dataclass(frozen=True)
class LevelCosts:
    """What a level costs a row, by the code of its value there.

    `granularity` is (m - 1) / (M - 1) where the value stands for m of the column's M values (Iyengar 2002). `entropy`
    is the sum of ln(rows with the value / rows with the original) over the rows with the value: the information lost
    about which original it was (Gionis and Tassa 2009). `logarithm` is that of the rows with the value.
    """

    granularity: Costs
    entropy: Costs
    logarithm: Costs = field(repr=False)


@dataclass(frozen=True)
class Lattice:
    """The ladders of all columns over the rows of one table, rows that no level tells apart taken together.

    `first` is a row of each unit, `weights` the rows of each. `labels` are categories which units keep apart too.
    """

    ladders: tuple[Ladder, ...]
    first: npt.NDArray[np.intp] = field(repr=False)
    weights: Weights = field(repr=False)

    @classmethod
    def over(cls, ladders: Sequence[Ladder], labels: Sequence[npt.NDArray[np.int64]]) -> "Lattice":
        """Take rows together that agree on all untouched columns and on all `labels`."""
        columns = [ladder.levels[0].codes for ladder in ladders] + [codes.astype(np.int32) for codes in labels]
        units = class_labels(np.column_stack(columns))
        weights = np.bincount(units).astype(np.int64)
        first = np.zeros(weights.size, np.intp)
        first[units] = np.arange(units.size)
        return cls(tuple(ladders), first, weights)

    @cached_property
    def rows(self) -> int:
        """The rows of the table."""
        return int(self.weights.sum())

    @property
    def size(self) -> int:
        """The number of nodes."""
        return prod(len(ladder.levels) for ladder in self.ladders)

    @cached_property
    def codes(self) -> tuple[tuple[npt.NDArray[np.int32], ...], ...]:
        """The code of every unit, by column and level."""
        return tuple(tuple(level.codes[self.first] for level in ladder.levels) for ladder in self.ladders)

    @cached_property
    def costs(self) -> tuple[tuple[LevelCosts, ...], ...]:
        """What every level costs, by column and level."""
        return tuple(
            tuple(self._costs(column, level) for level in range(len(ladder.levels)))
            for column, ladder in enumerate(self.ladders)
        )

    @cached_property
    def originals(self) -> tuple[Costs, ...]:
        """For each column the rows that have each untouched value."""
        return tuple(
            np.bincount(self.codes[column][0], self.weights, ladder.levels[0].domain).astype(np.float64)
            for column, ladder in enumerate(self.ladders)
        )

    @cached_property
    def weighted_originals(self) -> Costs:
        """For each unit its rows times ln(rows with the original), added over columns."""
        untouched = zip(self.originals, self.codes, strict=True)
        total: Costs = self.weights * np.sum([np.log(counts)[codes[0]] for counts, codes in untouched], axis=0)
        return total

    def _costs(self, column: int, level: int) -> LevelCosts:
        ladder = self.ladders[column]
        there = ladder.levels[level]
        image = np.zeros(ladder.levels[0].domain, np.int64)
        image[ladder.levels[0].codes] = there.codes
        members = np.bincount(image, minlength=there.domain)
        spread = ladder.levels[0].domain - 1
        granularity = (members - 1) / spread if spread else np.zeros(there.domain)
        counts = self.originals[column]
        together = np.bincount(image, counts, there.domain)
        inside = np.bincount(image, counts * np.log(counts), there.domain)
        logarithm = np.log(together)
        return LevelCosts(granularity, np.maximum(together * logarithm - inside, 0.0), logarithm)

    @cached_property
    def nodes(self) -> Nodes:
        """All nodes, those of least entropy loss first; ties by level."""
        grid = np.indices([len(ladder.levels) for ladder in self.ladders], np.int16).reshape(len(self.ladders), -1).T
        losses = self.losses(grid)
        return grid[np.lexsort((*grid.T[::-1], losses))]

    def losses(self, nodes: Nodes) -> Costs:
        """Return the entropy loss of each node if no row is suppressed, as a share of the most: a bound from below."""
        total = np.zeros(len(nodes))
        for column, levels in enumerate(self.costs):
            total += np.array([float(level.entropy.sum()) for level in levels])[nodes[:, column]]
        return total / self.most_entropy if self.most_entropy else total

    @cached_property
    def most_entropy(self) -> float:
        """The entropy loss when everything is suppressed."""
        rows = self.rows
        return float(sum((counts * np.log(rows / counts)).sum() for counts in self.originals))

    def finer_than(self, node: Node) -> npt.NDArray[np.bool_]:
        """Tell which nodes are finer than this one, itself among them: their classes lie in its own."""
        found = np.ones(len(self.nodes), np.bool_)
        for column, ladder in enumerate(self.ladders):
            found &= ladder.coarser[self.nodes[:, column], node[column]]
        return found
