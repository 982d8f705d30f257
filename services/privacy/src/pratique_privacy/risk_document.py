"""The risk of a release as `GET /releases/{id}/risk` tells it: by class, by subset, by attribute, by record."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from pratique_privacy.metrics.risk import (
    TARGETS,
    distinct_counts,
    risk_quantiles,
    share_below,
    size_histogram,
    smallest_classes,
    typical_record,
    worst_record,
)
from pratique_privacy.metrics.singling import Singling, singling
from pratique_shared.frames.partition import class_labels, class_sizes, column_codes
from pratique_shared.frames.records import rows_of

SMALLEST_CLASSES = 20
MOST_SETS = 10  # minimal sets told of one record


def risk_document(table: pl.DataFrame, names: Sequence[str], by: Sequence[str], k_target: int) -> dict[str, Any]:
    """Return the aspects asked for, over the quasi-identifiers `names`, all of which the table has.

    Only `record` holds values. `cut` stands beside `subset` and `attribute` where not every subset was looked at.
    """
    view = _View(table, tuple(names))
    made: dict[str, Any] = {}
    for aspect in by:
        match aspect:
            case "class":
                made[aspect] = view.classes(k_target)
            case "subset":
                made[aspect] = view.subsets()
            case "attribute":
                made[aspect] = view.attributes()
            case _:
                made[aspect] = view.records()
    if {"subset", "attribute"} & set(by) and view.singling.largest < len(names):
        made["cut"] = {"largest_subset": view.singling.largest, "columns": len(names)}
    return made


class _View:
    """A table with its classes, and the search for minimal sets once it is needed."""

    def __init__(self, table: pl.DataFrame, names: tuple[str, ...]) -> None:
        self._table, self._names = table, names
        self._codes = column_codes(table, names)
        self._labels = class_labels(self._codes)
        self._sizes = class_sizes(self._labels) if table.height else np.zeros(0, np.int64)

    @cached_property
    def singling(self) -> Singling:
        return singling(self._codes)

    def classes(self, k_target: int) -> dict[str, Any]:
        rows, sizes = self._table.height, self._sizes
        worst, typical = worst_record(sizes), typical_record(sizes)
        below = {found.k: found for found in share_below(sizes, (*TARGETS, k_target))}
        return {
            "histogram": [asdict(bar) for bar in size_histogram(sizes)],
            "share_below_k": below[k_target].share if rows else None,
            "k_target": k_target,
            "below": [asdict(found) for found in below.values()] if rows else [],
            "quantiles": [asdict(found) for found in risk_quantiles(sizes)],
            "worst": None if worst is None else asdict(worst),
            "typical": None if typical is None else asdict(typical),
        }

    def subsets(self) -> list[dict[str, Any]]:
        return [
            {
                "columns": self._named(e.subset),
                "distinct": e.distinct,
                "exposure": e.share,
                "uniques": e.uniques,
                "minimal_uniques": e.minimal,
            }
            for e in self.singling.exposures
        ]

    def attributes(self) -> list[dict[str, Any]]:
        parts = dict(zip(self._names, self.singling.parts(), strict=True))
        found = []
        for name, distinct in distinct_counts(self._table).items():
            told: dict[str, Any] = {"column": name, "distinct": distinct}
            if (part := parts.get(name)) is not None:
                told |= {"minimal_uniques": part.minimal, "minimal_share": part.minimal_share}
                told |= {"singled_rows": part.rows, "singled_share": part.rows_share}
            found.append(told)
        return found

    def records(self) -> list[dict[str, Any]]:
        found = []
        for small in smallest_classes(self._labels, SMALLEST_CLASSES):
            values = rows_of(self._table.select(self._names).slice(small.first_row, 1))[0]
            told: dict[str, Any] = {"size": small.size, "values": values}
            if small.size == 1:
                sets = self.singling.sets_of(small.first_row)
                told["singled_by"] = [self._named(subset) for subset in sets[:MOST_SETS]]
            found.append(told)
        return found

    def _named(self, subset: Sequence[int]) -> list[str]:
        return [self._names[place] for place in subset]
