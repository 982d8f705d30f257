"""Small code matrices for tests, drawn by hypothesis or from a seed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Codes = npt.NDArray[np.int32]


def dense(values: Sequence[Sequence[int]], width: int) -> Codes:
    """Renumber every column 0..m-1."""
    table = np.array(values, dtype=np.int64).reshape(-1, width)
    codes = np.zeros(table.shape, dtype=np.int32)
    for a in range(width):
        codes[:, a] = np.unique(table[:, a], return_inverse=True)[1]
    return codes


@st.composite
def code_matrices(draw: st.DrawFn, max_rows: int = 14, max_width: int = 4, max_domain: int = 4) -> Codes:
    """Draw a release of at least one row and one column."""
    width = draw(st.integers(1, max_width))
    domains = [draw(st.integers(1, max_domain)) for _ in range(width)]
    row = st.tuples(*[st.integers(0, domain - 1) for domain in domains])
    return dense(draw(st.lists(row, min_size=1, max_size=max_rows)), width)


@st.composite
def releases_and_beliefs(draw: st.DrawFn) -> tuple[Codes, Codes]:
    """Draw a release and what is believed of each of its rows; -1 is a value that the release does not have."""
    codes = draw(code_matrices(max_rows=8, max_width=3, max_domain=3))
    row = st.tuples(*[st.integers(-1, int(column.max())) for column in codes.T])
    known = draw(st.lists(row, min_size=len(codes), max_size=len(codes)))
    return codes, np.array(known, dtype=np.int32)


def skewed(rows: int, domains: Sequence[int], seed: int = 0) -> Codes:
    """Return a release whose columns have few common values and a long tail, as profiles of hosts do."""
    chance = np.random.default_rng(seed)
    columns = [np.minimum(chance.random(rows) ** 2 * domain, domain - 1).astype(np.int64) for domain in domains]
    return dense(np.stack(columns, axis=1).tolist(), len(domains))
