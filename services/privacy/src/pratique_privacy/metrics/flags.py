"""Flags: what a reader must know before trusting the figures of a release."""

from collections.abc import Mapping, Sequence

import polars as pl

from pratique_privacy.metrics.sensitive import FixedBins, Sensitive
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import STAR
from pratique_shared.contracts.posture import Metrics
from pratique_shared.frames.partition import coded

FEW_ROWS = 30
FEW_CLASSES = 3


def flags(
    table: pl.DataFrame,
    after: Metrics,
    attributes: Attributes,
    *,
    bins: Mapping[str, FixedBins],
    survival_by_label: Mapping[str, float],
    labels_lost: bool = False,
    no_gate: bool = False,
    formulas: bool = False,
) -> tuple[str, ...]:
    """Return the flags of a released table, in a fixed order.

    `trivial_t`: a sensitive attribute is constant, or there is one class; `few_classes`: fewer than 30 rows or 3
    classes; `suppressed_sa`: a sensitive cell or column is gone; `identifying_insensitive`: see below;
    `rare_labels_lost`: a label that the source had is in no row, or in too few to be learnt any more; `no_gate`;
    `empty_release`, beside which only `rare_labels_lost` and `no_gate` still say anything;
    `formulas_neutralised`: cells that a spreadsheet would run were given an apostrophe.
    """
    there = after.rows > 0
    raised = {
        "empty_release": not there,
        "trivial_t": there and _trivial_closeness(table, after, attributes.sensitive, Sensitive({}, bins)),
        "few_classes": there and (after.rows < FEW_ROWS or after.classes < FEW_CLASSES),
        "suppressed_sa": there and any(_suppressed(table, name) for name in attributes.sensitive),
        "identifying_insensitive": bool(identifying(table, attributes.insensitive)),
        "rare_labels_lost": labels_lost or 0.0 in survival_by_label.values(),
        "no_gate": no_gate,
        "formulas_neutralised": formulas,
    }
    return tuple(name for name, up in raised.items() if up)


def identifying(table: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return those of `columns` in which more than half of the values stand in one row only: fingerprints beside any k.

    A packet count or a first-seen time does that. Nulls are no values; a column that was dropped is none either.
    """
    return [name for name in columns if name in table.columns and _mostly_unique(table[name])]


def _mostly_unique(column: pl.Series) -> bool:
    values = column.drop_nulls()
    if not len(values):
        return False
    found = coded(values)
    uniques = int((pl.Series(found.codes).value_counts()["count"] == 1).sum())
    return 2 * uniques > len(values)


def _trivial_closeness(table: pl.DataFrame, after: Metrics, sensitive: Sequence[str], reading: Sensitive) -> bool:
    if not sensitive:
        return False
    return after.classes == 1 or any(reading.categories(table, name).count == 1 for name in sensitive)


def _suppressed(table: pl.DataFrame, name: str) -> bool:
    if name not in table.columns:
        return True
    column = table[name]
    if isinstance(column.dtype, pl.List):
        return bool(column.list.contains(STAR).any())
    return column.dtype == pl.String and bool((column == STAR).any())
