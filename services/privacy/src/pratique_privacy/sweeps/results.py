"""Results of a sweep: everything that follows from its releases, as plain rows, CSV or Parquet."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

import numpy as np
import polars as pl

from pratique_privacy.sweeps.averages import Average, averages
from pratique_privacy.sweeps.correlation import RESAMPLES, Correlation, Correlations, Interval, Lead, correlate
from pratique_privacy.sweeps.figures import FIGURES, ReleaseFigures
from pratique_privacy.sweeps.findings import Finding, findings

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Cell]
Section: TypeAlias = Literal["releases", "averages", "correlations", "leads", "findings"]


@dataclass(frozen=True)
class SweepResults:
    """The releases of a sweep and what they come to; in every part the rows without a group are of all releases."""

    releases: tuple[ReleaseFigures, ...]
    averages: tuple[Average, ...]
    correlations: Correlations
    findings: tuple[Finding, ...]


def summarise(
    releases: Sequence[ReleaseFigures], chance: np.random.Generator, resamples: int = RESAMPLES
) -> SweepResults:
    """Return everything that follows from the releases (Kekatos et al. 2026, §V-E and §V-F)."""
    correlations = correlate(releases, chance, resamples)
    return SweepResults(
        tuple(releases), tuple(averages(releases)), correlations, tuple(findings(releases, correlations))
    )


def part_rows(results: SweepResults, part: Section) -> list[Row]:
    """Return one part as flat rows, all with the same keys, ready to be JSON."""
    match part:
        case "releases":
            return [_release(one) for one in results.releases]
        case "averages":
            return [_average(one) for one in results.averages]
        case "correlations":
            return [_correlation(one) for one in results.correlations.correlations]
        case "leads":
            return [_lead(one) for one in results.correlations.leads]
        case "findings":
            return [row for one in results.findings for row in _finding(one)]
        case _:
            assert_never(part)


def part_csv(results: SweepResults, part: Section) -> bytes:
    """Return one part as CSV with a header; what is unknown is an empty field."""
    return _table(results, part).write_csv().encode()


def part_parquet(results: SweepResults, part: Section) -> bytes:
    """Return one part as Parquet."""
    file = io.BytesIO()
    _table(results, part).write_parquet(file)
    return file.getvalue()


def _table(results: SweepResults, part: Section) -> pl.DataFrame:
    return pl.DataFrame(part_rows(results, part), infer_schema_length=None)


def _release(one: ReleaseFigures) -> Row:
    named: Row = {"group": one.group, "configuration": one.configuration, "source": one.source}
    return named | {name: one.figure(name) for name in FIGURES}


def _average(one: Average) -> Row:
    row: Row = {"group": one.group, "configuration": one.configuration, "releases": one.releases}
    for name, spread in one.figures.items():
        row |= {f"{name}_mean": spread.mean, f"{name}_sd": spread.sd}
    return row


def _correlation(one: Correlation) -> Row:
    named: Row = {"group": one.group, "index": one.index, "measure": one.measure, "releases": one.releases}
    return named | {"r": one.r} | _ends(one.ci95) | {"degenerate": one.degenerate}


def _lead(one: Lead) -> Row:
    named: Row = {"group": one.group, "measure": one.measure, "difference": one.difference}
    return named | _ends(one.ci95) | {"degenerate": one.degenerate}


def _finding(one: Finding) -> list[Row]:
    """One row a number, since findings rest on different ones."""
    named: Row = {"finding": one.name, "group": one.group, "measure": one.measure, "holds": one.holds}
    return [named | {"number": name, "value": value} for name, value in one.numbers.items()]


def _ends(interval: Interval | None) -> Row:
    low, high = (None, None) if interval is None else interval
    return {"ci95_low": low, "ci95_high": high}
