"""Advice on columns that name somebody by themselves: identifiers, weak pseudonyms, fingerprints."""

from collections.abc import Iterator, Sequence

import polars as pl

from pratique_privacy.advice.patches import Patch, appended, exchanged, reclassed
from pratique_privacy.advice.shapes import shape_of
from pratique_privacy.advice.situation import PSEUDONYMISING, REMOVING, Groups, Proposal, Situation
from pratique_privacy.metrics.flags import identifying
from pratique_privacy.policy.applicability import kinds_of
from pratique_privacy.policy.apply import PILOT
from pratique_privacy.policy.cells import Rewritten, rewrite
from pratique_privacy.policy.enumerable import enumerable
from pratique_privacy.policy.generalise import quantile
from pratique_privacy.policy.times import TimeUnit, time_reading
from pratique_shared.contracts.policy import (
    CryptoPan,
    DropColumn,
    Hmac,
    IpPrefix,
    Ipv4Shaped,
    Quantile,
    SaltedHash,
    Scope,
    Step,
    TimeBucket,
)
from pratique_shared.frames.records import type_word

# Rules that go by the spread of values alone: too little to take a quasi-identifier or a sensitive attribute away.
_BY_SPREAD = frozenset({"values:unique-text", "values:row-counter"})
_FINGERPRINT_BUCKETS = 10


def identifiers(situation: Situation) -> Groups:
    """Direct identifiers that stand in another class, or in clear."""
    misplaced = list(_misplaced(situation))
    columns = [*(name for name in situation.attributes.identifiers if not _hidden(situation, name)), *misplaced]
    if not columns:
        return
    hiding = [appended(_hiding(situation, name)) for name in columns if not _hidden(situation, name)]
    patch = (*(reclassed(situation.attributes, misplaced, "identifier") if misplaced else ()), *hiding)
    each = "; ".join(f"{name}: {_why(situation, name)}" for name in columns)
    reason = f"These columns point at a subject by themselves and need a keyed pseudonym. {each}"
    yield [Proposal(reason, patch)]


def salted_hashes(situation: Situation) -> Groups:
    """Salted hashes on columns whose values can all be tried."""
    found = [
        (place, step)
        for place, step in situation.steps_of(SaltedHash)
        if step.column in situation.source.columns and enumerable(step.column, situation.source[step.column])
    ]
    if found:
        reason = (
            f"Every possible value of {_listed([step.column for _, step in found])} can be tried against a salted hash "
            "by whoever learns the salt; an hmac cannot be tried without its key."
        )
        yield [Proposal(reason, tuple(exchanged(hmac_step(situation, step.column), place) for place, step in found))]


def shaped_tokens(situation: Situation) -> Groups:
    """Tokens in the form of an IPv4 address: they collide, and show the first octet."""
    for place, step in situation.steps_of(Ipv4Shaped):
        name = step.column
        if name in situation.attributes.quasi_identifiers:
            reason = (
                f"IPv4-shaped tokens keep every address of {name} apart, as it was in clear, and their 24 bits may "
                "collide; networks put neighbours into one class."
            )
            yield [Proposal(reason, (exchanged(IpPrefix(column=name, op="ip_prefix"), place),))]
        else:
            reason = (
                f"IPv4-shaped tokens of {name} show the first octet, and their 24 bits may collide: an hmac does not."
            )
            yield [Proposal(reason, (exchanged(hmac_step(situation, name), place),))]


def fingerprints(situation: Situation) -> Groups:
    """Insensitive columns of which most values stand in one record only."""
    columns = identifying(situation.released, situation.attributes.insensitive)
    columns = [name for name in columns if situation.advice[name].suggested != "identifier"]  # see `identifiers`
    steps = {name: _blurring(situation, name) for name in columns}
    blurred = [appended(step) for step in steps.values() if step is not None]
    named = {name for name in columns if situation.named(name)}
    gone = [name for name, step in steps.items() if step is None]
    dropped = [appended(DropColumn(column=name, op="drop_column")) for name in gone if name in named]
    unlisted = [name for name in gone if name not in named]
    patch: Patch = (*blurred, *dropped, *(reclassed(situation.attributes, unlisted, "drop") if unlisted else ()))
    if patch:
        reason = (
            f"More than half of the values of {_listed(columns)} stand in one record only: a fingerprint beside any k. "
            "Publish them coarser, or not at all; k, l and t do not see them."
        )
        yield [Proposal(reason, patch)]


def hmac_step(situation: Situation, column: str) -> Hmac:
    """Return an hmac in the scope that the policy uses already; else by pilot where every row has one, else by run."""
    return Hmac(column=column, op="hmac", scope=_scope(situation))


def _scope(situation: Situation) -> Scope:
    used = [step.scope for step in situation.policy.steps if isinstance(step, Hmac | Ipv4Shaped | CryptoPan)]
    if used:
        return used[0]
    source = situation.source
    everywhere = PILOT in source.columns and not source[PILOT].null_count()
    return "per_pilot" if everywhere else "per_run"


def _misplaced(situation: Situation) -> Iterator[str]:
    """Yield columns that look like direct identifiers and stand elsewhere; one quasi-identifier must be left."""
    attributes = situation.attributes
    left = len(attributes.quasi_identifiers)
    for name in (*attributes.insensitive, *attributes.sensitive, *attributes.quasi_identifiers):
        advice = situation.advice[name]
        if advice.suggested != "identifier" or name not in situation.released.columns:
            continue
        if name in attributes.insensitive:
            yield name
        elif advice.rule not in _BY_SPREAD and not situation.generalised(name):
            left -= name in attributes.quasi_identifiers
            if left:
                yield name


def _why(situation: Situation, name: str) -> str:
    found = situation.advice[name]
    return found.reason.rstrip(".") if found.suggested == "identifier" else "listed as an identifier, and in clear"


def _hidden(situation: Situation, name: str) -> bool:
    return any(isinstance(step, (*PSEUDONYMISING, *REMOVING)) for _, step in situation.steps_on(name))


def _hiding(situation: Situation, name: str) -> Step:
    step = hmac_step(situation, name)
    readable = type_word(situation.source[name].dtype) in kinds_of(step)
    return step if readable else DropColumn(column=name, op="drop_column")


def _blurring(situation: Situation, name: str) -> Step | None:
    """Return the mildest step after which a column is a fingerprint no more; None: only dropping it helps."""
    column = situation.released[name]
    options: list[tuple[Step, Rewritten]] = []
    if column.dtype.is_numeric():
        step = Quantile(column=name, op="quantile", buckets=_FINGERPRINT_BUCKETS)
        options = [(step, quantile(column, _FINGERPRINT_BUCKETS))]
    elif shape_of(column) == "time":
        units: tuple[TimeUnit, ...] = ("hour", "day")
        options = [
            (TimeBucket(column=name, op="time_bucket", unit=unit), rewrite(column, time_reading(unit)))
            for unit in units
        ]
    return next((step for step, made in options if not made.unreadable and not _fingerprint(made.column)), None)


def _fingerprint(column: pl.Series) -> bool:
    return bool(identifying(column.to_frame(), [column.name]))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
