"""A utility study: what a classifier still learns of what suppression leaves (Kekatos et al. 2026, §V-G)."""

from typing import Annotated

from pydantic import Field

from pratique_shared.contracts.model import Contract

PAPER_TAUS = (1, 2, 3, 5, 8, 12)  # Table V
PAPER_TREES = 400
PAPER_TEST_SHARE = 0.3
PAPER_REPEATS = 1  # one fixed split
RARE_LABEL = 6  # labels that fewer records have become one
EDGE_LABELS = 2  # "the two rarest roles"

Tau = Annotated[int, Field(ge=1, le=1_000_000)]


class UtilityTask(Contract):
    """How a table of ranks is learnt from: thresholds, repeated splits, the forest.

    `exempt_rarest` > 0 runs every threshold once more with the records of so many rarest labels kept.
    """

    taus: tuple[Tau, ...] = Field(default=PAPER_TAUS, min_length=1, max_length=50)
    repeats: int = Field(default=20, ge=1, le=1000)
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    exempt_rarest: int = Field(default=0, ge=0, le=1000)
    trees: int = Field(default=PAPER_TREES, ge=1, le=2000)
    test_share: float = Field(default=PAPER_TEST_SHARE, gt=0, lt=1)


class UtilityUnit(Contract):
    """One piece of the work: a split, and one threshold on it. Units need nothing of each other."""

    repeat: int = Field(ge=0)
    tau: int = Field(ge=1)
    exempt_rarest: int = Field(default=0, ge=0)

    @property
    def task(self) -> str:
        """The name of its task and of its fact."""
        return f"utility/{self.repeat}-{self.tau}-{self.exempt_rarest}"


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
