"""Utility figures: what the units of a study say together."""

import math
from collections.abc import Iterable, Mapping, Sequence

from pratique_shared.contracts.utility import (
    UtilityInterval,
    UtilityRow,
    UtilityScored,
    UtilityTask,
    units_of,
)
from pratique_shared.frames.estimates import t95


def combine_units(task: UtilityTask, scores: Iterable[UtilityScored]) -> tuple[UtilityRow, ...]:
    """Put the units of a study together, a row for each threshold asked for, in whatever order they come.

    Raises ValueError unless every unit has exactly one score.
    """
    found = list(scores)
    by_unit = {score.unit: score for score in found}
    units = units_of(task)
    if len(found) != len(units) or by_unit.keys() != set(units):
        raise ValueError("the scores are not those of the units of this study")
    baseline = [by_unit[unit] for unit in units if unit.tau == 1]
    variants = dict.fromkeys((unit.tau, unit.exempt_rarest) for unit in units if unit.tau in task.taus)
    return tuple(
        _row([by_unit[unit] for unit in units if (unit.tau, unit.exempt_rarest) == variant], baseline)
        for variant in variants
    )


def _row(scores: Sequence[UtilityScored], baseline: Sequence[UtilityScored]) -> UtilityRow:
    figures: Mapping[str, list[float]] = {
        "survival": [one.trained / one.training for one in scores],
        "macro_f1": [one.macro_f1 for one in scores],
        "accuracy": [one.accuracy for one in scores],
        "edge_recall": [one.edge_recall for one in scores],
        "f1_retained": [
            one.macro_f1 / base.macro_f1 for one, base in zip(scores, baseline, strict=True) if base.macro_f1
        ],
    }
    means = {name: math.fsum(values) / len(values) for name, values in figures.items() if values}
    test_to_training = scores[0].test / scores[0].training
    intervals = {name: resampled_interval(values, test_to_training) for name, values in figures.items()}
    for name in intervals.keys() - {"f1_retained"}:  # that one alone may exceed 1
        if (interval := intervals[name]) is not None:
            intervals[name] = interval[0], min(interval[1], 1.0)
    unit = scores[0].unit
    return UtilityRow(
        tau=unit.tau,
        exempt_rarest=unit.exempt_rarest,
        repeats=len(scores),
        untrained=sum(not one.trained for one in scores),
        f1_retained=means.get("f1_retained"),
        ci95=UtilityInterval(**intervals),
        **{name: mean for name, mean in means.items() if name != "f1_retained"},
    )


def resampled_interval(values: Sequence[float], test_to_training: float) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean over repeated random splits, cut at 0; None for fewer than two.

    Splits of the same records share most of them, so that the plain standard error is too small: the variance of the
    mean is (1/n + test/training) times that of the values (Nadeau and Bengio 2003, §3), with Student's t.
    """
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    reach = t95(count - 1) * math.sqrt((1 / count + test_to_training) * variance)
    return max(mean - reach, 0.0), mean + reach
