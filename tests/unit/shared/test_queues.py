"""The doorbell on a real Valkey server: rings once, looks again, drains, and forgets without harm."""

import asyncio
import gc
import json
import os
import pickle
import signal
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import RedisError

from pratique_shared.contracts.messages import Message
from pratique_shared.runtime import queues
from pratique_shared.runtime.meters import DROPPED
from pratique_shared.runtime.queues import Doorbell, Handler, connect, serve
from tests.support.valkey import valkey

MESSAGE = Message(task="advance", id="rel_00000000000000000000000000")
OTHER = Message(task="advance", id="rel_00000000000000000000000001")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
async def bell(url: str) -> AsyncIterator[Doorbell]:
    bell = await connect(url)
    await bell._redis.flushall()
    yield bell
    await bell.close()


async def test_a_task_that_waits_in_the_queue_is_not_rung_again_however_long_it_waits(bell: Doorbell) -> None:
    for _ in range(3):
        await bell.ring_all("privacy", [MESSAGE, OTHER])
    assert await bell._redis.zcard("pratique:privacy") == 2
    job = (await bell._redis.get("rung:advance:" + MESSAGE.id)).decode()
    await bell.take("privacy", job, MESSAGE)
    assert await bell._redis.zcard("pratique:privacy") == 1
    await bell.ring("privacy", MESSAGE)
    assert await bell._redis.zcard("pratique:privacy") == 2


async def test_a_job_that_the_server_lost_is_rung_again(bell: Doorbell) -> None:
    await bell.ring("privacy", MESSAGE)
    job = (await bell._redis.get("rung:advance:" + MESSAGE.id)).decode()
    await bell._redis.delete("pratique:privacy", f"arq:job:{job}")
    await bell.ring("privacy", MESSAGE)
    assert await bell._redis.zcard("pratique:privacy") == 1


async def test_a_job_whose_worker_was_killed_before_it_took_it_is_rung_again(bell: Doorbell) -> None:
    await bell.ring("privacy", MESSAGE)
    job = (await bell._redis.get("rung:advance:" + MESSAGE.id)).decode()
    await bell._redis.set(f"arq:in-progress:{job}", 1)  # as arq does before it calls us
    await bell.ring("privacy", MESSAGE)
    (fresh,) = await bell._redis.zrange("pratique:privacy", 0, -1)
    assert fresh.decode() != job
    await bell.ring("privacy", MESSAGE)
    assert await bell._redis.zrange("pratique:privacy", 0, -1) == [fresh]


async def test_a_job_that_was_put_in_before_the_clock_was_set_back_is_taken_now(
    bell: Doorbell, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bell.ring("privacy", OTHER)
    (other,) = await bell._redis.zrange("pratique:privacy", 0, -1, withscores=True)
    present = time.time
    monkeypatch.setattr("arq.connections.timestamp_ms", lambda: int((present() + 86_400) * 1000))
    await bell.ring("privacy", MESSAGE)
    assert await bell.bring_forward("privacy") == 1
    first, second = await bell._redis.zrange("pratique:privacy", 0, -1, withscores=True)
    assert first == other  # what is due already keeps its place
    assert second[1] <= time.time() * 1000
    assert await bell.bring_forward("privacy") == 0


async def test_a_lease_that_a_flush_took_away_comes_back_and_nobody_gives_back_anothers(bell: Doorbell) -> None:
    key = "lease:advance:" + MESSAGE.id

    async def flushed() -> None:
        await bell._redis.flushall()
        await bell._redis.set(key, "somebody else's")

    await bell.answer(MESSAGE, flushed)
    assert await bell._redis.get(key) == b"somebody else's"


async def test_the_jobs_of_killed_workers_do_not_stand_before_new_ones(bell: Doorbell, url: str) -> None:
    """arq reads the first hundred ids of a queue only, and leaves what it takes up there until its end."""
    taken: list[str] = []

    def handler(_: Doorbell) -> Handler:
        async def handle(message: Message) -> None:
            taken.append(message.id)
            await asyncio.sleep(2)  # busy while the queue is looked at

        return handle

    worker = asyncio.create_task(serve(url, "ingest", handler, jobs=50))
    capture = Message(task="profile", id="cap_00000000000000000000000000")
    await bell.ring("ingest", capture)
    async with asyncio.timeout(10):
        while not taken:
            await asyncio.sleep(0.01)
    assert await bell._redis.zcard("pratique:ingest") == 0  # nothing of what runs is left in the queue
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    await asyncio.sleep(0.1)


async def test_what_stands_in_a_queue_and_is_no_message_of_ours_is_dropped_and_the_worker_works_on(
    bell: Doorbell, url: str
) -> None:
    taken: list[Message] = []

    async def handle(message: Message) -> None:
        taken.append(message)

    whole: dict[str, Any] = {"t": None, "f": "work", "a": [MESSAGE.model_dump()], "k": {}, "et": 1}
    wrongs: list[Any] = [[], {}, "x", 10**400, None, True]
    texts: list[str | bytes] = [json.dumps({**whole, name: wrong}) for name in whole for wrong in wrongs]
    texts.remove(json.dumps(whole))  # where None is right
    texts.remove(json.dumps({**whole, "k": {}}))
    texts += [pickle.dumps(whole), "[" * 100_000, "", json.dumps(whole) + " " * 10_000]
    jobs = {f"{number:024x}": text for number, text in enumerate(texts)}
    for job, text in jobs.items():
        await bell._redis.set(f"arq:job:{job}", text)
    for key in ("arq:job:" + "e" * 24, "arq:retry:" + "f" * 24):
        await bell._redis.execute_command("RPUSH", key, "a list")  # type: ignore[no-untyped-call]
    await bell._redis.set("arq:job:" + "f" * 24, json.dumps(whole))
    entries: list[Any] = [*jobs, "e" * 24, "f" * 24, b"\xff\xfe", "", "../x"]
    await bell._redis.zadd("pratique:attack", dict.fromkeys(entries, 1))
    before = DROPPED.labels("attack")._value.get()
    worker = asyncio.create_task(serve(url, "attack", lambda _: handle, jobs=2))
    async with asyncio.timeout(20):
        while await bell._redis.zcard("pratique:attack"):
            await asyncio.sleep(0.01)
        await bell.ring("attack", OTHER)
        while not taken:
            await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert [message.id for message in taken] == [OTHER.id]
    assert DROPPED.labels("attack")._value.get() - before == len(entries)


async def test_what_is_worked_on_is_counted_until_it_ends_and_what_a_killed_worker_left_is_soon_gone(
    bell: Doorbell,
) -> None:
    await bell._redis.zadd("pratique:ingest:working", {"of a killed worker": time.time() - 1})
    async with bell.counted("ingest", "a job"), asyncio.timeout(10):
        while await bell._redis.zrange("pratique:ingest:working", 0, -1) != [b"a job"]:
            await asyncio.sleep(0.01)
    assert await bell._redis.zcard("pratique:ingest:working") == 0


async def test_a_worker_says_by_a_file_that_its_loop_turns(bell: Doorbell, url: str, tmp_path: Path) -> None:
    async def handle(_: Message) -> None: ...

    worker = asyncio.create_task(serve(url, "attack", lambda _: handle, jobs=1, alive=tmp_path / "alive"))
    async with asyncio.timeout(10):
        while not (tmp_path / "alive").exists():
            await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert await bell.present("attack")


async def test_a_ring_during_the_work_makes_it_be_done_once_more(bell: Doorbell) -> None:
    done: list[int] = []

    async def work() -> None:
        done.append(len(done))
        if len(done) == 1:
            await bell.ring("privacy", MESSAGE)

    await bell.answer(MESSAGE, work)
    assert done == [0, 1]


async def test_two_workers_never_do_one_task_at_once(bell: Doorbell) -> None:
    inside = most = 0

    async def work() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.05)
        inside -= 1

    await asyncio.gather(*(bell.answer(MESSAGE, work) for _ in range(5)))
    assert most == 1


