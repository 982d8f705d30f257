"""The rule of retention: what is too old, what is still needed, and which clock is believed; without the store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import (
    AttackWork,
    Members,
    ProfilesWork,
    RecommendationWork,
    SweepWork,
    UtilityWork,
)
from pratique_shared.runtime.clock import is_id, made_at

CONFIRMED = 3600.0  # seconds of a clock that never jumps, over which the calendar must say the same
LEEWAY = 300.0  # seconds by which the two clocks may drift apart between two looks


@dataclass(frozen=True)
class Keep:
    """For how long each kind is kept; None: until somebody deletes it."""

    captures: timedelta | None = None
    datasets: timedelta | None = None
    releases: timedelta | None = None

    def of(self, identity: str) -> timedelta | None:
        """Return for how long this one is kept."""
        return {"cap": self.captures, "dst": self.datasets, "rel": self.releases}.get(identity.partition("_")[0])


@dataclass(frozen=True)
class Watch:
    """What a look saw: both clocks, and since when (monotonic) each overdue one has been seen."""

    calendar: datetime
    monotonic: float
    since: Mapping[str, float]


def overdue(identities: Iterable[str], keep: Keep, at: datetime) -> frozenset[str]:
    """Return those that are older than their kind is kept for; the age counts from the moment in the id."""
    return frozenset(
        identity
        for identity in identities
        if (kept := keep.of(identity)) is not None
        and is_id(identity, "cap", "dst", "rel")
        and at - made_at(identity) > kept
    )


def looked(
    before: Watch | None, found: frozenset[str], calendar: datetime, monotonic: float
) -> tuple[Watch, frozenset[str]]:
    """Return what to remember, and which of the overdue ones may go.

    One may go once it was seen overdue over `CONFIRMED` seconds. Where the calendar moved by more than `LEEWAY` against
    the monotonic clock, what was seen before counts for nothing: a clock that jumps ahead and is put right deletes
    nothing.
    """
    since: Mapping[str, float] = {}
    if before is not None:
        apart = (calendar - before.calendar).total_seconds() - (monotonic - before.monotonic)
        since = before.since if abs(apart) <= LEEWAY else {}
    remembered = {identity: since.get(identity, monotonic) for identity in found}
    ripe = frozenset(identity for identity, at in remembered.items() if monotonic - at >= CONFIRMED)
    return Watch(calendar, monotonic, remembered), ripe


def needed(releases: Iterable[ReleaseFacts], studies: Iterable[StudyFacts]) -> frozenset[str]:
    """Return what running releases and studies read, and they themselves."""
    found: set[str] = set()
    for release in releases:
        if release.outcome is None and not release.withdrawn:
            found |= {release.requested.id, *_sources(release.requested.source)}
    for study in studies:
        if study.outcome is None:
            found |= {study.requested.id, *_read_by(study)}
    return frozenset(found)


def _read_by(study: StudyFacts) -> set[str]:
    match study.requested.work:
        case SweepWork(sources=sources):
            members = study.plan.releases if isinstance(study.plan, Members) else ()
            return {*(source.id for source in sources), *members}
        case AttackWork(release=release):
            return {release}
        case UtilityWork(sources=named):
            return set(named)
        case RecommendationWork(source=source):
            return _sources(source)
        case ProfilesWork(capture=capture):
            return {capture}
        case _:
            assert_never(study.requested.work)


def _sources(source: Source) -> set[str]:
    return {*source.capture_ids, *(() if source.dataset is None else (source.dataset,))}
