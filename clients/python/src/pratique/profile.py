"""The profile: bounds that a pipeline asks for by itself, whatever gate a release was made with."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pratique.errors import LocalFault
from pratique.exchange import Json, written

Verdict = Literal["pass", "fail", "indeterminate"]
Side = Literal["min", "max"]

# In which direction a bare number bounds: figures of which more is safer, and figures of which less is.
AT_LEAST = ("rows", "k", "l", "l_entropy", "k_rw", "ppi", "ppi_prime", "survival", "composition.k")
AT_MOST = (
    "t",
    "t_ordered",
    "granularity",
    "exact_reid",
    "max_risk",
    "uniques",
    "share_below_k",
    "exact_qi",
    "partial_qi",
    "linkage",
    "all_columns.uniques",
    "composition.uniques",
    "composition.exact_qi",
    "composition.partial_qi",
)
METRICS = frozenset((*AT_LEAST, *AT_MOST, "classes"))
OPERATORS: dict[Side, str] = {"min": ">=", "max": "<="}


@dataclass(frozen=True)
class Bound:
    """One figure and the least or greatest value that it may have."""

    metric: str
    side: Side
    value: float

    def check(self, figure: float | None) -> Json:
        """Hold a figure, as a check of the service's own gate reads; a missing one is indeterminate."""
        status: Verdict = "indeterminate"
        if figure is not None:
            met = figure >= self.value if self.side == "min" else figure <= self.value
            status = "pass" if met else "fail"
        named = {"metric": self.metric, "op": OPERATORS[self.side], "bound": self.value}
        return {**named, "value": figure, "status": status}


@dataclass(frozen=True, init=False)
class Profile:
    """A named set of bounds: `Profile(k=5, linkage=0.3)`, or `Profile({"t": {"max": 0.5}}, name="round")`.

    A bare number bounds in the direction in which a figure is safe: k at least 5, linkage at most 0.3. Raises
    LocalFault for a figure that no posture has, a bound that is no finite number, a profile that bounds nothing.
    """

    bounds: tuple[Bound, ...]
    name: str

    def __init__(
        self, gate: Mapping[str, Any] | None = None, /, *, name: str = "profile", **bounds: float | Mapping[str, float]
    ) -> None:
        asked = {**(gate or {}), **bounds}
        found = tuple(bound for metric, value in asked.items() for bound in _bounds(metric, value))
        if not found:
            raise LocalFault("profile-empty", f"The {name} bounds nothing, so everything would pass it.")
        object.__setattr__(self, "bounds", found)
        object.__setattr__(self, "name", name)

    @classmethod
    def load(cls, path: str | Path) -> "Profile":
        """Read a profile from a .toml or .json file: bounds at its top, or under `gate` as in a stored policy."""
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
            document = tomllib.loads(text) if file.suffix.lower() == ".toml" else written(text)
        except OSError as error:
            raise LocalFault("profile-unreadable", f"The profile {file} cannot be read: {error.strerror}.") from None
        except ValueError:
            detail = f"The profile {file} is neither TOML nor JSON in which each name stands once."
            raise LocalFault("profile-unreadable", detail) from None
        return cls.of(document, file.name)

    @classmethod
    def of(cls, document: object, name: str = "profile") -> "Profile":
        """Take the bounds of a document: its `gate`, such as a stored policy brings along, or its own members."""
        bounds = document.get("gate", document) if isinstance(document, dict) else None
        if not isinstance(bounds, dict):
            raise LocalFault("profile-empty", f"The {name} holds no bounds.")
        return cls(bounds, name=name)

    def checks(self, posture: Json) -> list[Json]:
        """Hold every bound against a posture; what is missing, null or no finite number is indeterminate."""
        return [bound.check(figure(posture, bound.metric)) for bound in self.bounds]


def verdict_of(checks: list[Json]) -> Verdict:
    """Return pass only if every check says so."""
    statuses = {check.get("status") for check in checks}
    if "fail" in statuses:
        return "fail"
    return "pass" if statuses <= {"pass"} else "indeterminate"


def figure(posture: Json, metric: str) -> float | None:
    """Return a figure as a gate holds it: an adversary at its exact value, else at the upper end of its interval."""
    group, _, name = metric.rpartition(".")
    if group:
        return _finite(_within(posture, group, name))
    if metric == "survival":
        return _finite(_within(posture, "records", metric))
    if metric not in ("exact_qi", "partial_qi", "linkage"):
        return _finite(_within(posture, "after", metric))
    found = _within(posture, "attacks", metric)
    if not isinstance(found, dict):
        return _finite(found)
    if found.get("error") is not None:
        return None
    if found.get("exact") is not None:
        return _finite(found["exact"])
    interval = found.get("ci95")
    return _finite(interval[-1]) if isinstance(interval, list) and interval else None


def _within(posture: Json, group: str, name: str) -> object:
    members = posture.get(group)
    return members.get(name) if isinstance(members, dict) else None


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond what a float holds
        return None


def _bounds(metric: str, asked: object) -> list[Bound]:
    if metric not in METRICS:
        raise LocalFault(
            "metric-unknown", f"No posture has a figure {metric!r}: there are {', '.join(sorted(METRICS))}."
        )
    if not isinstance(asked, Mapping):
        if metric not in (*AT_LEAST, *AT_MOST):
            raise LocalFault("bound-wrong", f"Say which side of {metric} is bound: {{'min': ..}} or {{'max': ..}}.")
        asked = {"min" if metric in AT_LEAST else "max": asked}
    found: list[Bound] = []
    for side, value in asked.items():
        number = _finite(value)
        if value is None and side in OPERATORS:
            continue  # a stored policy writes the side that it does not bind as null
        if side not in OPERATORS or number is None:
            raise LocalFault("bound-wrong", f"The bound of {metric} must be a finite number under min or max.")
        found.append(Bound(metric, "min" if side == "min" else "max", number))
    if not found:
        raise LocalFault("bound-wrong", f"Nothing bounds {metric}: give min or max.")
    return found
