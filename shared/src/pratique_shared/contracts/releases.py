"""What a caller asks of a release."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, StringConstraints, model_validator

from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.gate import Gate
from pratique_shared.contracts.ids import CaptureId, DatasetId
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.policy import Policy, PolicyName
from pratique_shared.contracts.posture import PpiParameters

ReleaseStatus = Literal["queued", "running", "attacking", "completed", "failed", "cancelled"]
Text = Annotated[str, StringConstraints(max_length=500)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Pilot = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]
Record = dict[str, Any]


def _alone(name: str, kind: str) -> dict[str, JsonValue]:
    return {"required": [name], "properties": {name: {"type": kind}}}


class Source(Contract):
    """Where the records come from: exactly one of the four."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                _alone("capture", "string"),
                _alone("captures", "array"),
                _alone("dataset", "string"),
                _alone("records", "array"),
            ]
        }
    )

    capture: CaptureId | None = None
    captures: tuple[CaptureId, ...] | None = Field(default=None, min_length=1, max_length=1000)
    dataset: DatasetId | None = None
    records: tuple[Record, ...] | None = None
    unit: RecordUnit = "host"

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [v for v in (self.capture, self.captures, self.dataset, self.records) if v is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of capture, captures, dataset, records")
        return self

    @property
    def capture_ids(self) -> tuple[str, ...]:
        """The captures that were named, one or several; none where the records come from elsewhere."""
        return self.captures or (() if self.capture is None else (self.capture,))


class ReleaseRequest(Contract):
    """The body of `POST /releases`. An omitted gate means k >= 2, omitted attacks mean both with defaults."""

    name: Text | None = None
    recipient: Name | None = None
    purpose: Text | None = None
    pilot: Pilot | None = None
    source: Source
    attributes: Attributes | None = None
    policy: Policy | PolicyName
    ppi: PpiParameters | None = None
    attacks: Attacks | None = None
    gate: Gate | None = None


class PreviewRequest(Contract):
    """The body of `POST /preview`: nothing of it is kept.

    `rows` of the source are answered with, of all of which there are figures; without `suggest` it is faster.
    """

    source: Source
    attributes: Attributes | None = None
    policy: Policy | PolicyName
    ppi: PpiParameters | None = None
    pilot: Pilot | None = None
    rows: int = Field(default=10_000, ge=0, le=10_000)
    suggest: bool = True


class ClassifyRequest(Contract):
    """The body of `POST /classify`."""

    source: Source


class StoredPolicy(Policy):
    """A policy under a name, with what it may bring along."""

    attributes: Attributes | None = None
    gate: Gate | None = None
    attacks: Attacks | None = None
    ppi: PpiParameters | None = None