async def test_nothing_but_a_task_and_an_opaque_id_is_in_the_queue(bell: Doorbell) -> None:
    await bell.ring("privacy", MESSAGE)
    jobs = [await bell._redis.get(key) for key in await bell._redis.keys("arq:job:*")]
    assert len(jobs) == 1
    assert len(jobs[0]) < 1000
    assert jobs[0].startswith(b'{"t"')
    assert b'"a": [{"task": "advance", "id": "rel_00000000000000000000000000"}]' in jobs[0]


async def test_a_server_that_is_gone_is_no_error_for_the_one_who_rings(tmp_path: Path) -> None:
    with valkey(tmp_path) as url:
        bell = await connect(url)
    await bell.ring("privacy", MESSAGE)
    assert not await bell.alive()
    assert await bell.progress(MESSAGE.id) == {}
    await bell.close()


async def test_a_server_that_hangs_counts_as_one_that_is_gone_and_serves_again_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "ANSWER", 1)
    monkeypatch.setattr(queues, "REACHED", 1)

    async def handle(_: Message) -> None: ...

    with valkey(tmp_path) as url:
        bell = await connect(url)
        await bell.ring("privacy", MESSAGE)
        worker = asyncio.create_task(serve(url, "ingest", lambda _: handle, jobs=1, alive=tmp_path / "alive"))
        while not (tmp_path / "alive").exists():
            await asyncio.sleep(0.01)
        process = (await bell._redis.info("server"))["process_id"]
        os.kill(process, signal.SIGSTOP)
        try:
            async with asyncio.timeout(2):  # however many ask at once
                asked = bell.alive(), bell.present("ingest"), bell.progress(MESSAGE.id), bell.sight("privacy")
                others = [bell.alive() for _ in range(30)]
                told = bell.ring("privacy", OTHER), bell.tell_progress(MESSAGE.id, {})
                answers = await asyncio.gather(*asked, *told, *others)
            assert answers == [False, False, {}, None, None, None, *[False] * 30]
            with warnings.catch_warnings(action="ignore"):  # what it leaves open ends with its process
                with pytest.raises(TimeoutError):  # a process that starts meanwhile ends, and is started again
                    await connect(url)
                gc.collect()
            async with asyncio.timeout(5):
                with pytest.raises(RedisError):  # so does a worker
                    await worker
        finally:
            os.kill(process, signal.SIGCONT)
        assert await bell.alive()
        await bell.ring("privacy", OTHER)
        assert await bell._redis.zcard("pratique:privacy") == 2
        await bell.close()


async def test_a_worker_takes_what_is_rung_survives_a_broken_task_and_ends_at_sigterm(bell: Doorbell, url: str) -> None:
    done: list[str] = []

    def handler(_: Doorbell) -> Handler:
        async def handle(message: Message) -> None:
            done.append(message.id)
            if message.id.endswith("0"):
                raise ZeroDivisionError

        return handle

    await bell._redis.enqueue_job("work", {"task": "no task!", "id": "nobody's"}, _queue_name="pratique:ingest")
    for digit in "01":
        await bell.ring("ingest", Message(task="profile", id="cap_0000000000000000000000000" + digit))
    worker = asyncio.create_task(serve(url, "ingest", handler, jobs=1))
    async with asyncio.timeout(10):
        while len(done) < 2 or not await bell.present("ingest"):
            await asyncio.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(10):
        await worker
    assert sorted(digit[-1] for digit in done) == ["0", "1"]
