"""What a queue carries: a task and an opaque id, never a value."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from pratique_shared.contracts.model import Contract

Queue = Literal["ingest", "privacy", "attack"]
TaskName = Annotated[str, StringConstraints(pattern=r"^[a-z_]+(/[a-z_]+/\d+-\d+)?$", max_length=100)]
EntityId = Annotated[str, StringConstraints(pattern=r"^(rel|cap|dst|atk|swp|utl|prf|rec|whk|job)_[0-9a-z]{10,40}$")]


class Message(Contract):
    """A ring of the doorbell. Whoever hears it reads the facts; the message itself decides nothing."""

    task: TaskName
    id: EntityId
