"""The gate: bounds that the figures of a release must meet before it may leave."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from pratique_shared.contracts.model import Contract

Verdict = Literal["pass", "fail", "indeterminate"]
Finite = Annotated[float, Field(allow_inf_nan=False)]

GATE_METRICS = (
    "rows",
    "classes",
    "k",
    "l",
    "l_entropy",
    "t",
    "t_ordered",
    "k_rw",
    "granularity",
    "exact_reid",
    "max_risk",
    "uniques",
    "share_below_k",
    "ppi",
    "ppi_prime",
    "exact_qi",
    "partial_qi",
    "linkage",
    "survival",
    "all_columns.uniques",
    "composition.k",
    "composition.uniques",
    "composition.exact_qi",
    "composition.partial_qi",
)


_GIVEN: list[JsonValue] = [{"required": [name], "properties": {name: {"type": "number"}}} for name in ("min", "max")]


class Bound(Contract):
    """At least `min`, at most `max`, both closed."""

    model_config = ConfigDict(json_schema_extra={"anyOf": _GIVEN})

    min: Finite | None = None
    max: Finite | None = None

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.min is None and self.max is None:
            raise ValueError("give min or max")
        return self


Gate = dict[str, Bound]
DEFAULT_GATE: Gate = {"k": Bound(min=2)}


class Check(Contract):
    """One bound held against one figure. A missing figure is `indeterminate`, never `pass`."""

    metric: str
    op: Literal[">=", "<="]
    bound: float
    value: float | None
    status: Verdict


class GateResult(Contract):
    """All checks of a release and what follows from them."""

    verdict: Verdict
    checks: tuple[Check, ...]
