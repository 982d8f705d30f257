"""The adviser: what to do with one item, so that the profile that items leave behind is the optimal one."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pratique_local.advise.leaves import Leaves
from pratique_local.advise.running import RunningProfile
from pratique_privacy.generalisation.mechanism import Task, generalise
from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy

Advice = Literal["publish", "generalise", "unknown"]


@dataclass(frozen=True)
class Settings:
    """`gamma`: the share of items to generalise. The first `training` items are only learnt from.

    The strategy is computed anew once the profile has moved by `settle` (total variation) from the one it was made for.
    """

    gamma: float
    training: int = 0
    settle: float = 0.02


@dataclass(frozen=True)
class Answer:
    """What is advised for an item: as it is, or as `as_` at a level from 1; `chance` is that of this advice."""

    item: str = field(repr=False)
    leaf: str | None
    advice: Advice
    level: int = 0
    as_: str | None = None
    chance: float = 1.0
    training: bool = False


class Adviser:
    """Answers item after item. An item of leaf i goes to level r with probability g_ir / q_i (Gil et al. 2025)."""

    def __init__(
        self,
        leaves: Leaves,
        profile: RunningProfile,
        settings: Settings,
        chance: np.random.Generator,
        weights: Floats | None = None,
    ) -> None:
        """`weights` is how an observer divides a family among its leaves; None: evenly."""
        self._leaves, self._profile, self._settings, self._chance = leaves, profile, settings, chance
        self._taxonomy: Taxonomy = leaves.taxonomy(weights)
        self._made_for: Floats | None = None
        self._chances: Floats = np.zeros((len(leaves.names), leaves.levels))
        self._seen = 0

    def answer(self, item: str) -> Answer:
        """Advise on one item and learn from it, whatever the user then does."""
        leaf = self._leaves.leaf_of(item)
        if leaf is None:
            return Answer(item, None, "unknown")
        self._profile.see(leaf)
        self._seen += 1
        name = self._leaves.names[leaf]
        # Drawn also while training, so that one seed gives an item the same lot however long that takes.
        lot = float(self._chance.random())
        if self._seen <= self._settings.training:
            return Answer(item, name, "publish", training=True)
        self._settle()
        levels = np.cumsum(self._chances[leaf])
        level = int(np.searchsorted(levels, lot, side="right"))
        if level == len(levels):
            return Answer(item, name, "publish", chance=float(1 - levels[-1]))
        ancestor = self._leaves.ancestors[leaf][level]
        return Answer(item, name, "generalise", level + 1, ancestor, float(self._chances[leaf, level]))

    def _settle(self) -> None:
        """Compute the strategy anew where the profile is no longer the one that it was made for."""
        shares = self._profile.shares()
        if shares is None:
            return
        if self._made_for is not None and 0.5 * np.abs(shares - self._made_for).sum() < self._settings.settle:
            return
        found = generalise(Task(self._taxonomy, shares[None], np.array([self._settings.gamma])))
        strategy = found.strategy[0]
        parts = np.divide(strategy, shares[:, None], out=np.zeros_like(strategy), where=shares[:, None] > 0)
        self._chances, self._made_for = np.minimum(parts, 1), shares
