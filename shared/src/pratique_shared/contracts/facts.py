"""The facts of captures and releases: each is written once and never changed.

A release is a folder: `requested`, `records`, `measured`, the scores of its adversaries, and one `outcome`.
Which facts exist is the whole state of a release; `pratique_privacy.flow` reads it.
"""

from typing import Annotated, Literal

from pydantic import Field

from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.gate import Gate, GateResult, Verdict
from pratique_shared.contracts.messages import TraceParent, absent
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import (
    AttackFigures,
    CompositionFigures,
    MeasuredFigures,
    PpiParameters,
    PriorRelease,
)
from pratique_shared.contracts.releases import Source

KEY_SUFFIX = ".key"  # of the object beside a blob that holds its wrapped data key


class Blob(Contract):
    """A sealed blob that a fact names: its key in the room, and the digest and length of its plain bytes."""

    key: str
    sha256: str
    bytes: int


class Failure(Contract):
    """Why something ended badly: a stable code and what to do, without a value."""

    code: str
    detail: str


class Attempt(Contract):
    """A start of a task, or the death of the child that ran it."""

    at: str


FIRST_EPOCH = 1


class KeyMark(Contract):
    """Which pseudonymisation key was used: pseudonyms of one mark, scope and domain can be joined."""

    epoch: int
    fingerprint: str


def epoch_of(key: KeyMark | None) -> int:
    """Return the epoch of a request; one from before there were epochs names no key and has the first."""
    return FIRST_EPOCH if key is None else key.epoch


# Captures and datasets ------------------------------------------------------------------------------------------


class Warned(Contract):
    """Something that a capture held and that could not be read, counted."""

    code: str
    count: int
    detail: str


class CaptureRequested(Contract):
    """A capture was taken in; its raw bytes are the blob, of which the first `max_packets` frames are profiled."""

    id: str
    tenant: str
    name: str
    pilot: str | None
    open_to: tuple[str, ...]
    raw: Blob
    max_packets: int | None = None
    created_at: str
    traceparent: TraceParent | None = Field(default=None, exclude_if=absent)


class Labelled(Contract):
    """A capture was sent again and is called, or open to, something else from now on: the highest number counts."""

    name: str
    open_to: tuple[str, ...]
    at: str


class CaptureReady(Contract):
    """A capture was profiled under a network plan, if there was one; records and identifiers are blobs."""

    kind: Literal["ready"] = "ready"
    packets: int
    bytes: int
    complete: bool
    warnings: tuple[Warned, ...]
    link_types: tuple[str, ...]
    started: str | None
    ended: str | None
    hosts: int
    sessions: int
    host_records: Blob
    session_records: Blob
    identifiers: Blob
    plan_sha256: str | None = None
    at: str


class CaptureFailed(Contract):
    """A capture could not be profiled."""

    kind: Literal["failed"] = "failed"
    error: Failure
    at: str


CaptureOutcome = Annotated[CaptureReady | CaptureFailed, Field(discriminator="kind")]


class ColumnType(Contract):
    """A column of a dataset and its type."""

    name: str
    type: str


class DatasetReady(Contract):
    """A table of the user's own was taken in."""

    id: str
    tenant: str
    name: str
    pilot: str | None
    open_to: tuple[str, ...]
    rows: int
    columns: tuple[ColumnType, ...]
    table: Blob
    created_at: str


CLOSED = "closed"  # in the room of matrices: nobody waits for the scores of this release any more


class Deleted(Contract):
    """A tombstone: the raw bytes and records are gone."""

    at: str


# Releases -------------------------------------------------------------------------------------------------------


class Membership(Contract):
    """The study that a release is a part of, and its number there: such a release is measured and never published."""

    study: str
    number: int


class ReleaseRequested(Contract):
    """What was asked, with every default filled in. `digest` covers all that the figures follow from.

    `key` fixes the tenant's pseudonymisation key, whatever is added later.
    """

    id: str
    tenant: str
    name: str | None
    recipient: str | None
    purpose: str | None
    pilot: str | None
    source: Source
    inline: Blob | None
    attributes: Attributes | None
    built_in: str | None
    policy: Policy
    policy_sha256: str
    ppi: PpiParameters
    attacks: Attacks | None
    gate: Gate
    digest: str
    key: KeyMark | None = None
    member_of: Membership | None = None
    created_at: str
    traceparent: TraceParent | None = Field(default=None, exclude_if=absent)


class SourceTable(Contract):
    """One table that a release reads: the source that it is of, the pilot of its rows, and its blob."""

    origin: str
    pilot: str | None
    blob: Blob


class RecordsResolved(Contract):
    """The sources stood ready: these bytes, and no others, are what the release is made of."""

    tables: tuple[SourceTable, ...]
    at: str


class Shard(Contract):
    """Repetitions first .. last - 1 of one adversary; `exact` has the one shard 0-1."""

    adversary: Literal["exact", "partial_qi", "linkage"]
    first: int
    last: int

    @property
    def task(self) -> str:
        """The name of its task and of its fact."""
        return f"attack/{self.adversary}/{self.first}-{self.last}"


class AttackPlan(Contract):
    """What the attack workers are told of a release: a matrix of codes and the adversaries' parameters, if any."""

    kind: Literal["attack"] = "attack"
    matrix: Blob
    rows: int
    columns: int
    attacks: Attacks | None
    shards: tuple[Shard, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the shards."""
        return tuple(shard.task for shard in self.shards)


class Measured(MeasuredFigures):
    """The policy was applied and the figures computed; `table` is the transformed table, not yet released."""

    read: tuple[str, ...]
    table: Blob
    plan: AttackPlan
    at: str


class ShardScored(Contract):
    """What a shard found: of each repetition the sum of the credits over targets and of their squares, or the exact
    values; `error` stands where it failed for good."""

    matrix_sha256: str
    first: int = 0
    targets: int = 0
    sums: tuple[float, ...] = ()
    squares: tuple[float, ...] = ()
    exact_qi: float | None = None
    partial_qi: float | None = None
    linkage: float | None = None
    generator: str = ""
    error: Failure | None = None


class Published(Contract):
    """The gate passed: these files may leave, under this certificate; `disclosures` are what it binds unshown."""

    kind: Literal["published"] = "published"
    read: tuple[str, ...]
    verdict: Verdict
    gate: GateResult
    attacks: AttackFigures | None
    prior_releases: tuple[PriorRelease, ...]
    composition: CompositionFigures | None = None
    files: dict[str, Blob]
    schema_types: dict[str, str]
    certificate: Blob | None = None
    disclosures: Blob | None = None
    policy_sha256: str
    at: str


class Withheld(Contract):
    """The gate did not pass: nothing leaves."""

    kind: Literal["withheld"] = "withheld"
    read: tuple[str, ...]
    verdict: Verdict
    gate: GateResult
    attacks: AttackFigures | None
    prior_releases: tuple[PriorRelease, ...]
    composition: CompositionFigures | None = None
    policy_sha256: str
    at: str


class ReleaseFailed(Contract):
    """A task failed for good."""

    kind: Literal["failed"] = "failed"
    error: Failure
    at: str


class Cancelled(Contract):
    """The caller took it back before there was an outcome."""

    kind: Literal["cancelled"] = "cancelled"
    at: str


Outcome = Annotated[Published | Withheld | ReleaseFailed | Cancelled, Field(discriminator="kind")]


class Claim(Contract):
    """An `Idempotency-Key` in use: the digest of the body and the id that was assigned."""

    body_sha256: str
    id: str
    created_at: str
