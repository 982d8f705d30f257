"""Advice on quasi-identifiers that tell too much apart: networks, time buckets, bins, coarser steps, fewer columns."""

import polars as pl

from pratique_privacy.advice.gains import DEFAULTS
from pratique_privacy.advice.patches import (
    Patch,
    apply_patch,
    before_suppression,
    exchanged,
    withdrawn,
)
from pratique_privacy.advice.shapes import distinct_count, shape_of
from pratique_privacy.advice.situation import GENERALISING, Groups, Proposal, Situation
from pratique_privacy.advice.widths import usual_width
from pratique_privacy.metrics.measure import classes_of
from pratique_privacy.policy.addresses import ip_prefix
from pratique_privacy.policy.cells import Rewritten, rewrite
from pratique_privacy.policy.times import TimeUnit, time_reading
from pratique_shared.contracts.policy import (
    Bin,
    DropColumn,
    IpPrefix,
    Ipv4Shaped,
    Quantile,
    Round,
    Step,
    TextPrefix,
    TimeBucket,
)
from pratique_shared.frames.partition import class_sizes

PREFIXES = ((24, 64), (16, 48))  # Kekatos et al. 2026, §IV-C, with the IPv6 prefixes of the same two profiles
LOW_SURVIVAL = 0.3
HIGH_T = 0.5
_MANY_NUMBERS = 5
_MANY_QUASI_IDENTIFIERS = 4
_UNITS: tuple[TimeUnit, ...] = ("minute", "5_minutes", "15_minutes", "hour", "day")


def networks(situation: Situation) -> Groups:
    """Addresses that are quasi-identifiers, whole or under one pseudonym an address."""
    for name in raw_addresses(situation):
        told = (
            "A pseudonym leaves every address in the class that it had in clear (Kekatos et al. 2026, §V-E)"
            if situation.pseudonyms_on(name)
            else "A whole address tells every host apart"
        )
        yield [
            Proposal(
                f"{told}: {name} has {distinct_count(situation.released[name])} distinct values in "
                f"{situation.released.height} records. Networks of /{v4} (IPv6: /{v6}) put neighbours into one class.",
                aggregated(situation, name, v4, v6),
            )
            for v4, v6 in PREFIXES
            if _joins(situation.source[name], ip_prefix(situation.source[name], v4, v6))
        ]


def _joins(column: pl.Series, made: Rewritten) -> bool:
    """Say whether a step reads every value of a column and leaves fewer of them."""
    return not made.unreadable and distinct_count(made.column) < distinct_count(column)


def raw_addresses(situation: Situation) -> list[str]:
    """Return the quasi-identifiers that hold whole addresses; `ipv4_shaped` ones have a rule of their own."""
    shaped = {step.column for _, step in situation.steps_of(Ipv4Shaped)}
    raw = [name for name in situation.raw_quasi_identifiers if name not in shaped]
    return [name for name in raw if shape_of(situation.source[name]) == "address"]


def aggregated(situation: Situation, name: str, v4: int, v6: int) -> Patch:
    """Return the patch that publishes networks: in the place of pseudonyms, which no prefix can be cut from."""
    step = IpPrefix(column=name, op="ip_prefix", v4=v4, v6=v6)
    pseudonyms = situation.pseudonyms_on(name)
    if not pseudonyms:
        return (before_suppression(situation.policy, name, step),)
    return (*withdrawn(pseudonyms[1:]), exchanged(step, pseudonyms[0]))


def times(situation: Situation) -> Groups:
    """Exact times as quasi-identifiers."""
    for name in situation.raw_quasi_identifiers:
        column = situation.source[name]
        if situation.pseudonyms_on(name) or shape_of(column) != "time":
            continue
        units: tuple[TimeUnit, ...] = ("hour", "day", "hour_of_day")
        steps: list[Step] = [
            TimeBucket(column=name, op="time_bucket", unit=unit)
            for unit in units
            if _joins(column, rewrite(column, time_reading(unit)))
        ]
        if not steps:  # dates without a clock: cut to the month
            steps = [TextPrefix(column=name, op="text_prefix", n=len("2026-01"))]
        reason = (
            f"{name} holds {distinct_count(column)} distinct times in {len(column)} records: whoever saw an event "
            "finds its record. Coarser times put events of one span into one class."
        )
        yield [Proposal(reason, (before_suppression(situation.policy, name, step),)) for step in steps]


