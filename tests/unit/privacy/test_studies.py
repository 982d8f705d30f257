"""The life of a study: what is owed follows from its facts, and every sweep member is one source under one policy."""

from pratique_privacy.flow import Owed
from pratique_privacy.policy.builtin import BUILT_IN
from pratique_privacy.studies import sweep
from pratique_privacy.studies.flow import StudyFacts, StudyState, due, member_part, state
from pratique_privacy.verdict import plan_shards
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.facts import Blob, Cancelled, Failure
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.studies import (
    AttackWork,
    Configuration,
    Members,
    Shards,
    StudyDone,
    StudyFailed,
    StudyRequested,
    SweepSource,
    SweepWork,
)

NOON = "2026-05-04T12:00:00.000000Z"
BLOB = Blob(key="blobs/x/codes", sha256="0" * 64, bytes=8)
SOURCES = tuple(
    SweepSource(id=f"cap_{number:026d}", sha256=str(number) * 64, pilot=None, group=group)
    for number, group in ((1, "lab"), (2, None))
)
CONFIGURATIONS = tuple(
    Configuration(name=name, built_in=name, policy=BUILT_IN[name].policy, attributes=None)
    for name in ("C0", "C4", "C6")
)
SWEEP = SweepWork(
    sources=SOURCES,
    unit="host",
    configurations=CONFIGURATIONS,
    pilot=None,
    ppi=PpiParameters(),
    attacks=Attacks(),
    seed=1,
)


def asked(work: SweepWork | AttackWork) -> StudyRequested:
    return StudyRequested(id=f"swp_{0:026d}", tenant="acme", name=None, work=work, created_at=NOON)


def test_a_sweep_waits_for_its_members_and_concludes_after_the_last() -> None:
    requested = asked(SWEEP)
    assert due(StudyFacts(requested)) == (Owed("privacy", "plan"),)
    members = Members(releases=tuple(f"rel_{n:026d}" for n in range(6)), at=NOON)
    half = StudyFacts(requested, members, frozenset({"requested", "plan", *map(member_part, range(3))}))
    assert (state(half), due(half)) == (StudyState("running", 3, 6), ())
    all_in = StudyFacts(requested, members, frozenset(map(member_part, range(6))))
    assert due(all_in) == (Owed("privacy", "conclude"),)


def test_further_adversaries_owe_their_shards_then_their_answer() -> None:
    requested = asked(AttackWork(release=f"rel_{0:026d}", attacks=Attacks()))
    shards = Shards(work=plan_shards(Attacks(), BLOB, 4, 2), at=NOON)
    tasks = ["attack/exact/0-1", "attack/partial_qi/0-20", "attack/linkage/0-20"]
    one_in = StudyFacts(requested, shards, frozenset(tasks[:1]))
    assert due(one_in) == tuple(Owed("attack", task) for task in tasks[1:])
    assert state(one_in) == StudyState("running", 1, 3)
    assert due(StudyFacts(requested, shards, frozenset(tasks))) == (Owed("privacy", "conclude"),)


def test_nothing_is_owed_of_a_study_with_an_outcome() -> None:
    failure = Failure(code="withdrawn", detail="The release was withdrawn.")
    for outcome, status in (
        (StudyDone(result=BLOB, at=NOON), "completed"),
        (StudyFailed(error=failure, at=NOON), "failed"),
        (Cancelled(at=NOON), "cancelled"),
    ):
        facts = StudyFacts(asked(SWEEP), None, frozenset(), outcome)
        assert (due(facts), state(facts).status) == ((), status)


def test_every_source_meets_every_configuration_once() -> None:
    members = sweep.plan(SWEEP)
    made = list(sweep.requests(asked(SWEEP), SWEEP, members))
    pairs = [(one.source.capture, one.built_in) for one in made]
    assert pairs == [(source.id, name) for source in SOURCES for name in ("C0", "C4", "C6")]
    assert [one.id for one in made] == list(members.releases)
    assert len(set(members.releases)) == 6
    assert [one.member_of.number for one in made if one.member_of] == list(range(6))
    assert len({one.digest for one in made}) == 6
