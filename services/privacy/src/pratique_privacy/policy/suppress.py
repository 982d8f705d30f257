"""Suppression: cells, rare values, and rows in small classes."""

import numpy as np
import numpy.typing as npt
import polars as pl

from pratique_privacy.policy.cells import Cell, distinct_cells, is_star, starred, text_of
from pratique_shared.contracts.policy import STAR, Exemption
from pratique_shared.frames.partition import class_labels, class_sizes, coded, column_codes

Kept = npt.NDArray[np.bool_]


def suppress_cells(column: pl.Series) -> pl.Series:
    """Replace every value by `*` (Kekatos et al. 2026, §IV-C); a null stays, since nothing is there to hide."""
    return starred(column, column.is_not_null())


def suppress_rare(column: pl.Series, tau: int) -> pl.Series:
    """Replace by `*` every value that fewer than `tau` rows have (Kekatos et al. 2026, §IV-C).

    Support is counted in the column as it stands, in one pass. null and `*` count like any value, a list by the whole
    cell.
    """
    codes = coded(column).codes
    return starred(column, pl.Series(class_sizes(codes)[codes] < tau))


def rows_in_large_classes(
    table: pl.DataFrame, quasi_identifiers: list[str], tau: int, exempt: Exemption | None
) -> Kept:
    """Return which rows stay: those of classes of at least `tau` rows, and those with an exempt label.

    Classes are those of `table` as it stands (Kekatos et al. 2026, §V-D and §V-G). No quasi-identifier: one class.
    """
    labels = class_labels(column_codes(table, quasi_identifiers))
    kept: Kept = class_sizes(labels)[labels] >= tau
    return kept if exempt is None else kept | with_rarest_labels(table[exempt.column], exempt.rarest)


def with_rarest_labels(column: pl.Series, rarest: int) -> Kept:
    """Return which rows carry one of the `rarest` rarest labels, ties by name; null, "", [] and `*` are no labels."""
    cells, codes = distinct_cells(column)
    sizes = class_sizes(codes).tolist()
    ranked = sorted((sizes[code], _name(cell), code) for code, cell in enumerate(cells) if _is_label(cell))
    chosen = np.zeros(len(cells), dtype=np.bool_)
    chosen[[code for _, _, code in ranked[:rarest]]] = True
    return chosen[codes]


def _is_label(cell: Cell) -> bool:
    return cell is not None and cell not in ("", STAR, [], [STAR])


def _name(cell: Cell) -> list[str]:
    return cell if isinstance(cell, list) else [] if cell is None else [text_of(cell)]


def suppressed_share(table: pl.DataFrame) -> dict[str, float]:
    """Return the share of `*` among the cells of each column that has one."""
    counts = {column.name: int(is_star(column).sum()) for column in table}
    return {name: count / table.height for name, count in counts.items() if count}
