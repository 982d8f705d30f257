"""The critical rate: what it costs at least to make a profile flat inside every top-level group."""

import numpy as np
from scipy.optimize import linprog  # type: ignore[import-untyped]
from scipy.sparse import csr_array, vstack  # type: ignore[import-untyped]

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy

# Tight tolerances first; a profile with shares far below them can look infeasible to the solver.
_TRIES: tuple[dict[str, float | bool], ...] = (
    {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False},
    {},
)


def flat(taxonomy: Taxonomy, masses: Floats) -> Floats:
    """Return the profiles that are flat inside every top-level group; masses (batch, leaves) in tree order."""
    top = len(taxonomy.levels) - 1
    level = taxonomy.levels[top]
    means: Floats = (taxonomy.sums(masses, top) / level.sizes)[..., level.group_of]
    return means


def bound(taxonomy: Taxonomy, masses: Floats) -> Floats:
    """Return the closed form of the critical rate, 1 - sum over top groups of size times least mass.

    Exact for one level. With more, lower levels can do part of the work and it is an upper bound (Gil et al. 2025).
    """
    level = taxonomy.levels[-1]
    least = np.minimum.reduceat(masses, level.starts, axis=-1)
    rate: Floats = masses.sum(axis=-1) - (level.sizes * least).sum(axis=-1)
    return np.maximum(rate, 0)


def densities(taxonomy: Taxonomy, masses: Floats) -> list[Floats]:
    """Return what each group spreads on each of its leaves in the least strategy that flattens, finest level first.

    With one price for all mass the linear program falls apart. Write U_v for what the groups above v, v excluded,
    spread on a leaf of v. Mass can be routed to the groups exactly if U_v >= T - (mean of v) for every group and leaf
    v, T being the mean of its top group: all mass of v that does not leave v is the flat share that the groups above
    leave open. The cost is the sum over leaves of U, so each U is as small as the constraints on the path allow.
    """
    target = flat(taxonomy, masses)
    floors: list[Floats] = []
    below = target - masses
    for depth, level in enumerate(taxonomy.levels):
        floors.append(np.maximum.reduceat(below, level.children, axis=-1))
        means = taxonomy.sums(masses, depth) / level.sizes
        below = target[..., level.starts] - means
    spread: list[Floats] = [np.zeros(0)] * len(floors)
    above = np.zeros((len(masses), 1))
    parents = np.zeros(len(taxonomy.levels[-1].starts), dtype=np.int64)
    for depth in reversed(range(len(floors))):
        level = taxonomy.levels[depth]
        if depth < len(floors) - 1:
            upper = taxonomy.levels[depth + 1]
            parents = upper.group_of[level.starts]
        reached = np.maximum(floors[depth], above[:, parents])
        spread[depth] = np.maximum(reached - above[:, parents], 0)
        above = reached
    return spread


def least_rate(taxonomy: Taxonomy, masses: Floats) -> Floats:
    """Return the critical rate when all mass has the price 1: sum over groups of size times density."""
    levels = zip(densities(taxonomy, masses), taxonomy.levels, strict=True)
    rate: Floats = sum(((density * level.sizes).sum(axis=-1) for density, level in levels), start=np.zeros(len(masses)))
    return rate


def flattening(taxonomy: Taxonomy, masses: Floats) -> Floats:
    """Return a strategy of `least_rate` that flattens: each level takes its mass from what its leaves still give."""
    wanted = densities(taxonomy, masses)
    giving = np.maximum(masses - flat(taxonomy, masses) + taxonomy.spread(_masses(taxonomy, wanted)), 0)
    giving = np.where(masses > 0, np.minimum(giving, masses), 0)
    strategy = np.zeros((*masses.shape, len(wanted)))
    for depth, level in enumerate(taxonomy.levels):
        there = taxonomy.sums(giving, depth)
        asked = wanted[depth] * level.sizes
        share = np.divide(asked, there, out=np.zeros_like(asked), where=there > 0)
        strategy[..., depth] = giving * np.minimum(share, 1)[..., level.group_of]
        giving = giving - strategy[..., depth]
    return strategy


def _masses(taxonomy: Taxonomy, spread: list[Floats]) -> list[Floats]:
    return [density * level.sizes for density, level in zip(spread, taxonomy.levels, strict=True)]


def flattening_at(taxonomy: Taxonomy, masses: Floats, costs: Floats, *, most: bool = False) -> tuple[Floats, float]:
    """Return the cheapest (or dearest) strategy that flattens one profile, and its cost, by a linear program.

    masses (leaves), costs (leaves, levels), tree order. Variables: the parts of the strategy, level by level, and what
    each group spreads on a leaf of it. Rows: what a leaf gives less what comes back is what it has above the flat
    share; what a group spreads is what its leaves give it.
    """
    leaves, depth = costs.shape
    sizes = np.concatenate([level.sizes for level in taxonomy.levels])
    parts, groups = leaves * depth, len(sizes)
    offsets = np.cumsum([0, *(len(level.starts) for level in taxonomy.levels[:-1])])
    group = np.concatenate([level.group_of + at for level, at in zip(taxonomy.levels, offsets, strict=True)])
    leaf, part, ones = np.tile(np.arange(leaves), depth), np.arange(parts), np.ones(parts)
    width = parts + groups
    given = csr_array((ones, (leaf, part)), (leaves, width))
    back = csr_array((ones, (leaf, parts + group)), (leaves, width))
    into = csr_array((ones, (group, part)), (groups, width))
    spread = csr_array((sizes, (np.arange(groups), parts + np.arange(groups))), (groups, width))
    above = masses - flat(taxonomy, masses[None])[0]
    price = np.concatenate([costs.T.ravel(), np.zeros(groups)])
    found = _optimum(
        c=-price if most else price,
        A_eq=vstack([given - back, into - spread]),
        b_eq=np.concatenate([above, np.zeros(groups)]) * leaves,  # masses of about 1, for the sake of tolerances
        A_ub=given,
        b_ub=masses * leaves,
    )
    strategy = np.maximum(found[:parts].reshape(depth, leaves).T / leaves, 0)
    sums = strategy.sum(axis=-1)
    strategy *= np.divide(masses, sums, out=np.ones_like(sums), where=sums > masses)[:, None]
    return strategy, float((strategy * costs).sum())


def _optimum(**programme: object) -> Floats:
    for options in _TRIES:
        found = linprog(method="highs", options=options, **programme)
        if found.status == 0:
            solution: Floats = found.x
            return solution
    raise ArithmeticError(f"the linear program of the critical cost ended with status {found.status}")
