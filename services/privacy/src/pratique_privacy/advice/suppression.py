"""Advice on tails and losses: rare values, small classes, rare labels, suppression that takes too much."""

import polars as pl

from pratique_privacy.advice.coarsening import HIGH_T, LOW_SURVIVAL, PREFIXES, aggregated, raw_addresses
from pratique_privacy.advice.patches import (
    Change,
    Patch,
    appended,
    apply_patch,
    before_suppression,
    exchanged,
)
from pratique_privacy.advice.situation import Groups, Proposal, Situation
from pratique_privacy.metrics.survival import MAX_LABELS, label_columns
from pratique_privacy.policy.addresses import ip_prefix
from pratique_privacy.policy.builtin import C4_TAU
from pratique_privacy.policy.cells import Cell, distinct_cells
from pratique_shared.contracts.policy import STAR, ClassSupport, Exemption, Threshold
from pratique_shared.contracts.problems import pointer
from pratique_shared.frames.partition import class_sizes, coded

TAUS = (C4_TAU, 5, 10)
SUPPORTS = (5, C4_TAU, 2)  # 5: Kekatos et al. 2026, §V-D
_BULK = 0.8  # beyond this share a threshold takes no tail, it takes the column
_HALF = 0.5
_LEAST = 0.1
_NO_LABELS: tuple[Cell, ...] = (None, "", STAR, [], [STAR])


def rare_values(situation: Situation) -> Groups:
    """Values that few records have, while t is high or k is 1."""
    after = situation.after
    if after.k is None or not (after.k == 1 or (after.t or 0.0) > HIGH_T):
        return
    trouble = "k is 1" if after.k == 1 else f"t is {after.t:.2f}"
    thresholds = {step.column: (place, step) for place, step in situation.steps_of(Threshold)}
    addresses = raw_addresses(situation)
    for name in situation.attributes.quasi_identifiers:
        if name not in situation.released.columns:
            continue
        if name in thresholds:
            place, step = thresholds[name]
            reason = f"{trouble} although values of {name} below a support of {step.tau} are suppressed: raise it."
            higher = [step.model_copy(update={"tau": tau}) for tau in TAUS if tau > step.tau]
            yield [Proposal(reason, (exchanged(other, place),)) for other in higher]
        else:
            yield _thresholds(situation, name, trouble, aggregate=name in addresses)


def _thresholds(situation: Situation, name: str, trouble: str, *, aggregate: bool) -> list[Proposal]:
    """Return thresholds that take a tail and leave the rest; whole addresses are all tail, so networks come first."""
    column, policy = situation.released[name], situation.policy
    patch: Patch = ()
    if aggregate:
        v4, v6 = PREFIXES[0]
        patch = aggregated(situation, name, v4, v6)
        column = ip_prefix(situation.source[name], v4, v6).column
        _, policy = apply_patch(situation.attributes, policy, patch)
    proposals = []
    for tau in TAUS[:2]:
        rare = _rare_share(column, tau)
        if not 0.0 < rare <= _BULK:
            continue
        value, once = ("a network", ", once addresses are networks") if aggregate else ("a value", "")
        reason = (
            f"{trouble}: {rare:.0%} of the records have {value} of {name} that fewer than {tau} records share. "
            f"As `*` they are one group{once}."
        )
        step = Threshold(column=name, op="threshold", tau=tau)
        proposals.append(Proposal(reason, (*patch, before_suppression(policy, name, step))))
    return proposals


def _rare_share(column: pl.Series, tau: int) -> float:
    sizes = class_sizes(coded(column).codes)
    return float(sizes[sizes < tau].sum() / len(column)) if len(column) else 0.0


def small_classes(situation: Situation) -> Groups:
    """Records that are alone in their class: drop small classes, as few as it takes to keep half of the records."""
    if not situation.after.uniques or situation.steps_of(ClassSupport):
        return
    sizes, rows = situation.sizes, situation.released.height
    left = {tau: float(sizes[sizes >= tau].sum() / rows) for tau in SUPPORTS}
    fitting = [tau for tau in SUPPORTS if left[tau] >= _HALF] or [tau for tau in SUPPORTS[-1:] if left[tau] >= _LEAST]
    for tau in fitting[:1]:
        reason = (
            f"Alone in their class: {situation.after.uniques} of {rows} records. Dropping classes of fewer than {tau} "
            f"keeps {left[tau]:.0%} of all records."
        )
        yield [Proposal(reason, (appended(ClassSupport(op="class_support", tau=tau)),))]


def rare_labels(situation: Situation) -> Groups:
    """Labels that class support takes out of the release altogether."""
    supports = [(place, step) for place, step in situation.steps_of(ClassSupport) if step.exempt is None]
    fit = (name for name in label_columns(situation.attributes) if name in situation.released.columns)
    label = next((name for name in fit if not situation.steps_on(name)), None)  # labels as the source has them
    if label is None or not supports:
        return
    ranked = _labels(situation.source[label])
    there = set(_labels(situation.released[label]))
    lost = [place for place, name in enumerate(ranked) if name not in there]
    # Exempting most labels would undo the suppression.
    if not lost or len(ranked) > MAX_LABELS or 2 * (lost[-1] + 1) > len(ranked):
        return
    place, step = supports[0]
    exempt = Exemption(column=label, rarest=lost[-1] + 1).model_dump(mode="json")
    reason = (
        f"Labels of {label} that are in no record any more: {len(lost)} of {len(ranked)}. With the {lost[-1] + 1} "
        "rarest exempt their records stay, so that whoever learns from the release still sees them; they may stand in "
        f"classes smaller than {step.tau}, which k then shows."
    )
    yield [Proposal(reason, (Change("add", pointer("policy", "steps", str(place), "exempt"), exempt),))]


def _labels(column: pl.Series) -> list[str]:
    """Return the labels of a column, the rarest first, ties by name."""
    cells, codes = distinct_cells(column)
    sizes = class_sizes(codes).tolist()
    labels = [(size, str(cell)) for cell, size in zip(cells, sizes, strict=True) if cell not in _NO_LABELS]
    return [name for _, name in sorted(labels)]


def milder_suppression(situation: Situation) -> Groups:
    """Suppression that leaves nothing, few records, or one class."""
    after, survival = situation.after, situation.now.survival or 0.0
    if survival >= LOW_SURVIVAL and after.classes > 1:
        return
    told = "The release is empty" if not after.rows else f"Records left: {after.rows}, classes: {after.classes}"
    for place, step in enumerate(situation.policy.steps):
        if isinstance(step, ClassSupport | Threshold) and step.tau > 2:
            taus = sorted({max(2, step.tau // 2), 2}, reverse=True)
            milder = [step.model_copy(update={"tau": tau}) for tau in taus]
            reason = f"{told}. A threshold below {step.tau} suppresses less."
            yield [Proposal(reason, (exchanged(other, place),)) for other in milder]
