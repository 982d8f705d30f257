"""What reaches its age is shredded with an entry in the log; a clock that jumps deletes nothing, nor what is needed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.retention.keeper import BETWEEN, Keeper
from pratique_privacy.retention.rule import CONFIRMED, LEEWAY, Keep, Watch, looked, needed, overdue
from pratique_privacy.settings import PrivacySettings, keep_of
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.facts import Cancelled
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import StoreFull
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import AttackWork, Members, ProfilesWork, StudyRequested, SweepWork, UtilityWork
from pratique_shared.runtime.clock import id_at, made_at, now, stamp
from tests.unit.privacy.http.world import PCAP, RELEASE, World, build_world, refuse_entries

Made = TypeVar("Made", bound=Contract)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DAY = timedelta(days=1)
MONTH = Keep(captures=30 * DAY, datasets=30 * DAY, releases=30 * DAY)


@dataclass
class Times:
    """A calendar and a monotonic clock that a test moves."""

    calendar: datetime
    monotonic: float = 0.0

    def pass_by(self, seconds: float) -> None:
        self.calendar += timedelta(seconds=seconds)
        self.monotonic += seconds


@dataclass
class Aged:
    """A world with a thing of each kind, and a keeper whose clocks a test moves."""

    world: World
    client: httpx.AsyncClient
    capture: str
    dataset: str
    release: str

    def keeper(self, times: Times, keep: Keep = MONTH) -> Keeper:
        return Keeper(self.world.archive, self.world.audit, keep, lambda: times.calendar, lambda: times.monotonic)

    async def status(self) -> list[int]:
        """What is answered about capture, dataset and release."""
        places = (f"/captures/{self.capture}", f"/datasets/{self.dataset}", f"/releases/{self.release}")
        return [(await self.client.get(place)).status_code for place in places]


async def confirmed(keeper: Keeper, times: Times) -> int:
    """Look until an hour has been seen; return how many went."""
    deleted = await keeper.look()
    for _ in range(int(CONFIRMED // BETWEEN)):
        times.pass_by(BETWEEN)
        deleted += await keeper.look()
    return deleted


@pytest_asyncio.fixture
async def aged(tmp_path: Path) -> AsyncIterator[Aged]:
    world = build_world(tmp_path)
    client = await world.client("admin")
    capture = (await client.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    await world.archive.captures_room.delete(f"pending/{capture}")  # ingest is done with it
    table = await client.post("/datasets", content=b"a\n1\n", headers={"Content-Type": "text/csv"})
    release = (await client.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    yield Aged(world, client, capture, table.json()["id"], release)
    await client.aclose()


def at(days: float, kind: str = "cap") -> str:
    """An id of this many days before noon."""
    return id_at(kind, NOON - days * DAY, 7)  # type: ignore[arg-type]


def partly(kind: type[Made], /, **given: object) -> Made:
    """A contract of which only these fields matter."""
    made: Made = kind.model_construct(**given)  # type: ignore[arg-type, assignment]
    return made


def test_each_kind_has_an_age_of_its_own_and_what_has_none_is_kept() -> None:
    keep = Keep(captures=30 * DAY, releases=365 * DAY)
    names = [at(29), at(31), at(366, "dst"), at(364, "rel"), at(366, "rel"), at(366, "swp")]
    assert overdue(names, keep, NOON) == {names[1], names[4]}
    assert overdue(names, Keep(), NOON) == frozenset()


def test_an_overdue_one_goes_when_the_calendar_said_so_for_an_hour() -> None:
    found = frozenset({at(31)})
    watch, ripe = looked(None, found, NOON, 50.0)
    assert not ripe
    almost = CONFIRMED - 1
    watch, ripe = looked(watch, found, NOON + timedelta(seconds=almost), 50.0 + almost)
    assert not ripe
    _, ripe = looked(watch, found, NOON + timedelta(seconds=CONFIRMED), 50.0 + CONFIRMED)
    assert ripe == found


def test_a_clock_that_moves_against_the_other_begins_the_hour_anew() -> None:
    found = frozenset({at(31)})
    for jump in (LEEWAY + 1, -LEEWAY - 1, 400 * 86_400.0):
        watch, _ = looked(None, found, NOON, 0.0)
        watch, ripe = looked(watch, found, NOON + timedelta(seconds=CONFIRMED + jump), CONFIRMED)
        assert not ripe
        assert watch.since == {at(31): CONFIRMED}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 2000), st.sampled_from([0.0, 0.0, 400.0 * 86_400, -86_400.0])), max_size=12))
def test_nothing_goes_that_was_not_overdue_over_an_hour_of_a_steady_clock(steps: list[tuple[float, float]]) -> None:
    identity, keep = at(29.99), Keep(captures=30 * DAY)
    watch: Watch | None = None
    calendar, monotonic, steady_since = NOON, 0.0, None
    for passed, jump in steps:
        calendar += timedelta(seconds=passed + jump)
        monotonic += passed
        late = calendar - made_at(identity) > 30 * DAY
        steady_since = (monotonic if steady_since is None or jump else steady_since) if late else None
        watch, ripe = looked(watch, overdue([identity], keep, calendar), calendar, monotonic)
        if ripe:
            assert steady_since is not None
            assert monotonic - steady_since >= CONFIRMED - 1e-6


def test_what_runs_needs_what_it_reads_and_what_ended_needs_nothing(
    aged_release: ReleaseFacts,
) -> None:
    asked = aged_release.requested.model_copy(update={"source": Source(captures=(at(1), at(2)))})
    running = ReleaseFacts(asked)
    assert needed([running], []) == {asked.id, at(1), at(2)}
    assert needed([ReleaseFacts(asked, outcome=Cancelled(at=stamp()))], []) == frozenset()
    assert needed([ReleaseFacts(asked, withdrawn=True)], []) == frozenset()

    sweep = partly(SweepWork, kind="sweep", sources=())
    for work, plan, read in (
        (partly(AttackWork, kind="attack", release=at(3, "rel")), None, {at(3, "rel")}),
        (partly(UtilityWork, kind="utility", sources=(at(4), at(4, "dst"))), None, {at(4), at(4, "dst")}),
        (ProfilesWork(capture=at(5), gammas=(), compare=(), seed=1), None, {at(5)}),
        (sweep, Members(releases=(at(6, "rel"),), at=stamp()), {at(6, "rel")}),
    ):
        study = partly(StudyRequested, id=at(0, "swp"), tenant="acme", name=None, work=work, created_at="")
        assert needed([], [StudyFacts(study, plan)]) == {at(0, "swp"), *read}
        assert needed([], [StudyFacts(study, plan, outcome=Cancelled(at=stamp()))]) == frozenset()


@pytest_asyncio.fixture
async def aged_release(aged: Aged) -> ReleaseFacts:
    found = await aged.world.archive.any_release(aged.release)
    assert found is not None
    return found


async def test_what_reached_its_age_is_gone_and_the_log_of_its_tenant_says_who_did_it(aged: Aged) -> None:
    times = Times(now() + 31 * DAY)
    assert await confirmed(aged.keeper(times), times) == 3
    assert await aged.status() == [410, 410, 410]
    blobs = [
        path
        for room in ("captures", "releases", "matrices")
        for path in (aged.world.folder / room / "blobs").rglob("*")
        if path.is_file()
    ]
    assert blobs == []
    written = sorted(await aged.world.audit.every("acme"), key=lambda entry: entry.number)
    entries = [entry for entry in written if entry.role == "retention"]
    assert [(entry.phase, entry.operation, entry.object, entry.status) for entry in entries] == [
        ("asked", "deleteCapture", aged.capture, None),
        ("answered", "deleteCapture", aged.capture, 204),
        ("asked", "deleteDataset", aged.dataset, None),
        ("answered", "deleteDataset", aged.dataset, 204),
        ("asked", "withdrawRelease", aged.release, None),
        ("answered", "withdrawRelease", aged.release, 204),
    ]
    assert await confirmed(aged.keeper(times), times) == 0


async def test_what_is_younger_and_what_nobody_set_an_age_for_stays(aged: Aged) -> None:
    times = Times(now() + 31 * DAY)
    assert await confirmed(aged.keeper(times, Keep(captures=32 * DAY)), times) == 0
    assert await confirmed(aged.keeper(times, Keep(datasets=30 * DAY)), times) == 1
    assert await aged.status() == [200, 410, 200]


async def test_a_clock_that_jumps_a_year_ahead_and_is_put_right_deletes_nothing(aged: Aged) -> None:
    times = Times(now())
    keeper = aged.keeper(times)
    assert await confirmed(keeper, times) == 0
    times.calendar += 365 * DAY
    for _ in range(int(CONFIRMED // BETWEEN)):  # the hour is not over when it is put right
        assert await keeper.look() == 0
        times.pass_by(BETWEEN - 1)
    times.calendar -= 365 * DAY
    assert await confirmed(keeper, times) == 0
    assert await aged.status() == [200, 200, 200]


async def test_a_source_outlives_its_age_as_long_as_a_release_of_it_runs(aged: Aged) -> None:
    asked = {"source": {"capture": aged.capture}, "policy": "C4"}
    running = (await aged.client.post("/releases", json=asked)).json()["id"]
    times = Times(now() + 31 * DAY)
    keeper = aged.keeper(times)
    assert await confirmed(keeper, times) == 2
    assert await aged.status() == [200, 410, 410]
    assert (await aged.client.post(f"/releases/{running}/cancel")).status_code == 202
    times.pass_by(BETWEEN)
    assert await keeper.look() == 1
    assert await aged.status() == [410, 410, 410]


async def test_nothing_is_deleted_that_cannot_be_written_down(aged: Aged, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_entries(aged.world, monkeypatch, StoreFull("store-full", "full"))
    times = Times(now() + 31 * DAY)
    with pytest.raises(StoreFull):
        await confirmed(aged.keeper(times), times)
    monkeypatch.undo()
    assert await aged.status() == [200, 200, 200]


def test_ages_are_days_in_the_environment_and_none_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRATIQUE_MASTER_KEY", "11" * 32)
    monkeypatch.setenv("PRATIQUE_KEEP_CAPTURES_DAYS", "30")
    monkeypatch.setenv("PRATIQUE_KEEP_DATASETS_DAYS", "0")
    assert keep_of(PrivacySettings()) == Keep(captures=30 * DAY)
    monkeypatch.setenv("PRATIQUE_KEEP_CAPTURES_DAYS", "-1")
    with pytest.raises(ValueError, match="keep_captures_days"):
        PrivacySettings()


def damage(path: Path) -> None:
    """Turn one bit."""
    data = path.read_bytes()
    path.write_bytes(data[:3] + bytes([data[3] ^ 1]) + data[4:])


async def test_what_cannot_be_read_is_not_deleted_for_it_and_the_rest_goes(aged: Aged) -> None:
    damage(aged.world.folder / "captures/facts" / aged.capture / "requested")
    for name in (".nfs000000001", "rel_x", "cap_" + "z" * 26):
        await aged.world.archive.releases_room.put_bytes(f"blobs/{name}/1-table", b"of others")
    times = Times(now() + 31 * DAY)
    assert await confirmed(aged.keeper(times), times) == 2
    assert await aged.status() == [500, 410, 410]
    assert await aged.world.archive.captures_room.names(f"blobs/{aged.capture}")


async def test_a_tenant_keeps_all_while_its_running_work_cannot_be_read_and_others_do_not(aged: Aged) -> None:
    running = (await aged.client.post("/releases", json={"source": {"capture": aged.capture}, "policy": "C4"})).json()
    stranger = await aged.world.client("admin", tenant="other")
    theirs = (await stranger.post("/datasets", content=b"a\n1\n", headers={"Content-Type": "text/csv"})).json()["id"]
    path = aged.world.folder / "releases/facts" / running["id"] / "requested"
    damage(path)
    times = Times(now() + 31 * DAY)
    keeper = aged.keeper(times)
    assert await confirmed(keeper, times) == 1
    assert await aged.status() == [200, 200, 200]
    assert (await stranger.get(f"/datasets/{theirs}")).status_code == 410
    damage(path)  # as it was
    times.pass_by(BETWEEN)
    assert await keeper.look() == 2  # all but what the running one reads
    assert await aged.status() == [200, 410, 410]
