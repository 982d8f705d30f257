"""The code matrix: the quasi-identifiers of a release, reduced to equality inside a column."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_shared.contracts.attributes import MAX_QUASI_IDENTIFIERS

Codes: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.int64]
Subset: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Codes laid out column by column, shape (columns, rows), with the number of values of every column.

    A column may hold codes up to its domain only; a table known from elsewhere uses the code `domain` for every
    value that the release does not have, so keys need one digit more than the domain: `radices`.
    """

    columns: Codes
    domains: tuple[int, ...]
    radices: tuple[int, ...]

    @classmethod
    def of(cls, codes: Codes, *, foreign: bool = False) -> Self:
        """Lay out `codes` (rows, columns); `foreign` leaves room for values that the release does not have.

        Raises ValueError for codes that are not exactly 0..m-1 in each column: the domain would be wrong.
        """
        if codes.ndim != 2 or codes.shape[1] > MAX_QUASI_IDENTIFIERS:
            raise ValueError("a code matrix has rows and at most twelve columns")
        columns = np.ascontiguousarray(codes.T, dtype=np.int32)
        for column in columns:
            if column.size and (column.min() < 0 or column.max() >= column.size or not np.bincount(column).all()):
                raise ValueError("the codes of a column are not dense")
        domains = tuple(int(column.max()) + 1 if column.size else 0 for column in columns)
        return cls(columns, domains, tuple(domain + foreign for domain in domains))

    @property
    def rows(self) -> int:
        """Return the number of released rows, which is the number of targets."""
        return int(self.columns.shape[1])

    @property
    def width(self) -> int:
        """Return the number of quasi-identifiers."""
        return int(self.columns.shape[0])

    def known(self, codes: Codes) -> Codes:
        """Lay out a table known from elsewhere, row i about released row i; -1 is a value that the release has not."""
        columns = np.ascontiguousarray(codes.T, dtype=np.int32)
        if columns.shape != self.columns.shape:
            raise ValueError("the known table does not have a row for each target and a column for each QI")
        domains = np.array(self.domains, dtype=np.int32)[:, None]
        if columns.size and (columns >= domains).any():
            raise ValueError("a known code is outside the domain of its column")
        return np.where(columns < 0, domains, columns)


def subsets(width: int, size: int) -> Iterator[Subset]:
    """Yield the subsets of `size` columns in lexicographic order."""
    return combinations(range(width), size)
