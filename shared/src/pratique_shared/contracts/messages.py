"""What a queue carries: a task and an opaque id, never a value."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pratique_shared.contracts.model import Contract

Queue = Literal["ingest", "privacy", "attack"]
TaskName = Annotated[str, StringConstraints(pattern=r"^[a-z_]+(/[a-z_]+/\d+-\d+)?$", max_length=100)]
EntityId = Annotated[str, StringConstraints(pattern=r"^(rel|cap|dst|atk|swp|utl|prf|rec|whk|job)_[0-9a-z]{10,40}$")]


# A place in a trace (W3C Trace Context): random numbers that we drew, never those of a caller.
TraceParent = Annotated[str, StringConstraints(pattern=r"^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$")]


def absent(value: object) -> bool:
    """Whether a field is left out where it is written: a process that does not know it yet would refuse it."""
    return value is None


class Message(Contract):
    """A ring of the doorbell. Whoever hears it reads the facts; the message itself decides nothing."""

    task: TaskName
    id: EntityId
    traceparent: TraceParent | None = Field(default=None, exclude_if=absent)
