"""The gate: holds the figures of a release against its bounds, and fails closed."""

from collections.abc import Mapping
from math import inf, isfinite

from pratique_shared.contracts.gate import GATE_METRICS, Bound, Check, Gate, GateResult, Verdict
from pratique_shared.contracts.posture import AllColumns, AttackFigures, AttackResult, CompositionFigures, Metrics
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer

# What no table with a row goes below or above; other figures are at least 0 and have no greatest value.
LEAST = {"rows": 1, "classes": 1, "k": 1, "k_rw": 1, "composition.k": 1}
_SHARES = ("t", "t_ordered", "granularity", "exact_reid", "max_risk", "share_below_k", "ppi", "ppi_prime", "exact_qi")
_CHANCES = ("partial_qi", "linkage", "survival", "composition.exact_qi", "composition.partial_qi")
GREATEST = dict.fromkeys((*_SHARES, *_CHANCES), 1.0)
Figures = Mapping[str, float | None]


def figures_of(
    after: Metrics,
    whole: AllColumns,
    attacks: AttackFigures | None,
    survival: float | None,
    composition: CompositionFigures | None = None,
) -> dict[str, float | None]:
    """Return every figure that a gate may name; what was not computed is None.

    An adversary is held at its exact value where there is one, else at the upper end of its interval.
    """
    figures: dict[str, float | None] = after.model_dump(exclude={"by_sensitive"})
    figures |= {"survival": survival, "all_columns.uniques": whole.uniques}
    figures |= {"exact_qi": attacks.exact_qi if attacks else None}
    figures |= {"partial_qi": _held(attacks.partial_qi if attacks else None)}
    figures |= {"linkage": _held(attacks.linkage if attacks else None)}
    joined = {} if composition is None else composition.model_dump(exclude={"releases", "classes"})
    figures |= {f"composition.{name}": value for name, value in joined.items()}
    return figures


def evaluate(gate: Gate, figures: Figures, *, empty: bool = False) -> GateResult:
    """Return the checks and the verdict: fail if one fails, else indeterminate if one is, else pass.

    A figure that is missing, null, NaN or infinite is indeterminate. An `empty` release never passes, whatever its
    bounds: no rows prove nothing. It fails where a bound on its counts does, and is indeterminate otherwise.
    Raises `Unprocessable` (`gate-unknown-metric`).
    """
    check_metrics(gate)
    checks = tuple(check for metric, bound in gate.items() for check in _checks(metric, bound, figures.get(metric)))
    statuses = {check.status for check in checks}
    verdict: Verdict = "pass"
    if "fail" in statuses:
        verdict = "fail"
    elif empty or "indeterminate" in statuses:
        verdict = "indeterminate"
    return GateResult(verdict=verdict, checks=checks)


def tighten(request: Gate, floor: Gate) -> Gate:
    """Return the gate that asks for both: of each bound the stricter one. Bounds that exclude each other never pass."""
    return {metric: _stricter(request.get(metric), floor.get(metric)) for metric in dict.fromkeys([*request, *floor])}


def bounds_nothing(gate: Gate) -> bool:
    """Tell whether every release with a row would pass: no bounds, or only such as no table can break."""
    return all(
        (bound.min is None or bound.min <= LEAST.get(metric, 0))
        and (bound.max is None or bound.max >= GREATEST.get(metric, inf))
        for metric, bound in gate.items()
    )


def bounds_composition(gate: Gate) -> bool:
    """Tell whether the gate asks what this release says together with others of its recipient."""
    return any(metric.startswith("composition.") for metric in gate)


def check_metrics(gate: Gate, at: str = "/gate") -> None:
    """Raise `Unprocessable` (`gate-unknown-metric`) where the gate names what is not measured."""
    unknown = [metric for metric in gate if metric not in GATE_METRICS]
    if unknown:
        errors = [FieldError(at + pointer(metric), "no figure has this name") for metric in unknown]
        raise Unprocessable("gate-unknown-metric", "The gate bounds a figure that is not measured.", errors)


def _held(attack: AttackResult | None) -> float | None:
    if attack is None or attack.error is not None:
        return None
    if attack.exact is not None:
        return attack.exact
    return None if attack.ci95 is None else attack.ci95[1]


def _checks(metric: str, bound: Bound, value: float | None) -> list[Check]:
    # JSON has no NaN: what is no figure is reported as missing.
    value = value if value is not None and isfinite(value) else None
    checks: list[Check] = []
    if bound.min is not None:
        met = None if value is None else value >= bound.min
        checks.append(Check(metric=metric, op=">=", bound=bound.min, value=value, status=_status(met)))
    if bound.max is not None:
        met = None if value is None else value <= bound.max
        checks.append(Check(metric=metric, op="<=", bound=bound.max, value=value, status=_status(met)))
    return checks


def _status(met: bool | None) -> Verdict:
    if met is None:
        return "indeterminate"
    return "pass" if met else "fail"


def _stricter(one: Bound | None, other: Bound | None) -> Bound:
    bounds = [bound for bound in (one, other) if bound is not None]
    return Bound(
        min=max((bound.min for bound in bounds if bound.min is not None), default=None),
        max=min((bound.max for bound in bounds if bound.max is not None), default=None),
    )
