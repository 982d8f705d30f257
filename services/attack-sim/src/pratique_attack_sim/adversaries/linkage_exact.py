"""The linkage adversary's exact expectation on a matrix of codes."""

from math import prod
from typing import Final

from pratique_attack_sim.adversaries.matrix import Codes, Matrix
from pratique_shared.frames.linkage import WrongValue, expected_linkage, grid_of

EXACT_LINKAGE_QUERIES: Final = 2_000_000


def exact_linkage(
    codes: Codes, *, accuracy: float, wrong_value: WrongValue, limit: int = EXACT_LINKAGE_QUERIES
) -> float | None:
    """Return the expected credit over all targets and draws (Kekatos et al. 2026, §V-A); None if empty or too large."""
    matrix = Matrix.of(codes)
    if matrix.rows == 0 or prod(matrix.domains) > limit:
        return None
    return expected_linkage(grid_of(matrix.columns, matrix.domains), accuracy=accuracy, wrong_value=wrong_value)
