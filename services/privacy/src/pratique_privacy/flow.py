"""The life of a release, from its facts alone: where it stands, and which work is owed.

    requested ──> records ──> measured ──> scores of every shard ──> outcome
                  the sources   figures       attack-sim               published | withheld
                  stand ready   and plan      commits them             failed | cancelled: at any point

Both functions are pure. A lost or doubled message changes nothing: whoever asks again gets the same answer.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

from pratique_shared.contracts.facts import (
    Cancelled,
    Failure,
    Measured,
    Outcome,
    Published,
    RecordsResolved,
    ReleaseFailed,
    ReleaseRequested,
    Withheld,
)
from pratique_shared.contracts.gate import Verdict
from pratique_shared.contracts.messages import Queue
from pratique_shared.contracts.releases import ReleaseStatus

Stage = Literal["waiting for the source", "measuring", "attacking", "publishing", "done"]


@dataclass(frozen=True)
class ReleaseFacts:
    """What is known of a release. `scored` holds the tasks of the shards that have their score."""

    requested: ReleaseRequested
    records: RecordsResolved | None = None
    measured: Measured | None = None
    scored: frozenset[str] = frozenset()
    outcome: Outcome | None = None
    withdrawn: bool = False


@dataclass(frozen=True)
class ReleaseState:
    """Where a release stands; `done` of `total` shards are in."""

    status: ReleaseStatus
    stage: Stage
    done: int = 0
    total: int = 0
    verdict: Verdict | None = None
    error: Failure | None = None


@dataclass(frozen=True)
class Owed:
    """A task that somebody has to do."""

    queue: Queue
    task: str


def state(facts: ReleaseFacts) -> ReleaseState:
    """Say where a release stands."""
    total = len(facts.measured.plan.shards) if facts.measured else 0
    match facts.outcome:
        case Published(verdict=verdict) | Withheld(verdict=verdict):
            return ReleaseState("completed", "done", total, total, verdict)
        case ReleaseFailed(error=error):
            return ReleaseState("failed", "done", error=error)
        case Cancelled():
            return ReleaseState("cancelled", "done")
        case None:
            return _under_way(facts, total)
        case _:
            assert_never(facts.outcome)


def _under_way(facts: ReleaseFacts, total: int) -> ReleaseState:
    if facts.records is None:
        return ReleaseState("queued", "waiting for the source")
    if facts.measured is None:
        return ReleaseState("running", "measuring")
    done = total - len(_missing_shards(facts))
    return ReleaseState("attacking", "attacking" if done < total else "publishing", done, total)


def due(facts: ReleaseFacts) -> tuple[Owed, ...]:
    """Say which tasks are owed now; none once there is an outcome."""
    if facts.outcome is not None or facts.withdrawn:
        return ()
    if facts.records is None:
        return (Owed("privacy", "resolve"),)
    if facts.measured is None:
        return (Owed("privacy", "measure"),)
    if missing := _missing_shards(facts):
        return tuple(Owed("attack", task) for task in missing)
    return (Owed("privacy", "publish"),)


def _missing_shards(facts: ReleaseFacts) -> list[str]:
    if facts.measured is None:
        return []
    return [shard.task for shard in facts.measured.plan.shards if shard.task not in facts.scored]
