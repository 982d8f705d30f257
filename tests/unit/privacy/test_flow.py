"""The life of a release, from its facts alone."""

from itertools import combinations

import pytest

from pratique_privacy.flow import Owed, ReleaseFacts, due, state
from pratique_privacy.verdict import plan_shards
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.facts import (
    Blob,
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
from pratique_shared.contracts.gate import DEFAULT_GATE, GateResult
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import AllColumns, Metrics, PpiParameters, RecordsSummary
from pratique_shared.contracts.releases import Source

BLOB = Blob(key="blobs/x", sha256="00", bytes=1)
REQUESTED = ReleaseRequested(
    id="rel_00000000000000000000000000",
    tenant="operator",
    name=None,
    recipient=None,
    purpose=None,
    pilot=None,
    source=Source(records=()),
    inline=BLOB,
    attributes=None,
    built_in="C4",
    policy=Policy(),
    policy_sha256="00",
    ppi=PpiParameters(),
    attacks=Attacks(),
    gate=DEFAULT_GATE,
    digest="00",
    created_at="2026-01-01T00:00:00Z",
)
RECORDS = RecordsResolved(tables=(), at="t")
FIGURES = Metrics(
    rows=4, classes=2, k=2, l=1, l_entropy=1.0, t=0.0, t_ordered=None, k_rw=2.0, granularity=0.5, exact_reid=0.5,
    max_risk=0.5, uniques=0, share_below_k=1.0, ppi=0.5, ppi_prime=0.5,
)  # fmt: skip
# Two columns, 4 rows, 20 repetitions of each adversary: one shard each, and the exact values.
PLAN = plan_shards(Attacks(), BLOB, 4, 2)
MEASURED = Measured(
    read=(),
    attributes=Attributes(quasi_identifiers=("ip",)),
    unit="row",
    records=RecordsSummary(rows_in=4, rows_out=4, survival=1.0),
    before=FIGURES,
    after=FIGURES,
    all_columns=AllColumns(classes=2, uniques=0),
    flags=(),
    findings=(),
    table=BLOB,
    plan=PLAN,
    versions={},
    at="t",
)
PASS = GateResult(verdict="pass", checks=())
ENDS: dict[str, Outcome] = {
    "published": Published(
        read=(), verdict="pass", gate=PASS, attacks=None, prior_releases=(), files={}, schema_types={},
        policy_sha256="00", at="t",
    ),
    "withheld": Withheld(
        read=(), verdict="fail", gate=PASS, attacks=None, prior_releases=(), policy_sha256="00", at="t"
    ),
    "failed": ReleaseFailed(error=Failure(code="source-gone", detail="."), at="t"),
    "cancelled": Cancelled(at="t"),
}  # fmt: skip
SHARDS = ("attack/exact/0-1", "attack/partial_qi/0-20", "attack/linkage/0-20")


def test_a_release_owes_one_kind_of_work_after_another() -> None:
    asked = ReleaseFacts(REQUESTED)
    assert (state(asked).status, due(asked)) == ("queued", (Owed("privacy", "resolve"),))
    ready = ReleaseFacts(REQUESTED, RECORDS)
    assert (state(ready).status, due(ready)) == ("running", (Owed("privacy", "measure"),))
    measured = ReleaseFacts(REQUESTED, RECORDS, MEASURED)
    assert (state(measured).status, due(measured)) == ("attacking", tuple(Owed("attack", name) for name in SHARDS))
    scored = ReleaseFacts(REQUESTED, RECORDS, MEASURED, frozenset(SHARDS))
    assert (state(scored).stage, due(scored)) == ("publishing", (Owed("privacy", "publish"),))


def test_a_release_without_adversaries_goes_from_figures_to_publishing() -> None:
    nobody = plan_shards(None, BLOB, 4, 2)
    assert nobody.shards == ()
    plain = ReleaseFacts(REQUESTED, RECORDS, MEASURED.model_copy(update={"plan": nobody}))
    assert due(plain) == (Owed("privacy", "publish"),)


@pytest.mark.parametrize("count", range(4))
def test_whichever_shards_are_in_the_others_are_owed(count: int) -> None:
    for done in combinations(SHARDS, count):
        facts = ReleaseFacts(REQUESTED, RECORDS, MEASURED, frozenset(done))
        owed = {owed.task for owed in due(facts)}
        assert owed == (set(SHARDS) - set(done) or {"publish"})
        assert (state(facts).done, state(facts).total) == (count, 3)


@pytest.mark.parametrize(
    ("end", "status", "verdict"),
    [
        ("published", "completed", "pass"),
        ("withheld", "completed", "fail"),
        ("failed", "failed", None),
        ("cancelled", "cancelled", None),
    ],
)
def test_an_outcome_ends_all_work_whatever_else_is_there(end: str, status: str, verdict: str | None) -> None:
    outcome = ENDS[end]
    for facts in (
        ReleaseFacts(REQUESTED, outcome=outcome),
        ReleaseFacts(REQUESTED, RECORDS, MEASURED, outcome=outcome),
        ReleaseFacts(REQUESTED, RECORDS, MEASURED, frozenset(SHARDS), outcome),
    ):
        assert due(facts) == ()
        assert (state(facts).status, state(facts).verdict) == (status, verdict)


def test_a_withdrawn_release_owes_nothing() -> None:
    assert due(ReleaseFacts(REQUESTED, RECORDS, withdrawn=True)) == ()


def test_long_attacks_are_cut_into_shards_that_cover_each_repetition_once() -> None:
    plan = plan_shards(Attacks(repetitions=7), BLOB, 10**6, 4)
    assert plan is not None
    for adversary in ("partial_qi", "linkage"):
        covered = [r for s in plan.shards if s.adversary == adversary for r in range(s.first, s.last)]
        assert covered == list(range(7))
    # 50 million look-ups a shard, 16 million a repetition: three repetitions each.
    assert [s.last - s.first for s in plan.shards if s.adversary == "linkage"] == [3, 3, 1]
