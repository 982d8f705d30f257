"""A utility study: what a classifier still learns of what suppression leaves (Kekatos et al. 2026, §V-G)."""

from typing import Annotated, Literal

from pydantic import Field

from pratique_shared.contracts.facts import Blob, Failure
from pratique_shared.contracts.model import Contract

PAPER_TAUS = (1, 2, 3, 5, 8, 12)  # Table V
PAPER_TREES = 400
PAPER_TEST_SHARE = 0.3
PAPER_REPEATS = 1  # one fixed split
RARE_LABEL = 6  # labels that fewer records have become one
EDGE_LABELS = 2  # "the two rarest roles"

SHARD = "utility/splits/"

Tau = Annotated[int, Field(ge=1, le=1_000_000)]


class UtilityTask(Contract):
    """How a table of ranks is learnt from: thresholds, repeated splits, the forest.

    `exempt_rarest` > 0 runs every threshold once more with the records of so many rarest labels kept.
    """

    taus: tuple[Tau, ...] = Field(default=PAPER_TAUS, min_length=1, max_length=50)
    repeats: int = Field(default=20, ge=1, le=1000)
    seed: int = Field(default=1, ge=0, lt=2**63)
    exempt_rarest: int = Field(default=0, ge=0, le=1000)
    trees: int = Field(default=PAPER_TREES, ge=1, le=2000)
    test_share: float = Field(default=PAPER_TEST_SHARE, gt=0, lt=1)


class UtilityUnit(Contract):
    """One piece of the work: a split, and one threshold on it. Units need nothing of each other."""

    repeat: int = Field(ge=0)
    tau: int = Field(ge=1)
    exempt_rarest: int = Field(default=0, ge=0)


class UtilityScored(Contract):
    """What the test part of a split says of a classifier that learnt what was left of the training part.

    `trained` is how many records it learnt from, out of `training`; from none it recognises nothing. Recall on the
    rarest labels is the mean over `EDGE_LABELS` of them.
    """

    unit: UtilityUnit
    training: int
    trained: int
    test: int
    macro_f1: float
    accuracy: float
    edge_recall: float


def units_of(task: UtilityTask) -> tuple[UtilityUnit, ...]:
    """Cut a study into units; tau = 1, which suppresses nothing, is always among them as the baseline."""
    exempt = (0, task.exempt_rarest) if task.exempt_rarest else (0,)
    variants = [(tau, rarest) for tau in sorted({1, *task.taus}) for rarest in (exempt if tau > 1 else (0,))]
    return tuple(
        UtilityUnit(repeat=repeat, tau=tau, exempt_rarest=rarest)
        for repeat in range(task.repeats)
        for tau, rarest in variants
    )


class UtilityPlan(Contract):
    """What the attack workers are told of a utility study: a table of ranks and how to learn from it."""

    kind: Literal["utility"] = "utility"
    matrix: Blob
    rows: int
    columns: int
    task: UtilityTask

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the shards, one a split."""
        return tuple(f"{SHARD}{repeat}-{repeat + 1}" for repeat in range(self.task.repeats))


class RepeatScored(Contract):
    """What all units of one split found; `error` stands where they failed for good."""

    matrix_sha256: str
    scores: tuple[UtilityScored, ...] = ()
    error: Failure | None = None


class UtilityInterval(Contract):
    """95 % intervals of the figures of a row; null for one split, and where a figure is null."""

    survival: tuple[float, float] | None
    macro_f1: tuple[float, float] | None
    accuracy: tuple[float, float] | None
    edge_recall: tuple[float, float] | None
    f1_retained: tuple[float, float] | None


class UtilityRow(Contract):
    """One row of Table V: means over the splits. `untrained` splits had nothing left to learn from.

    `f1_retained` is macro-F1 over that of tau = 1 in the same split; null when that one is 0.
    """

    tau: int
    exempt_rarest: int
    repeats: int
    untrained: int
    survival: float
    macro_f1: float
    accuracy: float
    edge_recall: float
    f1_retained: float | None
    ci95: UtilityInterval
