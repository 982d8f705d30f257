"""Figures of the assurance run: what was measured, its bound, and whether it held."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path


class Profile(StrEnum):
    """How much is run: `ci` within a quarter of an hour on two cores, `full` what the bounds were set for."""

    CI = "ci"
    FULL = "full"


class Bound(StrEnum):
    """On which side of its limit a figure has to be."""

    AT_MOST = "<="
    AT_LEAST = ">="
    EXACTLY = "="


@dataclass(frozen=True)
class Figure:
    """One measured figure against its limit, in `unit` (empty for a count)."""

    name: str
    value: float
    bound: Bound
    limit: float
    unit: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure is a number and within its limit."""
        match self.bound:
            case Bound.AT_MOST:
                within = self.value <= self.limit
            case Bound.AT_LEAST:
                within = self.value >= self.limit
            case Bound.EXACTLY:
                within = self.value == self.limit
        return isfinite(self.value) and within


def none(name: str, count: int) -> Figure:
    """Return the figure of what must never happen."""
    return Figure(name, count, Bound.EXACTLY, 0)


def some(name: str, count: int, least: int = 1) -> Figure:
    """Return the figure of a control: what shows that the check looked at something."""
    return Figure(name, count, Bound.AT_LEAST, least)


def most(name: str, value: float, limit: float, unit: str = "") -> Figure:
    """Return the figure of a cost."""
    return Figure(name, value, Bound.AT_MOST, limit, unit)


Check = Callable[[Profile, Path], Iterator[Figure]]
