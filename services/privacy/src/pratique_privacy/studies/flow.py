"""The life of a study, from its facts alone: where it stands, and which work is owed.

requested ──> plan ──> every part done ──> outcome
              members  releases of a sweep  done
              shards   scores               failed | cancelled: at any point
"""

from dataclasses import dataclass
from typing import assert_never

from pratique_privacy.flow import Owed
from pratique_shared.contracts.facts import Cancelled, Failure
from pratique_shared.contracts.studies import (
    Members,
    Plan,
    Shards,
    StudyDone,
    StudyFailed,
    StudyOutcome,
    StudyRequested,
    StudyStatus,
    TablesRead,
)


@dataclass(frozen=True)
class StudyFacts:
    """What is known of a study; `done` holds the parts that are."""

    requested: StudyRequested
    plan: Plan | None = None
    done: frozenset[str] = frozenset()
    outcome: StudyOutcome | None = None


@dataclass(frozen=True)
class StudyState:
    """Where a study stands; `done` of `total` parts are in."""

    status: StudyStatus
    done: int = 0
    total: int = 0
    error: Failure | None = None


def member_part(number: int) -> str:
    """Return the name of the fact that a member of a sweep has ended."""
    return f"members/{number}"


def parts(plan: Plan) -> tuple[str, ...]:
    """Return the names of all parts of a plan."""
    match plan:
        case Members(releases=releases):
            return tuple(member_part(number) for number in range(len(releases)))
        case Shards(work=work):
            return work.tasks
        case TablesRead():
            return ()
        case _:
            assert_never(plan)


def state(facts: StudyFacts) -> StudyState:
    """Say where a study stands."""
    total = len(parts(facts.plan)) if facts.plan else 0
    match facts.outcome:
        case StudyDone():
            return StudyState("completed", total, total)
        case StudyFailed(error=error):
            return StudyState("failed", error=error)
        case Cancelled():
            return StudyState("cancelled")
        case None if facts.plan is None:
            return StudyState("queued")
        case None:
            return StudyState("running", total - len(_missing(facts)), total)
        case _:
            assert_never(facts.outcome)


def due(facts: StudyFacts) -> tuple[Owed, ...]:
    """Say which tasks are owed now; none once there is an outcome, or while the members of a sweep are at work."""
    if facts.outcome is not None:
        return ()
    if facts.plan is None:
        return (Owed("privacy", "plan"),)
    if missing := _missing(facts):
        return tuple(Owed("attack", task) for task in missing) if isinstance(facts.plan, Shards) else ()
    return (Owed("privacy", "conclude"),)


def _missing(facts: StudyFacts) -> list[str]:
    return [part for part in parts(facts.plan) if part not in facts.done] if facts.plan else []
