"""A trial: a table before and after a policy, as `POST /preview` answers it; nothing of it is kept."""

from typing import Any

import polars as pl

from pratique_privacy.metrics.measure import classes_of
from pratique_privacy.pipeline import Measurement
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.frames.partition import class_sizes
from pratique_shared.frames.records import rows_of


def trial_document(source: pl.DataFrame, made: Measurement, attributes: Attributes, rows: int) -> dict[str, Any]:
    """Return figures over the whole table, and of its first `rows` records those on both sides.

    `kept` says of each row after which record of the source it was, `class_sizes` how large its class is.
    """
    kept = made.transformed.kept
    shown = kept < rows
    columns = [name for name in source.columns if name in made.table.columns]
    sizes = class_size_of_each(made.table, attributes)
    return {
        "before": {
            "metrics": made.before.model_dump(mode="json"),
            "rows": rows_of(source.select(columns).head(rows)),
        },
        "after": {
            "metrics": made.after.model_dump(mode="json"),
            "rows": rows_of(made.table.filter(pl.Series(shown))),
        },
        "kept": kept[shown].tolist(),
        "class_sizes": [size for size, is_shown in zip(sizes, shown.tolist(), strict=True) if is_shown],
        "distinct": {
            name: {"before": _distinct(source, name), "after": _distinct(made.table, name)} for name in columns
        },
        "records": made.records.model_dump(mode="json"),
        "all_columns": made.all_columns.model_dump(mode="json"),
        "flags": made.flags,
        "findings": [finding.model_dump(mode="json") for finding in made.findings],
        "attributes": attributes.model_dump(mode="json"),
    }


def class_size_of_each(table: pl.DataFrame, attributes: Attributes) -> list[int]:
    """Return for each row how many rows share its quasi-identifiers."""
    if not table.height:
        return []
    labels = classes_of(table, attributes.quasi_identifiers)
    sizes: list[int] = class_sizes(labels)[labels].tolist()
    return sizes


def _distinct(table: pl.DataFrame, column: str) -> int:
    return int(classes_of(table, [column]).max()) + 1 if table.height else 0
