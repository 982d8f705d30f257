"""The programme of the mechanism: what is minimised over which strategies, and the certificate of how well."""

from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy, over_levels

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Programme:
    """Minimise sum of t (ln t - ln target) over the strategies that cost `gammas` (Gil et al. 2025).

    All in tree order, a batch of profiles on the first axis: `masses` (batch, leaves); `movable` (batch, leaves,
    levels) says which parts of a strategy may be positive; `keeps` (batch, leaves) whether a leaf may keep mass to
    itself; `costs` (leaves, levels); `gammas` (batch); `log_target` (batch, leaves). `bounded` (batch) is false where
    every strategy that is left has the cost asked for.
    """

    taxonomy: Taxonomy
    masses: Floats = field(repr=False)
    movable: Flags = field(repr=False)
    keeps: Flags = field(repr=False)
    costs: Floats = field(repr=False)
    gammas: Floats
    log_target: Floats = field(repr=False)
    bounded: Flags

    @cached_property
    def dearest(self) -> Floats:
        """The strategy that costs most: a leaf's mass in even parts at its dearest levels."""
        priced = np.where(self.movable, self.costs, -np.inf)
        chosen = self.movable & (priced == priced.max(axis=-1, keepdims=True))
        return np.where(chosen, (self.masses / np.maximum(chosen.sum(axis=-1), 1))[..., None], 0)

    def apparent(self, strategy: Floats) -> Floats:
        """Return t: what a leaf keeps and what an observer spreads back to it from the groups above."""
        levels = range(len(self.taxonomy.levels))
        back = self.taxonomy.spread([self.taxonomy.sums(strategy[..., r], r) for r in levels])
        apparent: Floats = np.maximum(self.masses - over_levels(strategy), 0) + back * self.taxonomy.weights
        return apparent

    def gradient(self, apparent: Floats) -> Floats:
        """Return how the objective changes with mass that moves from a leaf to a level, (batch, leaves, levels)."""
        reached = apparent > 0
        steep = np.where(reached, np.log(np.where(reached, apparent, 1)) - self.log_target, 0)
        levels = enumerate(self.taxonomy.levels)
        return np.stack([self.taxonomy.means(steep, r)[..., level.group_of] - steep for r, level in levels], axis=-1)

    def reduced_costs(self, gradient: Floats, multipliers: Floats) -> Floats:
        """Return the gradient once cost has its price: below zero where moving more would pay."""
        return gradient + multipliers[:, None, None] * self.costs

    def gap(self, strategy: Floats, gradient: Floats, multipliers: Floats) -> Floats:
        """Return by how much at most each strategy misses the optimum, in nats.

        The objective is convex, so it lies above its tangent at the strategy. The least value of the tangent over all
        strategies of this cost is bounded from below by any price of cost (weak duality); at a price each leaf stands
        for itself. The bound holds whatever the multipliers are; good ones make it tight.
        """
        priced = np.where(self.movable, self.reduced_costs(gradient, multipliers), np.inf)
        priced = reduce(np.minimum, np.moveaxis(priced, -1, 0))
        best = np.where(self.keeps, np.minimum(priced, 0), priced)
        best = np.where(np.isfinite(best), best, 0)
        bound = (self.masses * best).sum(axis=-1) - multipliers * self.gammas
        gap: Floats = (strategy * gradient).sum(axis=(-1, -2)) - bound
        return gap

    def settled(self, strategy: Floats, slack: Floats) -> tuple[Floats, Floats]:
        """Return a strategy with the rounding of its row sums and of its cost taken out, and what leaves keep.

        Rows are made to sum to the masses; then the whole is scaled down, or drawn to its dearest levels, until it
        costs `gammas`.
        """
        sums = over_levels(strategy)
        mostly_moved = sums > slack  # the smaller of the two is right: their sum would not notice a change in it
        scale = np.divide(self.masses - slack, sums, out=np.ones_like(sums), where=mostly_moved)
        strategy, slack = strategy * scale[..., None], np.where(mostly_moved, slack, self.masses - sums)
        cost = (strategy * self.costs).sum(axis=(1, 2))
        falling = self.bounded & (cost > self.gammas)
        down = np.divide(self.gammas, cost, out=np.ones_like(cost), where=falling)
        room = (self.dearest * self.costs).sum(axis=(1, 2)) - cost
        rising = self.bounded & (room > 0)
        up = np.clip(np.divide(self.gammas - cost, room, out=np.zeros_like(cost), where=rising), 0, 1)
        slack = (slack + (1 - down)[:, None] * over_levels(strategy)) * (1 - up)[:, None]
        strategy = strategy * down[:, None, None]
        strategy = strategy + up[:, None, None] * (self.dearest - strategy)
        return strategy, np.where(self.keeps, slack, 0)

    def part(self, which: Flags) -> "Programme":
        """Return the programme of some profiles of the batch."""
        return Programme(
            self.taxonomy,
            self.masses[which],
            self.movable[which],
            self.keeps[which],
            self.costs,
            self.gammas[which],
            self.log_target[which],
            self.bounded[which],
        )
