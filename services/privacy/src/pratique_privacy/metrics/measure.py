"""The figures of one table on one set of quasi-identifiers (Kekatos et al. 2026, §IV-B and §IV-D)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import polars as pl

from pratique_privacy.metrics.cells import cells_of
from pratique_privacy.metrics.closeness import ordered_distance, total_variation
from pratique_privacy.metrics.diversity import distinct_l, entropy_l
from pratique_privacy.metrics.index import posture_index
from pratique_privacy.metrics.sensitive import Categories, FixedBins, Sensitive
from pratique_shared.contracts.posture import AllColumns, Metrics, PpiParameters, SensitiveMetrics
from pratique_shared.frames.partition import Codes, Counts, class_labels, class_sizes, column_codes, with_dropped


@dataclass(frozen=True)
class SensitiveFigures:
    """Diversity and closeness of one sensitive attribute, closeness unrounded."""

    l: int  # noqa: E741 - its name
    l_entropy: float
    t: Fraction
    t_ordered: Fraction | None

    def rounded(self) -> SensitiveMetrics:
        """Return the figures as they are reported."""
        return SensitiveMetrics(
            l=self.l, l_entropy=self.l_entropy, t=float(self.t), t_ordered=_float_or_none(self.t_ordered)
        )


def measure(
    table: pl.DataFrame,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    ppi: PpiParameters,
    ordered: Mapping[str, Sequence[str | float]] = MappingProxyType({}),
    bins: Mapping[str, FixedBins] = MappingProxyType({}),
) -> Metrics:
    """Return every figure of the table; without rows all are null but the counts.

    Every row counts, those with suppressed cells too: `*` is a value like any other. A quasi-identifier or sensitive
    attribute that the table lacks was dropped and counts as the constant `*`. Several sensitive attributes: each, and
    the worst of them. No figure depends on the order of rows, columns or values, to the last bit.
    """
    if not table.height:
        return _no_rows(sensitive)
    labels = classes_of(table, quasi_identifiers)
    sizes = class_sizes(labels)
    reading = Sensitive(ordered, bins)
    figures = {name: _figures(labels, sizes, reading.categories(table, name)) for name in sensitive}
    return _metrics(sizes, figures, ppi)


def classes_of(table: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """Return the class of every row over `columns`."""
    return class_labels(column_codes(with_dropped(table, columns), columns))


def all_columns(table: pl.DataFrame, columns: Sequence[str]) -> AllColumns:
    """Return classes and uniques over `columns`: what a recipient who knows every one of them could single out."""
    if not table.height:
        return AllColumns(classes=None, uniques=None)
    sizes = class_sizes(classes_of(table, columns))
    return AllColumns(classes=sizes.size, uniques=int((sizes == 1).sum()))


def _figures(labels: Codes, sizes: Counts, categories: Categories) -> SensitiveFigures:
    cells = cells_of(labels, sizes, categories)
    least = distinct_l(cells, categories.empty)
    return SensitiveFigures(
        l=least,
        l_entropy=entropy_l(cells, categories.empty, least),
        t=total_variation(cells),
        t_ordered=ordered_distance(cells) if categories.ordered else None,
    )


def _metrics(sizes: Counts, figures: Mapping[str, SensitiveFigures], ppi: PpiParameters) -> Metrics:
    rows, classes, k = int(sizes.sum()), sizes.size, int(sizes.min())
    k_rw = Fraction(int(np.dot(sizes, sizes)), rows)
    least = min((own.l for own in figures.values()), default=None)
    t = _worst(own.t for own in figures.values())
    summaries: tuple[Fraction | None, Fraction | None] = (None, None)
    if least is not None and t is not None:
        summaries = (posture_index(Fraction(k), least, t, ppi), posture_index(k_rw, least, t, ppi))
    return Metrics(
        rows=rows,
        classes=classes,
        k=k,
        l=least,
        l_entropy=min((own.l_entropy for own in figures.values()), default=None),
        t=_float_or_none(t),
        t_ordered=_float_or_none(_worst(own.t_ordered for own in figures.values())),
        k_rw=float(k_rw),
        granularity=classes / rows,
        exact_reid=classes / rows,
        max_risk=1 / k,
        uniques=int((sizes == 1).sum()),
        share_below_k=int(sizes[sizes < ppi.k_target].sum()) / rows,
        ppi=_float_or_none(summaries[0]),
        ppi_prime=_float_or_none(summaries[1]),
        by_sensitive={name: own.rounded() for name, own in figures.items()},
    )


def _no_rows(sensitive: Sequence[str]) -> Metrics:
    nothing = SensitiveMetrics(l=None, l_entropy=None, t=None, t_ordered=None)
    return Metrics(
        rows=0,
        classes=0,
        k=None,
        l=None,
        l_entropy=None,
        t=None,
        t_ordered=None,
        k_rw=None,
        granularity=None,
        exact_reid=None,
        max_risk=None,
        uniques=None,
        share_below_k=None,
        ppi=None,
        ppi_prime=None,
        by_sensitive=dict.fromkeys(sensitive, nothing),
    )


def _worst(distances: Iterable[Fraction | None]) -> Fraction | None:
    return max((distance for distance in distances if distance is not None), default=None)


def _float_or_none(figure: Fraction | None) -> float | None:
    return None if figure is None else float(figure)
