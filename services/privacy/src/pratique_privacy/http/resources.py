"""What the API answers: the resources as their readers see them."""

from typing import Any, Generic, Literal, TypeVar

from pydantic import ConfigDict

from pratique_privacy.archive import Capture
from pratique_privacy.flow import ReleaseFacts, state
from pratique_privacy.http.forwarding import linked
from pratique_shared.contracts.facts import CaptureFailed, CaptureReady, ColumnType, DatasetReady, Failure, Warned
from pratique_shared.contracts.gate import Check, Gate, Verdict
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.releases import ReleaseStatus, StoredPolicy

Item = TypeVar("Item")
Progress = dict[str, Any]


class PageOf(Contract, Generic[Item]):
    """A page of a list, newest first; `next` is what to send as `after`, null at the end."""

    data: tuple[Item, ...]
    next: str | None = None


class CaptureResource(Contract):
    """A capture and how far its profile is; figures are null until it is ready."""

    id: str
    name: str
    pilot: str | None
    open_to: tuple[str, ...]
    sha256: str
    bytes: int
    status: Literal["queued", "running", "ready", "failed"]
    progress: Progress | None = None
    packets: int | None = None
    complete: bool | None = None
    warnings: tuple[Warned, ...] = ()
    records: int | None = None
    sessions: int | None = None
    link_types: tuple[str, ...] = ()
    started: str | None = None
    ended: str | None = None
    max_packets: int | None = None
    plan_sha256: str | None = None
    created_at: str
    error: Failure | None = None


class DatasetResource(Contract):
    """A table of the user's own."""

    id: str
    name: str
    pilot: str | None
    open_to: tuple[str, ...]
    status: Literal["ready"] = "ready"
    rows: int
    columns: tuple[ColumnType, ...]
    created_at: str


class ReleaseProgress(Contract):
    """The stage of a release; `done` of `total` shards of the adversaries are in."""

    stage: str
    done: int
    total: int


class ReleaseResource(Contract):
    """A release: its own status monitor. `moments` says when it was `requested`, `resolved`, `measured`, `ended`."""

    id: str
    name: str | None
    recipient: str | None
    purpose: str | None
    status: ReleaseStatus
    verdict: Verdict | None
    progress: ReleaseProgress
    created_at: str
    moments: dict[str, str]
    error: Failure | None = None
    policy_sha256: str
    links: dict[str, str]


class PostureSoFar(Contract):
    """A release that is not measured yet."""

    release: str
    status: ReleaseStatus
    verdict: None = None
    progress: ReleaseProgress


class GateSoFar(Contract):
    """A gate that has not been held yet, or its result."""

    verdict: Verdict | None = None
    checks: tuple[Check, ...] = ()


class Suggestion(Contract):
    """A change of policy that would help: its rule, why, what to change, and what that would do."""

    model_config = ConfigDict(extra="allow")

    rule: str
    reason: str
    patch: Any
    predicted: dict[str, Any] | None = None


class PolicyResource(StoredPolicy):
    """A built-in or stored policy; `sha256` covers its steps."""

    name: str
    version: int | None
    built_in: bool
    title: str | None = None
    sha256: str


class GateFloor(Contract):
    """Bounds that every release of the tenant is held to, whatever it asks."""

    gate: Gate = {}


def capture_resource(capture: Capture, progress: Progress) -> CaptureResource:
    """Say where a capture stands."""
    requested, outcome = capture.requested, capture.outcome
    plain = CaptureResource(
        id=requested.id,
        name=requested.name,
        pilot=requested.pilot,
        open_to=requested.open_to,
        sha256=requested.raw.sha256,
        bytes=requested.raw.bytes,
        status="running" if progress else "queued",
        progress=progress or None,
        max_packets=requested.max_packets,
        created_at=requested.created_at,
    )
    match outcome:
        case CaptureReady():
            found: dict[str, Any] = {
                name: getattr(outcome, name)
                for name in (
                    "packets",
                    "complete",
                    "warnings",
                    "sessions",
                    "link_types",
                    "started",
                    "ended",
                    "plan_sha256",
                )
            }
            return plain.model_copy(update={**found, "status": "ready", "records": outcome.hosts, "progress": None})
        case CaptureFailed(error=error):
            return plain.model_copy(update={"status": "failed", "error": error, "progress": None})
        case None:
            return plain


def dataset_resource(ready: DatasetReady) -> DatasetResource:
    """Describe a dataset."""
    return DatasetResource(
        id=ready.id,
        name=ready.name,
        pilot=ready.pilot,
        open_to=ready.open_to,
        rows=ready.rows,
        columns=ready.columns,
        created_at=ready.created_at,
    )


def release_resource(facts: ReleaseFacts) -> ReleaseResource:
    """Say where a release stands."""
    requested, stands = facts.requested, state(facts)
    here = linked(f"/releases/{requested.id}")
    return ReleaseResource(
        id=requested.id,
        name=requested.name,
        recipient=requested.recipient,
        purpose=requested.purpose,
        status=stands.status,
        verdict=stands.verdict,
        progress=ReleaseProgress(stage=stands.stage, done=stands.done, total=stands.total),
        created_at=requested.created_at,
        moments=_moments(facts),
        error=stands.error,
        policy_sha256=requested.policy_sha256,
        links={"self": here} | {part: f"{here}/{part}" for part in ("posture", "gate", "records", "events")},
    )


def _moments(facts: ReleaseFacts) -> dict[str, str]:
    """Return when each fact of a release was written."""
    later = {"resolved": facts.records, "measured": facts.measured, "ended": facts.outcome}
    known = {name: fact.at for name, fact in later.items() if fact is not None}
    return {"requested": facts.requested.created_at, **known}
