"""The ledger and the attempts: first writers win, and every task ends."""

import asyncio
from pathlib import Path

import pytest

from pratique_shared.contracts.facts import Cancelled, Failure
from pratique_shared.contracts.problems import Conflict, Unavailable
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.children import ChildDied
from pratique_shared.runtime.clock import day_of, made_at, new_id, now
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey

ENTITY = "rel_00000000000000000000000000"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(open_room(tmp_path.as_uri(), "releases", StorageKey(b"k" * 32)))


class Runs:
    """A task that ends as told, run by run, and what it was given up with."""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends, self.runs, self.failures = list(ends), 0, list[Failure]()

    async def run(self) -> None:
        self.runs += 1
        if end := self.ends.pop(0):
            raise end

    async def give_up(self, failure: Failure) -> None:
        self.failures.append(failure)


async def test_a_task_whose_worker_is_told_to_stop_again_and_again_is_never_given_up_for_that(ledger: Ledger) -> None:
    given_up: list[Failure] = []

    async def never() -> None:
        await asyncio.sleep(60)

    async def give_up(failure: Failure) -> None:
        given_up.append(failure)

    for number in range(12):
        work = asyncio.create_task(attempt(ledger, ENTITY, "measure", never, give_up))
        while len(await ledger._room.names(f"facts/{ENTITY}/starts/measure")) == number:
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert given_up == []


async def test_the_second_writer_of_a_fact_leaves_no_trace(ledger: Ledger) -> None:
    assert await ledger.commit(ENTITY, "outcome", Cancelled(at="first"))
    assert not await ledger.commit(ENTITY, "outcome", Cancelled(at="second"))
    assert await ledger.read(ENTITY, "outcome", Cancelled) == Cancelled(at="first")
    assert await ledger.names(ENTITY) == {"outcome"}


async def test_a_child_that_died_once_is_tried_again_and_one_that_died_twice_is_not(ledger: Ledger) -> None:
    once, twice = Runs(ChildDied(), None), Runs(ChildDied(), ChildDied())
    await attempt(ledger, ENTITY, "measure", once.run, once.give_up)
    assert (once.runs, once.failures) == (2, [])
    await attempt(ledger, ENTITY, "publish", twice.run, twice.give_up)
    assert (twice.runs, [failure.code for failure in twice.failures]) == (2, ["task-crashed"])


@pytest.mark.parametrize("code", ["time-limit", "memory-limit"])
async def test_what_a_child_died_of_is_the_code_of_the_task(ledger: Ledger, code: str) -> None:
    runs = Runs(ChildDied(), ChildDied(code))
    await attempt(ledger, ENTITY, "profile", runs.run, runs.give_up)
    assert [failure.code for failure in runs.failures] == [code]


async def test_a_refusal_ends_a_task_with_its_own_code_and_a_missing_part_leaves_it_owed(ledger: Ledger) -> None:
    refused, missing = Runs(Conflict("source-failed", "why")), Runs(Unavailable("store-unavailable", "later"))
    await attempt(ledger, ENTITY, "measure", refused.run, refused.give_up)
    await attempt(ledger, ENTITY, "publish", missing.run, missing.give_up)
    assert [failure.code for failure in refused.failures] == ["source-failed"]
    assert (missing.runs, missing.failures) == (1, [])


async def test_a_damaged_artifact_ends_a_task(ledger: Ledger) -> None:
    damaged = Runs(BrokenSeal("blobs/x"))
    await attempt(ledger, ENTITY, "publish", damaged.run, damaged.give_up)
    assert [failure.code for failure in damaged.failures] == ["artifact-damaged"]


async def test_a_task_that_takes_its_worker_along_is_given_up_at_its_eleventh_start(ledger: Ledger) -> None:
    class Killed(BaseException):
        """The worker is gone: nothing is written any more."""

    async def killed() -> None:
        raise Killed

    given_up = Runs()
    for _ in range(10):
        with pytest.raises(Killed):
            await attempt(ledger, ENTITY, "measure", killed, given_up.give_up)
    await attempt(ledger, ENTITY, "measure", killed, given_up.give_up)
    assert [failure.code for failure in given_up.failures] == ["task-exhausted"]


def test_ids_sort_by_time_and_know_their_day() -> None:
    ids = [new_id("rel") for _ in range(50)]
    assert [identity[:14] for identity in ids] == sorted(identity[:14] for identity in ids)
    assert len(set(ids)) == 50
    assert abs((now() - made_at(ids[0])).total_seconds()) < 5
    assert day_of(ids[0]) == made_at(ids[0]).date().isoformat()
