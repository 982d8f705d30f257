"""The mechanism as a general conic programme, for CLARABEL, and small trees: what the fast code is held against."""

from typing import Any, TypeAlias

import clarabel  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy

Numbers: TypeAlias = npt.NDArray[Any]
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
    taxonomy: Taxonomy, profile: Floats, gamma: float, costs: Floats | None = None, target: Floats | None = None
) -> tuple[Any, float]:
    """Return CLARABEL's solution and its time in seconds.

    Variables: t, an upper bound on each t ln t, the parts of the strategy, the mass of each group.
    """
    leaves, depth, order = len(profile), len(taxonomy.levels), taxonomy.order
    sizes = np.concatenate([level.sizes for level in taxonomy.levels])
    starts = np.cumsum([0, *(len(level.starts) for level in taxonomy.levels)])
    group = np.concatenate([level.group_of + at for level, at in zip(taxonomy.levels, starts, strict=False)])
    parts, groups = leaves * depth, len(sizes)
    width, at = 2 * leaves + parts + groups, 2 * leaves
    price = np.ones((leaves, depth)) if costs is None else costs[order]
    goal = np.zeros(width)
    goal[leaves:at] = 1
    goal[:leaves] = 0 if target is None else -np.log(target[order])
    one, leaf, part = np.ones(parts), np.tile(np.arange(leaves), depth), at + np.arange(parts)
    eye = sparse.eye_array(leaves)

    def matrix(rows: Numbers, columns: Numbers, values: Numbers, height: int) -> Any:  # noqa: ANN401 - untyped
        return sparse.csc_array((values, (rows, columns)), (height, width))

    given = matrix(leaf, part, one, leaves)
    back = matrix(leaf, at + parts + group, 1 / sizes[group], leaves)
    shown = sparse.hstack([eye, sparse.csc_array((leaves, width - leaves))]) + given - back
    into = matrix(group, part, one, groups) - matrix(
        np.arange(groups), at + parts + np.arange(groups), np.ones(groups), groups
    )
    cost = matrix(np.zeros(parts, int), part, price.T.ravel(), 1)
    positive = matrix(np.arange(parts), part, -one, parts)
    cones = sparse.lil_array((3 * leaves, width))  # (-bound, t, 1) in the exponential cone: t ln t <= bound
    cones[3 * np.arange(leaves), leaves + np.arange(leaves)] = 1
    cones[3 * np.arange(leaves) + 1, np.arange(leaves)] = -1
    upright = np.tile([0.0, 0.0, 1.0], leaves)
    masses = profile[order]
    rows = sparse.vstack([shown, into, cost, positive, given, cones.tocsc()]).tocsc()
    right = np.concatenate([masses, np.zeros(groups), [gamma], np.zeros(parts), masses, upright])
    kinds = [
        clarabel.ZeroConeT(leaves + groups + 1),
        clarabel.NonnegativeConeT(parts + leaves),
        *(clarabel.ExponentialConeT() for _ in range(leaves)),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(sparse.csc_array((width, width)), goal, rows, right, kinds, settings).solve()
    return solution, float(solution.solve_time)