def numbers(situation: Situation) -> Groups:
    """Numbers of many distinct values as quasi-identifiers."""
    for name in situation.raw_quasi_identifiers:
        column = situation.source[name]
        if situation.pseudonyms_on(name) or not column.dtype.is_numeric() or distinct_count(column) <= _MANY_NUMBERS:
            continue
        widths = sorted({usual_width(column), usual_width(column, bins=3)})
        steps: list[Step] = [Bin(column=name, op="bin", width=width) for width in widths]
        steps.append(Quantile(column=name, op="quantile", buckets=4))  # where a long tail stays alone in every bin
        reason = (
            f"{name} has {distinct_count(column)} distinct numbers in {len(column)} records: "
            "bins put numbers near each other into one class."
        )
        yield [Proposal(reason, (before_suppression(situation.policy, name, step),)) for step in steps]


def coarser_steps(situation: Situation) -> Groups:
    """Generalisations that leave classes small or far from the whole, or too many records to suppression."""
    after, survival = situation.after, situation.now.survival or 0.0
    if survival < LOW_SURVIVAL:
        told = f"Only {survival:.0%} of the records are left: with coarser values of {{}} suppression takes fewer."
    elif after.uniques:
        told = f"Still alone in their class: {after.uniques} of {after.rows} records. Coarser values of {{}} join some."
    elif (after.k or 0) < DEFAULTS.k_target or (after.t or 0.0) > HIGH_T:
        told = (
            f"k is {after.k}{'' if after.t is None else f' and t {after.t:.2f}'}: coarser values of {{}} join classes."
        )
    else:
        return
    for place, step in enumerate(situation.policy.steps):
        if isinstance(step, GENERALISING) and step.column in situation.attributes.quasi_identifiers:
            reason = told.format(step.column)
            yield [Proposal(reason, (exchanged(coarser, place),)) for coarser in coarser_forms(step)]


def coarser_forms(step: Step) -> list[Step]:
    """Return coarser forms of a generalisation, the next one first; empty where none can be told from the step."""
    match step:
        case IpPrefix():
            v4 = next((bits for bits, _ in PREFIXES if bits < step.v4), step.v4)
            v6 = next((bits for _, bits in PREFIXES if bits < step.v6), step.v6)
            return [step.model_copy(update={"v4": v4, "v6": v6})] if (v4, v6) != (step.v4, step.v6) else []
        case Bin():
            return [step.model_copy(update={"width": times * step.width}) for times in (2, 5)]
        case Quantile():
            return [step.model_copy(update={"buckets": step.buckets // 2})] if step.buckets >= 4 else []
        case TimeBucket():
            later = _UNITS[_UNITS.index(step.unit) + 1 :] if step.unit in _UNITS else ()
            units: tuple[TimeUnit, ...] = (*later[:1], "hour_of_day") if later else ()
            return [step.model_copy(update={"unit": unit}) for unit in units]
        case TextPrefix():
            return [step.model_copy(update={"n": step.n - 1})] if step.n >= 2 else []
        case Round():
            return [step.model_copy(update={"digits": step.digits - 1})] if step.digits > -12 else []
        case _:
            return []


def fewer_columns(situation: Situation) -> Groups:
    """Many quasi-identifiers: the one without which the fewest records are alone leaves the release."""
    released, names = situation.released, situation.attributes.quasi_identifiers
    there = [name for name in names if name in released.columns]
    if len(there) < _MANY_QUASI_IDENTIFIERS or not situation.after.uniques:
        return
    alone = {name: _alone(situation, [other for other in there if other != name]) for name in there}
    name = min(alone, key=lambda candidate: alone[candidate])
    reason = (
        f"Alone in their class by {len(there)} quasi-identifiers together: {situation.after.uniques} of "
        f"{released.height} records; without {name}: {alone[name]}."
    )
    patch = withdrawn([place for place, _ in situation.steps_on(name)])
    _, policy = apply_patch(situation.attributes, situation.policy, patch)
    drop = before_suppression(policy, name, DropColumn(column=name, op="drop_column"))
    yield [Proposal(reason, (*patch, drop))]


def _alone(situation: Situation, columns: list[str]) -> int:
    return int((class_sizes(classes_of(situation.released, columns)) == 1).sum())
