"""What each column of a source is: identifier, quasi-identifier, sensitive, insensitive, or dropped."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from pratique_shared.contracts.model import Contract

MAX_COLUMNS = 1000
LONGEST_NAME = 200  # characters of a column's name
MAX_QUASI_IDENTIFIERS = 12  # the exact adversaries build 2^d tables

Column = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]

Columns = Annotated[tuple[Column, ...], Field(max_length=MAX_COLUMNS)]

# A column is of a class, and stands in the list of that class.
ColumnClass = Literal["identifier", "quasi_identifier", "sensitive", "insensitive", "drop"]
ColumnList = Literal["identifiers", "quasi_identifiers", "sensitive", "insensitive", "drop"]
LIST_OF: Final[Mapping[ColumnClass, ColumnList]] = MappingProxyType(
    {
        "identifier": "identifiers",
        "quasi_identifier": "quasi_identifiers",
        "sensitive": "sensitive",
        "insensitive": "insensitive",
        "drop": "drop",
    }
)


class SensitiveBins(Contract):
    """Bins of a numeric sensitive attribute, fixed on the input: quantile buckets, or fixed edges."""

    quantile: int | None = Field(default=None, ge=2, le=1000)
    edges: tuple[float, ...] | None = Field(default=None, min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.quantile is None) == (self.edges is None):
            raise ValueError("give either quantile or edges")
        if self.edges is not None and any(a >= b for a, b in zip(self.edges, self.edges[1:], strict=False)):
            raise ValueError("edges must increase")
        return self


class Attributes(Contract):
    """The class of every column; a column stands in exactly one of the five lists."""

    identifiers: Columns = ()
    quasi_identifiers: Columns = ()
    sensitive: Columns = ()
    insensitive: Columns = ()
    drop: Columns = ()
    sensitive_bins: dict[Column, SensitiveBins] = {}
    ordered: dict[Column, tuple[str | int | float, ...]] = {}

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that leave, in the order of the lists."""
        return (*self.identifiers, *self.shown)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that leave without having to be pseudonymised."""
        return (*self.quasi_identifiers, *self.sensitive, *self.insensitive)
