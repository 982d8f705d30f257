"""The Newton system of the mechanism, solved along the tree.

A step moves the strategy by dg (leaves x levels). With w = 1/t of a leaf and the scaling of its bounds it
minimises a sum over leaves of

    1/2 dg' diag(1/kappa) dg + 1/2 (1'dg)^2 / kappa0 + 1/2 w (u - 1'dg)^2 + (b + y + lambda c)' dg

where u is what the groups above spread back on the leaf, y are the prices of mass at those groups, lambda is the price
of cost. Once dg is eliminated (the block of a leaf is diagonal plus rank one: Sherman-Morrison) a leaf is a quadratic
form in u, prices and lambda. Forms of leaves add up in their group, the group eliminates its own density and price, and
hands a smaller form to its parent; lambda is what remains at the top.

Prices are written as steps, y_r = p_r + .. + p_d, so that the form speaks of the mass that a leaf sends to levels up to
r. How far that falls short of u, `lack`, is what the elimination divides by; it is a sum of terms of one sign from the
leaves to the top, where a difference would lose every digit once masses move freely.

Every array has the profiles of a batch on its first axis: a step of many profiles is one pass over the tree.
"""

from dataclasses import dataclass

import numpy as np

from pratique_privacy.generalisation.taxonomy import Floats, Places, Taxonomy, over_levels


@dataclass(frozen=True)
class _Form:
    """A quadratic form in (u, p_r .. p_d, lambda): the block of u, of u with the rest, and of the rest.

    `lack` is size - (u with p), one entry a price; `pull` is u with lambda.
    """

    own: Floats  # (batch, groups)
    lack: Floats  # (batch, groups, prices)
    pull: Floats  # (batch, groups)
    rest: Floats  # (batch, groups, prices + 1, prices + 1), lambda last

    def gathered(self, starts: Places) -> "_Form":
        """Add up the forms of the children of each group."""
        parts = (self.own, self.lack, self.pull, self.rest)
        return _Form(*(np.add.reduceat(part, starts, axis=1) for part in parts))


@dataclass(frozen=True)
class _Pivot:
    """What a level keeps of its elimination: the inverse 2 x 2 pivot, and how it hangs on what is above."""

    inverse: Floats  # (batch, groups, 2, 2), own density and own price
    hanging: Floats  # (batch, groups, 2, 1 + prices above + 1): on u, prices above, lambda


