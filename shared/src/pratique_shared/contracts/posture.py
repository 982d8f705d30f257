"""The posture of a release: every figure before and after, the adversaries, the gate."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.gate import GateResult, Verdict
from pratique_shared.contracts.model import Contract

Unit = Literal[RecordUnit, "row"]
Weights = tuple[
    Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(ge=0, le=1)]
]


class PpiParameters(Contract):
    """Targets and weights of the Privacy-Posture Index; the defaults reproduce the published tables."""

    k_target: int = Field(default=5, ge=1, le=1_000_000)
    l_target: int = Field(default=2, ge=1, le=1_000_000)
    weights: Weights = (0.4, 0.3, 0.3)


class SensitiveMetrics(Contract):
    """Diversity and closeness of one sensitive attribute."""

    l: int | None  # noqa: E741 - the field's standard name
    l_entropy: float | None
    t: float | None
    t_ordered: float | None


class Metrics(Contract):
    """The figures of one table on one set of quasi-identifiers (Kekatos et al. 2026, §IV-B and §IV-D)."""

    rows: int
    classes: int
    k: int | None
    l: int | None  # noqa: E741 - the field's standard name
    l_entropy: float | None
    t: float | None
    t_ordered: float | None
    k_rw: float | None
    granularity: float | None
    exact_reid: float | None
    max_risk: float | None
    uniques: int | None
    share_below_k: float | None
    ppi: float | None
    ppi_prime: float | None
    by_sensitive: dict[str, SensitiveMetrics] = {}


class RecordsSummary(Contract):
    """What the policy left of the records."""

    model_config = ConfigDict(serialize_by_alias=True, populate_by_name=True)

    rows_in: int = Field(alias="in")
    rows_out: int = Field(alias="out")
    survival: float | None
    cells_suppressed: dict[str, float] = {}
    unreadable: dict[str, int] = {}
    survival_by_label: dict[str, float] = {}
    formulas_neutralised: dict[str, int] = {}  # cells of a column that a spreadsheet would have run


class AllColumns(Contract):
    """Classes and uniques over every released column but pseudonymised identifiers."""

    classes: int | None
    uniques: int | None


class Finding(Contract):
    """Something a reader of the posture must know, in words, with a stable code."""

    code: str
    column: str | None = None
    detail: str


class MeasuredFigures(Contract):
    """What is known of a release once its policy was applied, before any adversary."""

    attributes: Attributes
    unit: Unit
    records: RecordsSummary
    before: Metrics
    after: Metrics
    all_columns: AllColumns
    flags: tuple[str, ...]
    findings: tuple[Finding, ...]
    versions: dict[str, str]
    source_rows: tuple[int, ...] = ()  # of each table that was read, so that a row can be told by its table


class AttackResult(Contract):
    """One adversary: the plain simulation with its interval, and the exact expectation where it is computed."""

    exact: float | None
    estimate: float | None
    se: float | None
    se_targets: float | None
    ci95: tuple[float, float] | None
    repetitions: int
    seed: int
    generator: str
    parameters: dict[str, float | str]
    agrees: bool | None = None
    error: str | None = None


class AttackFigures(Contract):
    """The exact-QI bound and the adversaries that were asked for."""

    exact_qi: float | None
    partial_qi: AttackResult | None = None
    linkage: AttackResult | None = None


class PriorRelease(Contract):
    """An earlier release of the same source to the same recipient."""

    release: str
    created_at: str


class JoinedRelease(Contract):
    """A release that the same recipient has or is about to get.

    `shared` rows of this release come from source rows that stand there too, `linked` rows have a pseudonym that stands
    there; both are null where its table is gone.
    """

    release: str
    created_at: str
    shared: int | None
    linked: int | None


class CompositionFigures(Contract):
    """This release's rows beside every other release of their recipient; figures are null where one is not joined."""

    releases: tuple[JoinedRelease, ...]
    classes: int | None
    k: int | None
    uniques: int | None
    exact_qi: float | None
    partial_qi: float | None


class Posture(Contract):
    """What `GET /releases/{id}/posture` answers; while attacks run, gate and verdict are absent.

    `steps` are those of the policy without the tables of hierarchies and taxonomies, which are values.
    `pseudonymisation` names the key of each step that makes pseudonyms. Where technique, scope, domain and
    `key_fingerprint` of two releases are equal, their pseudonyms can be joined. Those of `per_run` have no fingerprint,
    like those of a release that was asked for before keys had epochs.
    """

    release: str
    status: str
    verdict: Verdict | None = None
    unit: Unit
    sources: tuple[str, ...] = ()
    attributes: Attributes
    built_in: str | None = None
    steps: tuple[dict[str, JsonValue], ...] = ()
    pseudonymisation: tuple[dict[str, JsonValue], ...] = ()
    records: RecordsSummary
    before: Metrics | None = None
    after: Metrics
    all_columns: AllColumns
    ppi_parameters: PpiParameters
    attacks: AttackFigures | None = None
    gate: GateResult | None = None
    flags: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    prior_releases: tuple[PriorRelease, ...] = ()
    composition: CompositionFigures | None = None
    policy_sha256: str
    files: dict[str, str] = {}
    computed_at: str
    versions: dict[str, str] = {}
