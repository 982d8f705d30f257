"""Generalisation: the section on profiles published at coarser levels (Gil et al. 2025)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pratique_local.paper.charts import Line, line_chart
from pratique_local.paper.document import Block, Figure, Heading, Paragraph, Table

Profiles: TypeAlias = npt.NDArray[np.float64]
Levels: TypeAlias = tuple[tuple[tuple[int, ...], ...], ...]
Way: TypeAlias = Literal["generalisation", "forgery", "forgery2", "suppression"]

TOY: Final = (0.02, 0.03, 0.04, 0.05, 0.07, 0.10, 0.12, 0.15, 0.17, 0.25)
RANDOM_PROFILES, LEAVES = 608, 16
CONCENTRATION: Final = 0.5  # of the Dirichlet draw: some leaves hold most of a profile, as in real ones
RATES: Final = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
WAYS: Final[Mapping[Way, str]] = MappingProxyType(
    {
        "generalisation": "generalisation",
        "forgery": "forgery",
        "forgery2": "forgery on top",
        "suppression": "suppression",
    }
)


@dataclass(frozen=True)
class Critical:
    """The rate from which a profile is flat inside every top group, its closed-form bound, and the entropy there."""

    rate: float
    bound: float
    entropy: float


class Mechanism(Protocol):
    """What the section asks of the mechanisms; levels are finest first, each a list of groups of leaves."""

    def critical(self, profile: Sequence[float], levels: Levels) -> Critical:
        """Return the critical rate of one profile under a hierarchy."""

    def entropies(self, way: Way, profiles: Profiles, levels: Levels, rate: float) -> Profiles:
        """Return the greatest entropy of each profile (nats) that a way of publishing reaches at a rate."""


def runs(*sizes: int) -> tuple[tuple[int, ...], ...]:
    """Return groups of neighbouring leaves of these sizes."""
    ends = np.cumsum(sizes).tolist()
    return tuple(tuple(range(end - size, end)) for end, size in zip(ends, sizes, strict=True))


# Hierarchies over the toy profile with the critical rate, closed form and entropy that they come to.
TOYS: Final[Mapping[str, tuple[Levels, Critical]]] = MappingProxyType(
    {
        "7 + 3": ((runs(7, 3),), Critical(0.41, 0.41, 2.1463)),
        "2 + 8": ((runs(2, 8),), Critical(0.64, 0.64, 2.2086)),
        "2 3 2 3 > 2 5 3 > 7 3": ((runs(2, 3, 2, 3), runs(2, 5, 3), runs(7, 3)), Critical(0.385, 0.41, 2.1463)),
    }
)
HALVES: Final[Levels] = (runs(4, 4, 4, 4), runs(8, 8))


def random_profiles(chance: np.random.Generator) -> Profiles:
    """Draw the random profiles, one a row."""
    return chance.dirichlet(np.full(LEAVES, CONCENTRATION), RANDOM_PROFILES)


def generalisation_section(mechanism: Mechanism, chance: np.random.Generator) -> Iterator[Block]:
    """Yield the toy hierarchies and the random profiles against forgery and suppression."""
    yield Heading("Optimal generalisation of profiles")
    yield _toys(mechanism)
    profiles = random_profiles(chance)
    found = {way: [mechanism.entropies(way, profiles, HALVES, rate) for rate in RATES] for way in WAYS}
    yield Paragraph(
        f"{RANDOM_PROFILES} random profiles of {LEAVES} leaves, in fours and halves. A rate is the share of items that "
        "are generalised, forged or suppressed; the entropy is what an observer sees, against ln 16 of a flat profile."
    )
    yield _means(found)
    yield _curves(found)


def _toys(mechanism: Mechanism) -> Table:
    rows = []
    for name, (levels, expected) in TOYS.items():
        own = mechanism.critical(TOY, levels)
        ours = [f"{own.rate:.4f}", f"{own.bound:.4f}", f"{own.entropy:.4f}"]
        rows.append([name, *ours, f"{expected.rate:.3f}", f"{expected.bound:.2f}", f"{expected.entropy:.4f}"])
    columns = ["groups", "critical rate", "closed form", "entropy there", "known rate", "known bound", "known entropy"]
    return Table("The toy hierarchies of Gil et al. 2025", columns, rows)


def _means(found: Mapping[Way, Sequence[Profiles]]) -> Table:
    rows = [
        [f"{rate:.2f}", *(f"{_relative(found[way][place]):.4f}" for way in WAYS)] for place, rate in enumerate(RATES)
    ]
    return Table("Mean entropy over ln 16 by rate", ["rate", *WAYS.values()], rows)


def _curves(found: Mapping[Way, Sequence[Profiles]]) -> Figure:
    lines = [Line(name, RATES, [_relative(values) for values in found[way]]) for way, name in WAYS.items()]
    low = min(min(line.ys) for line in lines)
    svg = line_chart(
        "Entropy by rate",
        lines,
        x_title="rate: share of items that are changed",
        y_title="mean entropy / ln 16",
        x=(0.0, RATES[-1]),
        y=(np.floor(10 * low) / 10, 1.0),
    )
    return Figure("generalisation", "What an observer's entropy gains by generalisation, forgery and suppression.", svg)


def _relative(entropies: Profiles) -> float:
    return float(entropies.mean() / np.log(LEAVES))
