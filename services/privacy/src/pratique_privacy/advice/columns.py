"""A class for each column to start from: by name, then by the shape of its values (Kekatos et al. 2026, §IV-A).

What outsiders know and what people keep to themselves stands in no table: the reader decides, and each answer names
the rule that it comes from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import polars as pl
from pydantic import JsonValue

from pratique_privacy.advice.names import NameRule, rule_of
from pratique_privacy.advice.shapes import (
    FEW_VALUES,
    Shape,
    counts_up,
    distinct_count,
    mostly_distinct,
    shape_of,
)
from pratique_privacy.advice.widths import usual_width
from pratique_privacy.metrics.flags import identifying
from pratique_privacy.policy.applicability import kinds_of
from pratique_shared.contracts.attributes import MAX_QUASI_IDENTIFIERS, ColumnClass
from pratique_shared.contracts.policy import Bin, DropColumn, Hmac, IpPrefix, Step, TimeBucket
from pratique_shared.frames.records import type_word

# Values that name a person or a device whatever their column is called.
_TELLING: dict[Shape, tuple[str, str]] = {
    "email": ("email-shaped", "its values look like e-mail addresses"),
    "mac": ("mac-shaped", "its values look like MAC addresses"),
    "phone": ("phone-shaped", "its values look like telephone numbers"),
    "subscriber": ("subscriber-shaped", "its values are written like subscriber or equipment identifiers of 5G"),
}
# Less telling ones: these count only where the name of the column says nothing.
_QUIET: dict[Shape, tuple[str, ColumnClass, str]] = {
    "empty": ("empty", "drop", "it holds nothing"),
    "constant": ("constant", "insensitive", "it is the same in every record and tells nobody apart"),
    "digits": ("imsi-shaped", "identifier", "numbers of 13 to 15 digits look like IMSI, IMEI or telephone numbers"),
    "address": ("address-shaped", "quasi_identifier", "its values are IP addresses, which are known outside the table"),
    "time": ("time-shaped", "quasi_identifier", "its values are times, and the time of an event can be observed"),
    "object": ("object", "drop", "its values are objects, whose parts together are a fingerprint"),
}
_MANY_NUMBERS = 10


@dataclass(frozen=True)
class ColumnAdvice:
    """A suggested class, the rule that it comes from and why; `step` is what a policy usually does to such a column."""

    column: str
    suggested: ColumnClass
    rule: str
    reason: str
    distinct: int
    step: Step | None = field(default=None, repr=False)

    def document(self) -> dict[str, JsonValue]:
        """Return the advice as `POST /classify` answers it."""
        step = None if self.step is None else self.step.model_dump(mode="json", exclude_none=True)
        return {
            "column": self.column,
            "class": self.suggested,
            "rule": self.rule,
            "reason": self.reason,
            "distinct": self.distinct,
            "step": step,
        }


def classify(table: pl.DataFrame) -> list[ColumnAdvice]:
    """Suggest a class for every column of a table, in order; no reason repeats a value."""
    return list(_within_limit([_advice(column) for column in table]))


def _advice(column: pl.Series) -> ColumnAdvice:
    shape, named = shape_of(column), rule_of(column.name)
    distinct = distinct_count(column)
    rule, suggested, reason = _ruling(column, shape, named)
    if named is not None and shape in ("empty", "constant") and suggested != "drop":
        reason += ", but here it holds nothing" if shape == "empty" else ", but here it is the same in every record"
    if suggested == "sensitive" and column.dtype.is_numeric() and distinct > _MANY_NUMBERS:
        reason += "; give it bins (sensitive_bins), else every number counts as a value of its own"
    step = _usual_step(column, suggested, shape)
    return ColumnAdvice(column.name, suggested, rule, f"{reason[0].upper()}{reason[1:]} ({rule}).", distinct, step)


def _ruling(column: pl.Series, shape: Shape, named: NameRule | None) -> tuple[str, ColumnClass, str]:
    """Return rule, class and reason: identifiers by name, telling values, then names, then what values look like."""
    if named is not None and named.suggested == "identifier":
        return f"name:{named.name}", "identifier", named.reason
    if shape in _TELLING:
        rule, reason = _TELLING[shape]
        return f"values:{rule}", "identifier", reason
    if named is not None and named.name == "pilot" and shape not in ("empty", "constant"):
        return "name:pilot", "quasi_identifier", "the records come from several networks, and this says which"
    if named is not None:
        return f"name:{named.name}", named.suggested, named.reason
    if shape in _QUIET:
        rule, suggested, reason = _QUIET[shape]
        return f"values:{rule}", suggested, reason
    return _by_spread(column)


def _by_spread(column: pl.Series) -> tuple[str, ColumnClass, str]:
    """Rule on plain values by how many of them stand in one record only."""
    if counts_up(column):
        return "values:row-counter", "identifier", "it counts the records: beside another table it names its subject"
    if column.dtype == pl.String and mostly_distinct(column):
        return "values:unique-text", "identifier", "nearly every record has a text of its own"
    if len(column) >= FEW_VALUES and identifying(column.to_frame(), [column.name]):
        return (
            "values:fingerprint",
            "drop",
            "most of its values stand in one record only: it is a fingerprint unless it is binned or rounded",
        )
    return (
        "values:shared",
        "quasi_identifier",
        "no rule knows its name, its values are shared by several records, and somebody may know them",
    )


def _usual_step(column: pl.Series, suggested: ColumnClass, shape: Shape) -> Step | None:
    name = column.name
    if suggested == "identifier":
        hmac = Hmac(column=name, op="hmac")
        return hmac if type_word(column.dtype) in kinds_of(hmac) else DropColumn(column=name, op="drop_column")
    if suggested != "quasi_identifier":
        return None
    if shape == "address":
        return IpPrefix(column=name, op="ip_prefix")
    if shape == "time":
        return TimeBucket(column=name, op="time_bucket", unit="hour")
    if column.dtype.is_numeric() and distinct_count(column) > _MANY_NUMBERS:
        return Bin(column=name, op="bin", width=usual_width(column))
    return None


def _within_limit(found: list[ColumnAdvice]) -> Iterator[ColumnAdvice]:
    """Set aside quasi-identifiers beyond the limit: those that no name speaks for first, then those of most values."""
    candidates = [advice for advice in found if advice.suggested == "quasi_identifier"]
    candidates.sort(key=lambda advice: (not advice.rule.startswith("name:"), advice.distinct))
    surplus = {advice.column for advice in candidates[MAX_QUASI_IDENTIFIERS:]}
    reason = f"It could be a quasi-identifier, but a release has at most {MAX_QUASI_IDENTIFIERS} (limit:too-many)."
    for advice in found:
        aside = advice.column in surplus
        yield replace(advice, suggested="drop", rule="limit:too-many", reason=reason, step=None) if aside else advice
