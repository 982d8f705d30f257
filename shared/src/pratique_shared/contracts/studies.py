"""Studies: questions that many releases or many shards answer together, and the facts of their lives.

A study is a folder like a release: `requested`, `plan`, one fact for each part that is done, and one `outcome`.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pratique_shared.contracts.adversary import Attacks, Linkage, PartialQi
from pratique_shared.contracts.attributes import Attributes, Column
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.facts import AttackPlan, Blob, Cancelled, Failure, KeyMark, SourceTable
from pratique_shared.contracts.gate import Gate
from pratique_shared.contracts.ids import CaptureId, DatasetId, ReleaseId
from pratique_shared.contracts.messages import TraceParent, absent
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.policy import Exemption, Policy, PolicyName, Step
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.releases import Name, Pilot, Source, Text
from pratique_shared.contracts.utility import UtilityPlan, UtilityTask

MOST_SOURCES, MOST_CONFIGURATIONS, MOST_MEMBERS = 1000, 64, 5000
DEFAULT_TAUS = (2, 3, 5, 8, 12)  # the thresholds of Kekatos et al. 2026, §V-G, without 1
Ancestors = Annotated[dict[str, tuple[str, ...]], Field(min_length=1, max_length=100_000)]
Tau = Annotated[int, Field(ge=2, le=1_000_000_000)]
SourceId = CaptureId | DatasetId

# What is asked ---------------------------------------------------------------------------------------------------


class Configured(Contract):
    """A configuration of a sweep under a name: a policy, or the name of one, and the attributes to hold it on."""

    name: Name
    policy: Policy | PolicyName
    attributes: Attributes | None = None


class SweepRequest(Contract):
    """The body of `POST /sweeps`: every source under every configuration (Kekatos et al. 2026, §V-E).

    `groups` names some of the sources together, each at most once; figures come by group and over all sources.
    """

    name: Text | None = None
    sources: tuple[SourceId, ...] = Field(min_length=1, max_length=MOST_SOURCES)
    unit: RecordUnit = "host"
    groups: dict[Name, tuple[SourceId, ...]] | None = Field(default=None, min_length=1, max_length=20)
    configurations: tuple[PolicyName | Configured, ...] = Field(min_length=1, max_length=MOST_CONFIGURATIONS)
    pilot: Pilot | None = None
    ppi: PpiParameters = PpiParameters()
    attacks: Attacks = Attacks()
    seed: int = Field(default=1, ge=0, lt=2**63)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [one if isinstance(one, str) else one.name for one in self.configurations]
        if len(set(names)) < len(names):
            raise ValueError("two configurations have the same name: name each one once")
        if len(set(self.sources)) < len(self.sources):
            raise ValueError("a source stands twice: name each one once")
        if len(self.sources) * len(names) > MOST_MEMBERS:
            raise ValueError(f"sources times configurations may be at most {MOST_MEMBERS}: cut the sweep in parts")
        grouped = [source for members in (self.groups or {}).values() for source in members]
        if len(set(grouped)) < len(grouped) or not set(grouped) <= set(self.sources):
            raise ValueError("groups may name only sources of the sweep, each in one group")
        return self


class UtilityRequest(UtilityTask):
    """The body of `POST /utility`: predict the label of records from features, on what suppression leaves.

    Sources are captures and datasets, or one release that was measured, whose rows are then those of the release.
    """

    name: Text | None = None
    sources: tuple[SourceId | ReleaseId, ...] = Field(min_length=1, max_length=MOST_SOURCES)
    unit: RecordUnit = "host"
    label: Column = "role"
    features: tuple[Column, ...] = Field(
        default=("protocol_count", "packets", "peer_count"), min_length=1, max_length=50
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.sources)) < len(self.sources):
            raise ValueError("a source stands twice: name each one once")
        if len(self.sources) > 1 and any(source.startswith("rel_") for source in self.sources):
            raise ValueError("a release is a source of its own: name it alone")
        return self


class Budget(Contract):
    """How much a search may spend: choices of levels looked at, and seconds."""

    evaluations: int = Field(default=2000, ge=1, le=100_000)
    seconds: float = Field(default=60, gt=0, le=900, allow_inf_nan=False)


class RecommendationRequest(Contract):
    """The body of `POST /recommendations`. The steps of `policy` come first in every policy that is recommended.

    Identifiers that no step names are dropped; an omitted gate means k >= 2.
    """

    source: Source
    attributes: Attributes | None = None
    policy: Policy | PolicyName = Policy()
    gate: Gate | None = None
    ppi: PpiParameters | None = None
    attacks: Attacks | None = None
    pilot: Pilot | None = None
    taus: tuple[Tau, ...] = Field(default=DEFAULT_TAUS, max_length=10)
    exempt: Exemption | None = None
    hierarchies: dict[Column, Ancestors] = {}
    budget: Budget = Budget()


Gamma = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class CaptureProfilesRequest(Contract):
    """The body of `POST /profiles/generalise` for the hosts of a capture, over the built-in taxonomy of protocols."""

    capture: CaptureId
    gamma: Gamma | Annotated[tuple[Gamma, ...], Field(min_length=1, max_length=100)]
    compare: tuple[Literal["forgery", "forgery2", "suppression"], ...] = ()
    seed: int = Field(default=1, ge=0, lt=2**64)


# What it comes to, with every default filled in ------------------------------------------------------------------


class Configuration(Contract):
    """A configuration whose policy was looked up."""

    name: str
    built_in: str | None
    policy: Policy
    attributes: Attributes | None


class SweepSource(Contract):
    """A source, the digest of its bytes, the pilot of its rows, and its group."""

    id: SourceId
    sha256: str
    pilot: str | None
    group: str | None


class SweepWork(Contract):
    """Every source under every configuration, each a release that is measured and never published."""

    kind: Literal["sweep"] = "sweep"
    sources: tuple[SweepSource, ...]
    unit: RecordUnit
    configurations: tuple[Configuration, ...]
    pilot: str | None
    ppi: PpiParameters
    attacks: Attacks
    seed: int


class AttackWork(Contract):
    """Further adversaries on a release that was measured."""

    kind: Literal["attack"] = "attack"
    release: str
    attacks: Attacks


class UtilityWork(Contract):
    """A classifier of the labels, learnt from what suppression leaves."""

    kind: Literal["utility"] = "utility"
    sources: tuple[SourceId | ReleaseId, ...]
    unit: RecordUnit
    label: str
    features: tuple[str, ...]
    task: UtilityTask


class Recommendation(Contract):
    """What is asked of a recommendation, with every default filled in."""

    attributes: Attributes
    gate: Gate
    first: tuple[Step, ...]
    ppi: PpiParameters
    partial_qi: PartialQi
    linkage: Linkage
    taus: tuple[int, ...]
    exempt: Exemption | None
    hierarchies: dict[str, dict[str, tuple[str, ...]]]
    budget: Budget


class RecommendationWork(Contract):
    """Which policy passes a gate at the least loss; records that came with the question are a blob."""

    kind: Literal["recommendation"] = "recommendation"
    source: Source
    inline: Blob | None
    pilot: str | None
    asked: Recommendation


class ProfilesWork(Contract):
    """The profiles of the hosts of a capture, generalised at every cost of `gammas`."""

    kind: Literal["profiles"] = "profiles"
    capture: CaptureId
    gammas: tuple[float, ...]
    compare: tuple[str, ...]
    seed: int


Work = Annotated[SweepWork | AttackWork | UtilityWork | RecommendationWork | ProfilesWork, Field(discriminator="kind")]

# Facts -----------------------------------------------------------------------------------------------------------


class StudyRequested(Contract):
    """A study was asked for; `key` fixes the pseudonymisation key of its policies and of its members."""

    id: str
    tenant: str
    name: str | None
    work: Work
    key: KeyMark | None = None
    created_at: str
    traceparent: TraceParent | None = Field(default=None, exclude_if=absent)


WorkPlan = Annotated[AttackPlan | UtilityPlan, Field(discriminator="kind")]


class Members(Contract):
    """The releases of a sweep, source by source, under all configurations in turn."""

    kind: Literal["members"] = "members"
    releases: tuple[str, ...]
    at: str


class Shards(Contract):
    """What the attack workers are to do; `about` is a sealed JSON object that belongs into the answer."""

    kind: Literal["shards"] = "shards"
    work: WorkPlan
    about: Blob | None = None
    at: str


class TablesRead(Contract):
    """The tables that privacy reads to answer by itself."""

    kind: Literal["tables"] = "tables"
    tables: tuple[SourceTable, ...]
    at: str


Plan = Annotated[Members | Shards | TablesRead, Field(discriminator="kind")]


class PartDone(Contract):
    """A part of a study has come to its end, whichever that was."""

    at: str


class StudyDone(Contract):
    """The answer, as a sealed JSON object."""

    kind: Literal["done"] = "done"
    result: Blob
    at: str


class StudyFailed(Contract):
    """A task of the study failed for good."""

    kind: Literal["failed"] = "failed"
    error: Failure
    at: str


StudyOutcome = Annotated[StudyDone | StudyFailed | Cancelled, Field(discriminator="kind")]
StudyStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