class TreeSystem:
    """The system of one iteration, factored; `solve` takes right-hand sides."""

    def __init__(self, taxonomy: Taxonomy, kappa: Floats, kappa0: Floats, curvature: Floats, costs: Floats) -> None:
        """Factor. `kappa` (batch, leaves, levels), `kappa0` and `curvature` w (batch, leaves), costs (leaves, levels).

        A zero in `kappa` is a part that stays, in `kappa0` a leaf whose moved mass stays the same in sum.
        """
        self._taxonomy, self._kappa, self._costs, self._curvature = taxonomy, kappa, costs, curvature
        free = over_levels(kappa)
        self._stiff = 1 + curvature * kappa0
        whole = kappa0 + free * self._stiff
        self._inner = np.divide(1, whole, out=np.zeros_like(whole), where=whole > 0)
        self._response = (curvature * kappa0 * self._inner)[..., None] * kappa  # how dg follows u
        self._pivots: list[_Pivot] = []
        form = self._leaf_form(kappa0, free)
        for level in taxonomy.levels:
            form = self._eliminate(form.gathered(level.children), level.sizes)
        self._stiffness = form.rest[..., -1, -1].sum(axis=1)

    def _leaf_form(self, kappa0: Floats, free: Floats) -> _Form:
        kappa, inner, stiff = self._kappa, self._inner[..., None], self._stiff[..., None]
        depth = kappa.shape[-1]
        upto = np.cumsum(kappa, axis=-1)
        beyond = np.zeros_like(kappa)
        beyond[..., :-1] = np.cumsum(kappa[..., :0:-1], axis=-1)[..., ::-1]
        weights = self._taxonomy.weights  # a leaf is given its weight times what the form calls u
        fixed = self._inner == 0
        kept = np.where(fixed, 1, (kappa0 + free) * self._inner)
        follow = kappa0[..., None] + free[..., None] + (self._curvature * kappa0)[..., None] * beyond
        lack = np.where(fixed[..., None], 1, follow * inner) * weights[:, None]
        rest = np.empty((*free.shape, depth + 1, depth + 1))
        held = (kappa0[..., None] + beyond * stiff) * inner
        for r in range(depth):
            rest[..., r, r:depth] = -upto[..., r, None] * held[..., r:]
            rest[..., r:depth, r] = rest[..., r, r:depth]
        moved = self._reduced(np.broadcast_to(self._costs, kappa.shape))
        rest[..., :depth, depth] = rest[..., depth, :depth] = -np.cumsum(moved, axis=-1)
        rest[..., depth, depth] = -over_levels(moved, self._costs)
        pull = over_levels(self._response, self._costs) * weights
        return _Form(self._curvature * kept * weights**2, lack, pull, rest)

    def _reduced(self, vectors: Floats) -> Floats:
        """Apply the inverse of every leaf's block."""
        mean = self._stiff * self._inner * over_levels(self._kappa, vectors)
        reduced: Floats = self._kappa * (vectors - mean[..., None])
        return reduced

    def _eliminate(self, form: _Form, sizes: Floats) -> _Form:
        """Eliminate each group's own density and price, and keep what is needed to go down again."""
        a, b, c = form.own, -form.lack[..., 0], form.rest[..., 0, 0]
        determinant = a * c - b * b
        inverse = np.empty((*a.shape, 2, 2))
        inverse[..., 0, 0], inverse[..., 1, 1] = c / determinant, a / determinant
        inverse[..., 0, 1] = inverse[..., 1, 0] = -b / determinant
        across = np.concatenate([-form.lack[..., 1:], form.pull[..., None]], axis=-1)
        beside = form.rest[..., 0, 1:]
        hanging = np.empty((*a.shape, 2, across.shape[-1] + 1))
        hanging[..., 0, 0], hanging[..., 1, 0] = a, sizes + b
        hanging[..., 0, 1:], hanging[..., 1, 1:] = across, beside
        self._pivots.append(_Pivot(inverse, hanging))
        # What is left of u: the pivot's own columns drop out and only size times a row of the inverse remains.
        left = sizes[:, None] * (b[..., None] * across - a[..., None] * beside) / determinant[..., None]
        rest = form.rest[..., 1:, 1:] - np.swapaxes(hanging[..., 1:], -1, -2) @ (inverse @ hanging[..., 1:])
        return _Form(-(sizes**2) * a / determinant, -left[..., :-1], left[..., -1], rest)

    def solve(self, forces: Floats, shortfall: Floats) -> tuple[Floats, Floats, Floats]:
        """Return for b = `forces`: the step dg, the change of lambda, and 1'dg / kappa0 (its limit where kappa0 is 0).

        The step raises the cost by `shortfall`; where that is NaN, cost has no price and lambda stays.
        """
        reduced = self._reduced(forces)
        linear = np.empty((*forces.shape[:2], forces.shape[2] + 2))
        linear[..., 0] = over_levels(self._response, forces) * self._taxonomy.weights
        linear[..., 1:-1] = -np.cumsum(reduced, axis=-1)
        linear[..., -1] = -over_levels(reduced, self._costs)
        kept: list[Floats] = []
        for level, pivot in zip(self._taxonomy.levels, self._pivots, strict=True):
            linear = np.add.reduceat(linear, level.children, axis=1)
            own = linear[..., :2]
            kept.append(own)
            rest = np.concatenate([linear[..., :1], linear[..., 2:]], axis=-1)
            settled = (pivot.inverse @ own[..., None])[..., 0]
            linear = rest - (settled[..., None, :] @ pivot.hanging)[..., 0, :]
        pull = linear[..., -1].sum(axis=1) - shortfall
        priced = (self._stiffness < 0) & ~np.isnan(shortfall)
        multiplier = np.divide(-pull, self._stiffness, out=np.zeros_like(pull), where=priced)
        return self._descend(forces, kept, multiplier)

    def _descend(self, forces: Floats, kept: list[Floats], multiplier: Floats) -> tuple[Floats, Floats, Floats]:
        levels = self._taxonomy.levels
        known = np.zeros((len(multiplier), len(levels[-1].starts), 2))  # u, prices, lambda of what is above
        known[..., 1] = multiplier[:, None]
        for depth in reversed(range(len(levels))):
            if depth < len(levels) - 1:
                known = known[:, levels[depth + 1].group_of[levels[depth].starts]]
            pivot = self._pivots[depth]
            pull = (pivot.hanging @ known[..., None])[..., 0] + kept[depth]
            own = -(pivot.inverse @ pull[..., None])[..., 0]
            known = np.concatenate([known[..., :1] + own[..., :1], own[..., 1:], known[..., 1:]], axis=-1)
        known = known[:, levels[0].group_of]
        prices = np.cumsum(known[..., -2:0:-1], axis=-1)[..., ::-1]
        force = forces + prices + known[..., -1:] * self._costs
        back = known[..., :1] * self._taxonomy.weights[:, None]
        step = self._response * back - self._reduced(force)
        pulled = self._curvature[..., None] * back - force
        return step, multiplier, over_levels(self._kappa, pulled) * self._inner
