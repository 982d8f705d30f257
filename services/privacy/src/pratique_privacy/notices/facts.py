"""The facts of notices: webhooks, what is owed to whom, and how each try went."""

from typing import Literal

from pydantic import Field, JsonValue

from pratique_shared.contracts.model import Contract

EventType = Literal[
    "release.completed",
    "release.failed",
    "release.cancelled",
    "release.withdrawn",
    "capture.ready",
    "capture.failed",
]


class Event(Contract):
    """Something that happened: its type, what it happened to, when, and ids, verdict and codes; never a value."""

    type: EventType
    subject: str
    at: str
    recipient: str | None = None  # of the release, to choose by; it is not told
    data: dict[str, JsonValue]

    @property
    def id(self) -> str:
        """The id of the event: the same whenever it is told."""
        return f"{self.subject}:{self.type}"


class Webhook(Contract):
    """An address that hears of events; its secret lies in the room of keys."""

    id: str
    tenant: str
    url: str = Field(repr=False)
    events: tuple[EventType, ...]
    recipient: str | None = None
    name: str = ""
    created_at: str


class Ended(Contract):
    """Why an address hears no more."""

    reason: Literal["gone", "deleted"]
    at: str


class Owed(Contract):
    """A delivery: an event, and the webhook or subscription that it is owed to."""

    id: str
    endpoint: str
    event: Event
    at: str


class Tried(Contract):
    """One try of a delivery: taken, not taken, or dropped because nobody listens there any more."""

    round: int
    result: Literal["delivered", "failed", "dropped"]
    status: int | None = None
    error: str | None = None
    milliseconds: int = 0
    at: str


class Again(Contract):
    """Somebody asked for a delivery once more: its tries begin anew."""

    at: str
