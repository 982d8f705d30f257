"""Release figures: what a sweep keeps of each of its releases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Index: TypeAlias = Literal["ppi", "ppi_prime"]
Measure: TypeAlias = Literal["exact", "partial", "linkage"]
Figure: TypeAlias = Literal["k", Index, Measure]

INDEXES: Final[tuple[Index, ...]] = get_args(Index)
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
FIGURES: Final[tuple[Figure, ...]] = ("k", *INDEXES, *MEASURES)


@dataclass(frozen=True)
class ReleaseFigures:
    """One source under one configuration; a figure that an empty release or an absent adversary leaves open is None.

    `partial` and `linkage` are the exact expectations where they are computed, else the simulated means, so that two
    releases of one partition have equal figures. They are shares, not percentages.
    """

    group: str | None
    configuration: str
    source: str
    k: int | None
    ppi: float | None
    ppi_prime: float | None
    exact: float | None
    partial: float | None
    linkage: float | None

    def figure(self, name: Figure) -> float | None:
        """Return one figure by its name."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True)
class Scope:
    """The releases that are summarised together: those of a group, or all of them, which has no group."""

    group: str | None
    releases: tuple[ReleaseFigures, ...]


def scopes(releases: Sequence[ReleaseFigures]) -> list[Scope]:
    """Return all releases pooled, then those of each group in order of first appearance."""
    groups = dict.fromkeys(release.group for release in releases if release.group is not None)
    pooled = Scope(None, tuple(releases))
    return [pooled, *(Scope(name, tuple(one for one in releases if one.group == name)) for name in groups)]


def configurations(releases: Iterable[ReleaseFigures]) -> list[str]:
    """Return the names of the configurations in order of first appearance."""
    return list(dict.fromkeys(release.configuration for release in releases))
