"""Situation: a release as the rules of advice see it, and the figures that a change is expected to give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, TypeVar

import polars as pl

from pratique_privacy.advice.columns import ColumnAdvice, classify
from pratique_privacy.advice.patches import Patch
from pratique_privacy.metrics.measure import classes_of
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.policy import (
    Bin,
    Cell,
    ClassSupport,
    CryptoPan,
    DropColumn,
    Hierarchy,
    Hmac,
    IpPrefix,
    Ipv4Shaped,
    Policy,
    ProtocolFamily,
    Quantile,
    Round,
    SaltedHash,
    Step,
    TableStep,
    TextPrefix,
    TimeBucket,
    Token,
    TopBottom,
)
from pratique_shared.contracts.posture import Metrics
from pratique_shared.frames.partition import Counts, class_sizes

GENERALISING = (IpPrefix, Bin, Quantile, TimeBucket, TextPrefix, ProtocolFamily, Hierarchy, Round, TopBottom)
PSEUDONYMISING = (Hmac, SaltedHash, Token, Ipv4Shaped, CryptoPan)
REMOVING = (Cell, DropColumn)

S = TypeVar("S", bound=Contract)


@dataclass(frozen=True)
class Predicted:
    """The figures of a release; `uniques`, rows that are alone in their class, helps to tell a gain behind k = 1."""

    k: int | None
    l: int | None  # noqa: E741 - its name
    t: float | None
    survival: float | None
    uniques: int | None = None


@dataclass(frozen=True)
class Proposal:
    """A change that a rule would make and why, before anyone has looked at what it does."""

    reason: str
    patch: Patch


# Changes to one place of a request, the mildest first: the first that helps is the one to make.
Group: TypeAlias = Sequence[Proposal]
Groups: TypeAlias = Iterator[Group]


@dataclass(frozen=True)
class Situation:
    """A release: what went in, what came out, what was asked, and its figures."""

    source: pl.DataFrame = field(repr=False)
    released: pl.DataFrame = field(repr=False)
    attributes: Attributes
    policy: Policy
    before: Metrics
    after: Metrics

    @cached_property
    def now(self) -> Predicted:
        """The figures as they are."""
        survival = self.after.rows / self.source.height if self.source.height else None
        return Predicted(self.after.k, self.after.l, self.after.t, survival, self.after.uniques)

    @cached_property
    def advice(self) -> dict[str, ColumnAdvice]:
        """What name and values say about each column of the source."""
        return {found.column: found for found in classify(self.source)}

    @cached_property
    def sizes(self) -> Counts:
        """The sizes of the equivalence classes of the release."""
        return class_sizes(classes_of(self.released, self.attributes.quasi_identifiers))

    def steps_on(self, column: str) -> list[tuple[int, Step]]:
        """Return the steps that name a column, each with its place."""
        return [(n, s) for n, s in enumerate(self.policy.steps) if not isinstance(s, TableStep) and s.column == column]

    def steps_of(self, kind: type[S]) -> list[tuple[int, S]]:
        """Return the steps of one kind, each with its place."""
        return [(place, step) for place, step in enumerate(self.policy.steps) if isinstance(step, kind)]

    def named(self, column: str) -> bool:
        """Say whether a step names a column, to change it or to exempt its labels."""
        exempting = [step.exempt.column for _, step in self.steps_of(ClassSupport) if step.exempt is not None]
        return bool(self.steps_on(column)) or column in exempting

    def generalised(self, column: str) -> bool:
        """Say whether a step makes a column coarser or takes it away."""
        return any(isinstance(step, (*GENERALISING, *REMOVING)) for _, step in self.steps_on(column))

    def pseudonyms_on(self, column: str) -> list[int]:
        """Return the places of the steps that put pseudonyms into a column."""
        return [place for place, step in self.steps_on(column) if isinstance(step, PSEUDONYMISING)]

    @property
    def raw_quasi_identifiers(self) -> list[str]:
        """The quasi-identifiers of which every value is still told from every other, in clear or by its pseudonym."""
        return [name for name in self.attributes.quasi_identifiers if not self.generalised(name)]
