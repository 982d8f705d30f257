"""The adversaries of a release and their parameters (Kekatos et al. 2026, §V-A and §V-E)."""

from typing import Literal

from pydantic import Field

from pratique_shared.contracts.model import Contract

AdversaryName = Literal["partial_qi", "linkage"]
DEFAULT_REPETITIONS = 20  # §V-E


class PartialQi(Contract):
    """Knows the quasi-identifiers of a target, each forgotten with probability `forget`."""

    forget: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)


class Linkage(Contract):
    """Observes each quasi-identifier right with probability `accuracy`, else a value drawn from the column's domain."""

    accuracy: float = Field(default=0.8, ge=0, le=1, allow_inf_nan=False)
    wrong_value: Literal["uniform", "exclude"] = "uniform"


class Attacks(Contract):
    """Which adversaries are run, how often, and from which seed."""

    partial_qi: PartialQi | None = PartialQi()
    linkage: Linkage | None = Linkage()
    repetitions: int = Field(default=DEFAULT_REPETITIONS, ge=1, le=10_000)
    seed: int = Field(default=1, ge=0, lt=2**63)
