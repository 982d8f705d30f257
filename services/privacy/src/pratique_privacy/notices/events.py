"""Events: what the facts of a release or a capture tell the world outside (CloudEvents 1.0, JSON format)."""

from typing import Any, assert_never

from pydantic import JsonValue

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.notices.facts import Event, EventType
from pratique_shared.contracts.canonical import canonical_json
from pratique_shared.contracts.facts import (
    Cancelled,
    CaptureFailed,
    CaptureOutcome,
    CaptureReady,
    CaptureRequested,
    Published,
    ReleaseFailed,
    Withheld,
)


def release_events(facts: ReleaseFacts, withdrawn_at: str | None) -> tuple[Event, ...]:
    """Return what there is to tell of a release; nothing of one that is a part of a study."""
    if facts.requested.member_of is not None:
        return ()
    found = []
    match facts.outcome:
        case Published(verdict=verdict, at=at) | Withheld(verdict=verdict, at=at):
            found.append(_of_release(facts, "release.completed", at, "completed", verdict=verdict))
        case ReleaseFailed(error=error, at=at):
            found.append(_of_release(facts, "release.failed", at, "failed", error={"code": error.code}))
        case Cancelled(at=at):
            found.append(_of_release(facts, "release.cancelled", at, "cancelled"))
        case None:
            pass
        case _:
            assert_never(facts.outcome)
    if withdrawn_at is not None:
        found.append(_of_release(facts, "release.withdrawn", withdrawn_at, "withdrawn"))
    return tuple(found)


def _of_release(facts: ReleaseFacts, kind: EventType, at: str, status: str, **further: JsonValue) -> Event:
    identity = facts.requested.id
    here = f"/releases/{identity}"
    links: dict[str, JsonValue] = {"release": here}
    if kind == "release.completed":
        links |= {"posture": f"{here}/posture", "gate": f"{here}/gate"}
        if isinstance(facts.outcome, Published):
            links["records"] = f"{here}/records"
    data: dict[str, JsonValue] = {"release": identity, "status": status, **further, "links": links}
    return Event(type=kind, subject=identity, at=at, recipient=facts.requested.recipient, data=data)


def capture_event(requested: CaptureRequested, outcome: CaptureOutcome) -> Event:
    """Return what there is to tell of a capture that came to its end."""
    data: dict[str, JsonValue] = {"capture": requested.id, "links": {"capture": f"/captures/{requested.id}"}}
    match outcome:
        case CaptureReady(at=at):
            told: dict[str, JsonValue] = {"status": "ready", "complete": outcome.complete, "records": outcome.hosts}
            return Event(type="capture.ready", subject=requested.id, at=at, data=data | told)
        case CaptureFailed(error=error, at=at):
            told = {"status": "failed", "error": {"code": error.code}}
            return Event(type="capture.failed", subject=requested.id, at=at, data=data | told)
        case _:
            assert_never(outcome)


def cloud_event(event: Event, base: str) -> dict[str, Any]:
    """Return an event as CloudEvents JSON; `base` is the public address of the service, empty where nobody told it."""
    data = dict(event.data)
    if isinstance(links := data.get("links"), dict):
        data["links"] = {name: f"{base}{path}" for name, path in links.items()}
    return envelope(event.id, event.type, event.subject, event.at, data, base)


def envelope(identity: str, kind: str, subject: str, at: str, data: object, base: str) -> dict[str, Any]:
    """Return a CloudEvent around JSON data."""
    return {
        "specversion": "1.0",
        "id": identity,
        "source": base or "urn:pratique",
        "type": kind,
        "subject": subject,
        "time": at,
        "datacontenttype": "application/json",
        "data": data,
    }


def as_json(value: object) -> bytes:
    """Return the bytes that are sent and signed: the same for every try."""
    return canonical_json(value).encode()
