"""Rank tables: features as dense ranks and a label as codes, which is all that a utility study is told of a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.metrics.survival import label_text
from pratique_shared.contracts.policy import STAR
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.utility import RARE_LABEL

Codes: TypeAlias = npt.NDArray[np.int32]

MOST_RECORDS: Final = 50_000  # 400 trees of that many take half a minute and 900 MB at worst
OTHER: Final = "Other"


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranks of shape (rows, features + 1), the label last; `labels` are its names by code, in the order of names.

    `unlabelled` rows had no label and are not among them.
    """

    codes: Codes = field(repr=False)
    labels: tuple[str, ...]
    unlabelled: int


def ranked(table: pl.DataFrame, features: Sequence[str], label: str) -> Ranked:
    """Rank every feature over all rows of the table and code the label (Kekatos et al. 2026, §V-G).

    Only order and equality of values leave; a null comes first. Labels that fewer than six records have become
    `Other`; null, "", [] and `*` are no label. Rows are sorted by their codes, so that their order says nothing about
    the source and no result depends on it.

    Raises `Unprocessable`: `column-unknown`, `feature-type`, `table-too-large`, `too-few-labels`.
    """
    _check(table, features, label)
    names = [label_text(value) for value in table[label].to_list()]
    there = np.array([name not in ("", STAR, f'["{STAR}"]') for name in names], dtype=np.bool_)
    coded, labels = _collapsed([name for name, counts in zip(names, there, strict=True) if counts])
    if len(labels) < 2:
        detail = f"A classifier needs two labels at least; give records of two labels with {RARE_LABEL} or more each."
        raise Unprocessable("too-few-labels", detail)
    labelled = table.filter(pl.Series(there))
    columns = [_dense_ranks(labelled[name]) for name in features]
    codes = np.column_stack([*columns, coded]).astype(np.int32)
    return Ranked(codes[np.lexsort(codes.T)], labels, int((~there).sum()))


def _check(table: pl.DataFrame, features: Sequence[str], label: str) -> None:
    wanted = (*features, label)
    if not features or len(set(wanted)) < len(wanted) or not set(wanted) <= set(table.columns):
        raise Unprocessable("column-unknown", "Name features and a label, each once, that the source has as columns.")
    if any(isinstance(table.schema[name], pl.List) for name in features):
        raise Unprocessable("feature-type", "A list has no order: name features that hold numbers, text or booleans.")
    if table.height > MOST_RECORDS:
        detail = f"A utility study takes at most {MOST_RECORDS} records: give fewer sources."
        raise Unprocessable("table-too-large", detail)


def _collapsed(names: Sequence[str]) -> tuple[Codes, tuple[str, ...]]:
    support = Counter(names)
    kept = [name if support[name] >= RARE_LABEL else OTHER for name in names]
    labels = tuple(sorted(set(kept)))
    code = {name: position for position, name in enumerate(labels)}
    return np.array([code[name] for name in kept], dtype=np.int32), labels


def _dense_ranks(column: pl.Series) -> Codes:
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype == pl.Null:
        return np.zeros(len(column), np.int32)
    ranks: Codes = column.rank("dense").fill_null(0).to_numpy().astype(np.int32)
    return ranks
