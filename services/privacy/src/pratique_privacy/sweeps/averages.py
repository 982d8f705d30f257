"""Averages: mean and population standard deviation of every figure of a configuration."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pratique_privacy.sweeps.figures import FIGURES, Figure, ReleaseFigures, configurations, scopes


@dataclass(frozen=True)
class Spread:
    """Mean and population standard deviation over the releases that have the figure; None where none has it."""

    mean: float | None
    sd: float | None
    releases: int


@dataclass(frozen=True)
class Average:
    """The releases of one configuration in one scope; `group` is None where all are pooled."""

    group: str | None
    configuration: str
    releases: int
    figures: Mapping[Figure, Spread]


def averages(releases: Sequence[ReleaseFigures]) -> list[Average]:
    """Summarise every configuration, pooled and by group (Kekatos et al. 2026, Tables II and IV).

    A release counts once whatever its number of rows, as in the tables.
    """
    found = []
    for scope in scopes(releases):
        for name in configurations(scope.releases):
            own = [release for release in scope.releases if release.configuration == name]
            figures = {figure: spread(release.figure(figure) for release in own) for figure in FIGURES}
            found.append(Average(scope.group, name, len(own), figures))
    return found


def spread(figures: Iterable[float | None]) -> Spread:
    """Return mean and population standard deviation of the figures that are there."""
    values = [value for value in figures if value is not None]
    if not values:
        return Spread(None, None, 0)
    mean = math.fsum(values) / len(values)
    return Spread(mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)), len(values))
