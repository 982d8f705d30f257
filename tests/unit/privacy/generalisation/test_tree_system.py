"""A Newton step along the tree is the step of the whole system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.generalisation.taxonomy import Floats, Taxonomy, taxonomy_of
from pratique_privacy.generalisation.tree_system import TreeSystem


def spreading(taxonomy: Taxonomy) -> Floats:
    """Return the matrix of dt by dg: leaves by (leaves, levels), what comes back less what is given."""
    leaves, depth = taxonomy.leaves, len(taxonomy.levels)
    matrix = np.zeros((leaves, leaves, depth))
    for r, level in enumerate(taxonomy.levels):
        together = level.group_of[:, None] == level.group_of[None, :]
        matrix[:, :, r] = together * taxonomy.weights[:, None] / level.sizes[level.group_of][:, None] - np.eye(leaves)
    return matrix.reshape(leaves, leaves * depth)


@given(st.integers(1, 8), st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_a_step_along_the_tree_solves_the_dense_system(leaves: int, depth: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    labels, levels = chance.integers(0, leaves, leaves), []
    for _ in range(depth):
        levels.append([np.flatnonzero(labels == name).tolist() for name in np.unique(labels)])
        labels = chance.integers(0, max(1, leaves // 2), leaves)[labels]
    taxonomy = taxonomy_of(levels, leaves, weights=chance.uniform(0.2, 3, leaves).tolist())
    kappa = 10 ** chance.uniform(-2, 2, (1, leaves, depth)) * (chance.random((1, leaves, depth)) < 0.8)
    kappa0 = 10 ** chance.uniform(-2, 2, (1, leaves))
    curvature, costs = 10 ** chance.uniform(0, 2, (1, leaves)), chance.random((leaves, depth)) + 0.1
    forces = np.where(kappa > 0, chance.normal(size=kappa.shape), 0)
    free = np.flatnonzero(kappa.ravel())
    step, multiplier, tension = TreeSystem(taxonomy, kappa, kappa0, curvature, costs).solve(forces, np.array([0.3]))
    if not free.size:
        assert not step.any()
        return
    moves, rows = spreading(taxonomy)[:, free], np.kron(np.eye(leaves), np.ones(depth))[:, free]
    whole = np.zeros((len(free) + 1, len(free) + 1))
    whole[:-1, :-1] = moves.T @ np.diag(curvature[0]) @ moves + rows.T @ np.diag(1 / kappa0[0]) @ rows
    whole[:-1, :-1] += np.diag(1 / kappa.ravel()[free])
    whole[:-1, -1] = whole[-1, :-1] = costs.ravel()[free]
    right = np.linalg.solve(whole, np.append(-forces.ravel()[free], 0.3))
    assert step.ravel()[free] == pytest.approx(right[:-1], rel=1e-7, abs=1e-9)
    assert multiplier[0] == pytest.approx(right[-1], rel=1e-7, abs=1e-9)
    assert tension[0] * kappa0[0] == pytest.approx(step[0].sum(axis=-1), rel=1e-7, abs=1e-9)
