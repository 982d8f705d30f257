"""The mechanism as a general conic programme, for CLARABEL, and small trees: what the fast code is held against."""

from typing import Any, TypeAlias

import clarabel  # type: ignore[import-untyped]
import numpy as np
from scipy import sparse  # type: ignore[import-untyped]

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy

Levels: TypeAlias = list[list[list[int]]]

# The running example of Gil, Parra-Arnau and Forné 2025.
PAPER = [0.02, 0.03, 0.04, 0.05, 0.07, 0.10, 0.12, 0.15, 0.17, 0.25]


def runs(*sizes: int) -> list[list[int]]:
    """Return groups of these sizes over consecutive leaves."""
    ends = np.cumsum(sizes)
    return [list(range(end - size, end)) for end, size in zip(ends.tolist(), sizes, strict=True)]


def optimum(
    taxonomy: Taxonomy, profile: Floats, gamma: float, costs: Floats | None = None, target: Floats | None = None
) -> float:
    """Return the least sum of t ln(t / target) over strategies of this cost (target 1: minus the entropy)."""
    solution, _ = solved(taxonomy, profile, gamma, costs, target)
    return float(solution.obj_val)


def solved(
    taxonomy: Taxonomy,
    profile: Floats,
    gamma: float,
    costs: Floats | None = None,
    target: Floats | None = None,
    *,
    as_written: bool = False,
) -> tuple[Any, float]:
    """Return CLARABEL's solution and the seconds that it took.

    Variables: t, an upper bound on each t ln t, the parts of the strategy level by level, the mass of each group. With
    `as_written` the masses are no variables and t = q + sum of (U_r - I) g_r stands as it is published, each block of
    U_r full; the masses make the programme sparse, which a reader of the tree would think of.
    """
    leaves, depth, order = len(profile), len(taxonomy.levels), taxonomy.order
    sizes = np.concatenate([level.sizes for level in taxonomy.levels])
    starts = np.cumsum([0, *(len(level.starts) for level in taxonomy.levels)])
    group = np.concatenate([level.group_of + at for level, at in zip(taxonomy.levels, starts, strict=False)])
    parts, groups = leaves * depth, 0 if as_written else len(sizes)
    one, leaf, part = np.ones(parts), np.tile(np.arange(leaves), depth), np.arange(parts)
    give = sparse.csr_array((one, (leaf, part)), (leaves, parts))
    collect = sparse.csr_array((one, (group, part)), (len(sizes), parts))
    share = sparse.csr_array((1 / sizes[group], (leaf, group)), (leaves, len(sizes)))
    share.sum_duplicates()
    price = (np.ones((leaves, depth)) if costs is None else costs[order]).T.ravel()
    none = sparse.csr_array
    eye, empty = sparse.eye_array(leaves), none((leaves, leaves))
    cones = sparse.lil_array((3 * leaves, 2 * leaves))  # (-bound, t, 1) in the exponential cone: t ln t <= bound
    cones[3 * np.arange(leaves), leaves + np.arange(leaves)] = 1
    cones[3 * np.arange(leaves) + 1, np.arange(leaves)] = -1
    shown = [eye, empty, give - share @ collect] if as_written else [eye, empty, give, -share]
    balance = [none((len(sizes), 2 * leaves)), collect, -sparse.eye_array(len(sizes))]
    rows = sparse.vstack(
        [
            sparse.hstack(shown),
            *([] if as_written else [sparse.hstack(balance)]),
            sparse.hstack([none((1, 2 * leaves)), price[None], none((1, groups))]),
            sparse.hstack([none((parts, 2 * leaves)), -sparse.eye_array(parts), none((parts, groups))]),
            sparse.hstack([none((leaves, 2 * leaves)), give, none((leaves, groups))]),
            sparse.hstack([cones, none((3 * leaves, parts + groups))]),
        ]
    ).tocsc()
    masses, width = profile[order], rows.shape[1]
    right = np.concatenate([masses, np.zeros(groups), [gamma], np.zeros(parts), masses, np.tile([0.0, 0, 1], leaves)])
    goal = np.zeros(width)
    goal[leaves : 2 * leaves] = 1
    goal[:leaves] = 0 if target is None else -np.log(target[order])
    kinds = [
        clarabel.ZeroConeT(leaves + groups + 1),
        clarabel.NonnegativeConeT(parts + leaves),
        *(clarabel.ExponentialConeT() for _ in range(leaves)),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(sparse.csc_array((width, width)), goal, rows, right, kinds, settings).solve()
    return solution, float(solution.solve_time)
