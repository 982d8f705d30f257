"""The doorbell: arq queues on a Redis-compatible server. Nothing is kept there that the store does not know.

Messages are JSON of an opaque id and a task name. Job ids are fresh for every ring, since arq refuses an id whose
result or abort mark is still kept. A lease and a note of the last ring spare double work; both may vanish.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from arq import func
from arq.connections import ArqRedis, RedisSettings, create_pool
from arq.constants import in_progress_key_prefix, job_key_prefix
from arq.worker import Worker
from pydantic import ValidationError
from redis.exceptions import RedisError, WatchError

from pratique_shared.contracts.messages import Message, Queue
from pratique_shared.runtime.followed import followed
from pratique_shared.runtime.traces import here
from pratique_shared.runtime.wary import WaryWorker

POLL_DELAY = 0.05  # seconds; arq's own .5 would be felt in every step of a release
DRAIN = 8  # seconds that running work may go on after SIGTERM
LEASE = 10  # seconds
RUNG_KEPT = 86_400  # seconds that the note of a waiting job is kept
AT_ONCE = 500  # tasks of one round trip
JOB_TIMEOUT = 86_400  # seconds; the child's own limits end a task long before
AHEAD = 1  # seconds by which clocks may differ before it is put right
PRESENCE = 5  # seconds that a worker counts as there
PROGRESS_KEPT = 3600
ANSWER = 5  # seconds that the server may take to answer; nothing that we ask it waits for anything
REACHED = 60  # seconds for the first answer, which is asked for again and again, from the start of a process on

_log = logging.getLogger("pratique.queues")
Handler = Callable[[Message], Awaitable[None]]


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()


def _load(raw: bytes) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(raw)
    return loaded


def _name(queue: Queue) -> str:
    return f"pratique:{queue}"


def _soon() -> asyncio.Timeout:
    """Bound a question to the server as a whole; raises `TimeoutError`, an `OSError`, in the block.

    Whoever needs a new connection waits for those before him: redis-py opens one at a time.
    """
    return asyncio.timeout(ANSWER)


def _task(message: Message) -> str:
    return f"{message.task}:{message.id}"


def _settings(url: str) -> RedisSettings:
    """Read the URL of a server: `rediss://` is TLS, and `?ssl_ca_certs=FILE` names the authorities it is held against.

    The name in the certificate must be the one that was dialled, which neither arq nor redis-py ask for by themselves.
    """
    settings = RedisSettings.from_dsn(url)
    settings.ssl_ca_certs = dict(parse_qsl(urlsplit(url).query)).get("ssl_ca_certs")
    settings.ssl_check_hostname = settings.ssl
    settings.conn_retries, settings.conn_retry_delay = 20, 1
    return settings


@dataclass(frozen=True)
class QueueSight:
    """How a queue stands: jobs that wait, the seconds that the oldest has waited, jobs under way, and workers."""

    waiting: int
    oldest: float
    working: int
    workers: int


class Doorbell:
    """Rings tasks, holds leases, and passes progress on."""

    def __init__(self, redis: ArqRedis) -> None:
        self._redis = redis

    async def ring(self, queue: Queue, message: Message) -> None:
        """Ring a task; if it is being worked on, ask whoever does to look again; if it waits in the queue, do nothing.

        A ring that the server loses is made good by the sweeper, so a server that does not answer is no error here.
        """
        await self.ring_all(queue, [message])

    async def ring_all(self, queue: Queue, messages: Sequence[Message]) -> None:
        """Ring many tasks, with a few round trips for all of them."""
        try:
            for start in range(0, len(messages), AT_ONCE):
                await self._ring_some(queue, messages[start : start + AT_ONCE])
        except (RedisError, OSError):
            _log.warning("the queue server did not take a ring; the sweeper will ring again")

    async def _ring_some(self, queue: Queue, messages: Sequence[Message]) -> None:
        tasks = [_task(message) for message in messages]
        async with _soon():
            stands = await self._redis.mget([f"lease:{task}" for task in tasks] + [f"rung:{task}" for task in tasks])
        held, rung = stands[: len(tasks)], stands[len(tasks) :]
        names = [job.decode() if job else "" for job in rung]
        # arq marks a job for a day before we take it: a worker killed in between leaves one that nobody begins.
        marks = [each + name for each in (job_key_prefix, in_progress_key_prefix) for name in names]
        async with _soon():
            found = await self._redis.mget(marks) if any(names) else [None] * len(marks)
        jobs, begun = found[: len(tasks)], found[len(tasks) :]
        for message, task, holder, earlier, job, mark in zip(messages, tasks, held, rung, jobs, begun, strict=True):
            async with _soon():
                if holder is not None:
                    await self._redis.set(f"again:{task}", 1, ex=LEASE)
                elif job is None or mark is not None:
                    await self._put_in(queue, message, earlier)

    async def _put_in(self, queue: Queue, message: Message, earlier: bytes | None) -> None:
        """Put a job of a task into its queue, in the place of an earlier one."""
        fresh = secrets.token_hex(12)
        if earlier is not None:
            await self._redis.zrem(_name(queue), earlier)
        await self._redis.set(f"rung:{_task(message)}", fresh, ex=RUNG_KEPT)
        told = message.model_copy(update={"traceparent": message.traceparent or here()}).model_dump()
        await self._redis.enqueue_job("work", told, _queue_name=_name(queue), _job_id=fresh)

    async def take(self, queue: Queue, job: str, message: Message) -> None:
        """Take a job out of its queue as its work begins: leases and the sweeper are the truth.

        arq would keep it until its end, and the jobs of killed workers for a day, in front of everything that waits.
        """
        await self._redis.delete(f"rung:{_task(message)}")
        await self._redis.zrem(_name(queue), job)

    @asynccontextmanager
    async def counted(self, queue: Queue, job: str) -> AsyncIterator[None]:
        """Count a job as being worked on, beside its queue, for whoever scales workers by what waits and what runs.

        An entry is the job and when it ends unless it is renewed, so that a killed worker's are soon gone.
        """
        key = f"{_name(queue)}:working"

        async def renew() -> None:
            while True:
                with suppress(RedisError, OSError):
                    await self._redis.zremrangebyscore(key, "-inf", time.time())
                    await self._redis.zadd(key, {job: time.time() + LEASE})
                await asyncio.sleep(LEASE / 3)

        renewal = asyncio.create_task(renew())
        try:
            yield
        finally:
            renewal.cancel()
            with suppress(RedisError, OSError):
                await self._redis.zrem(key, job)

    async def answer(self, message: Message, work: Callable[[], Awaitable[None]]) -> None:
        """Do a task under its lease, and once more for every ring that came in meanwhile; somebody else's is left."""
        task, mine = _task(message), secrets.token_hex(8)
        key = f"lease:{task}"
        if not await self._redis.set(key, mine, nx=True, ex=LEASE):
            await self._redis.set(f"again:{task}", 1, ex=LEASE)
            return
        renewal = asyncio.create_task(self._renew(key, mine))
        try:
            await self._redis.delete(f"again:{task}")
            await work()
            while await self._redis.delete(f"again:{task}"):
                await work()
        finally:
            renewal.cancel()
            try:
                await self._give_back(key, mine)
            except WatchError:
                pass  # it changed hands while we looked: it is not ours any more
            except (RedisError, OSError):
                _log.warning("a lease could not be given back; it ends by itself")

    async def _give_back(self, key: str, mine: str) -> None:
        """Remove a lease if it is still ours: after a flush somebody else may hold it."""
        async with self._redis.pipeline(transaction=True) as pipe:
            await pipe.watch(key)
            if await pipe.get(key) == mine.encode():
                pipe.multi()  # type: ignore[no-untyped-call]
                pipe.delete(key)
                await pipe.execute()

    async def _renew(self, key: str, mine: str) -> None:
        while True:
            await asyncio.sleep(LEASE / 3)
            try:
                await self._redis.set(key, mine, ex=LEASE)  # comes back after a flush, too
            except (RedisError, OSError):
                continue  # the work goes on: a lease only spares double work

    async def tell_progress(self, entity: str, progress: dict[str, Any]) -> None:
        """Leave progress for whoever asks; it may vanish."""
        try:
            async with _soon():
                await self._redis.set(f"progress:{entity}", _dump(progress), ex=PROGRESS_KEPT)
        except (RedisError, OSError):
            return

    async def progress(self, entity: str) -> dict[str, Any]:
        """Return the last progress told of an entity, or nothing."""
        try:
            async with _soon():
                raw = await self._redis.get(f"progress:{entity}")
        except (RedisError, OSError):
            return {}
        return _load(raw) if raw else {}

    async def alive(self) -> bool:
        """Whether the server answers."""
        try:
            async with _soon():
                return bool(await self._redis.ping())
        except (RedisError, OSError):
            return False

    async def present(self, queue: Queue) -> bool:
        """Whether a worker of this queue showed itself in the last seconds."""
        try:
            async with _soon():
                return bool(await self._redis.exists(f"worker:{queue}"))
        except (RedisError, OSError):
            return False

    async def show(self, queue: Queue, worker: str) -> None:
        """Show that a worker of this queue is there; `worker` is a name that no other has."""
        await self._redis.set(f"worker:{queue}", 1, ex=PRESENCE)
        await self._redis.zremrangebyscore(f"{_name(queue)}:workers", "-inf", time.time())
        await self._redis.zadd(f"{_name(queue)}:workers", {worker: time.time() + PRESENCE})

    async def bring_forward(self, queue: Queue) -> int:
        """Let jobs wait no longer that were put in by a clock ahead of this one; return how many there were.

        arq takes a job from the moment on that it is ranked by. Nothing of ours is put off, so one that is ranked later
        than now was put in before a clock was set back, or by a machine whose clock is ahead.
        """
        now = time.time() * 1000
        ahead = await self._redis.zrangebyscore(_name(queue), now + AHEAD * 1000, "+inf")
        if ahead:
            await self._redis.zadd(_name(queue), dict.fromkeys(ahead, now), xx=True)
        return len(ahead)

    async def sight(self, queue: Queue) -> QueueSight | None:
        """Return how a queue stands; None where the server does not answer."""
        name, now = _name(queue), time.time()
        try:
            async with _soon():
                first = await self._redis.zrange(name, 0, 0, withscores=True)
                return QueueSight(
                    waiting=await self._redis.zcard(name),
                    # arq ranks a job by the millisecond that it was put in at.
                    oldest=max(0.0, now - first[0][1] / 1000) if first else 0.0,
                    working=len(await self._redis.zrangebyscore(f"{name}:working", now, "+inf")),
                    workers=len(await self._redis.zrangebyscore(f"{name}:workers", now, "+inf")),
                )
        except (RedisError, OSError):
            return None

    async def close(self) -> None:
        """Let the connections go."""
        await self._redis.aclose(close_connection_pool=True)


async def _pool(url: str) -> ArqRedis:
    """Connect to the server at `url`; from then on an answer that does not come within `ANSWER` is a `RedisError`.

    arq sets a limit on connecting only: a server that hangs, or whose packets are lost, would hang whoever asks it.
    """
    async with asyncio.timeout(REACHED):
        redis = await create_pool(_settings(url), job_serializer=_dump, job_deserializer=_load)
    pool = redis.connection_pool
    pool.connection_kwargs["socket_timeout"] = ANSWER
    await pool.disconnect()  # what is connected already knows of no limit
    pool.reset()  # type: ignore[no-untyped-call]
    return redis


async def connect(url: str) -> Doorbell:
    """Connect to the queue server at `url`; raise when it does not answer for a minute, or refuses for 20 s."""
    return Doorbell(await _pool(url))


async def serve(
    url: str,
    queue: Queue,
    handler: Callable[[Doorbell], Handler],
    *,
    jobs: int,
    beside: Callable[[Doorbell], Coroutine[Any, Any, None]] | None = None,
    alive: Path | None = None,
) -> None:
    """Work a queue until SIGTERM: stop taking work, let what runs go on for `DRAIN` seconds, return.

    `handler` is built around the doorbell of this worker; `beside` runs next to it (the sweeper). A lost connection
    raises, and so does a server that hangs: the supervisor starts the process again. The file `alive` is touched as
    long as the loop turns, for a supervisor that can look at nothing else.
    """
    pool = await _pool(url)
    bell = Doorbell(pool)
    worker = _worker(bell, pool, queue, handler(bell), jobs)
    side = [asyncio.create_task(_show_forever(bell, queue, alive))]
    if beside is not None:
        side.append(asyncio.create_task(beside(bell)))
    main = asyncio.create_task(worker.async_run())
    try:
        done, _ = await asyncio.wait({main, *side}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if not task.cancelled():
                task.result()
    finally:
        for task in (main, *side):
            task.cancel()
        await asyncio.gather(main, *side, return_exceptions=True)
        with suppress(RedisError, OSError):  # it takes a mark of its own from the server, which may be away
            await worker.close()
        await bell.close()


def _worker(bell: Doorbell, pool: ArqRedis, queue: Queue, handle: Handler, jobs: int) -> Worker:
    async def work(ctx: dict[Any, Any], message: dict[str, Any]) -> None:
        try:
            taken = Message.model_validate(message)
        except ValidationError:
            worker.dropped(1)
            return
        try:
            with followed(queue, taken):
                await bell.take(queue, ctx["job_id"], taken)
                async with bell.counted(queue, ctx["job_id"]):
                    await handle(taken)
        except Exception:  # noqa: BLE001 - the outermost loop of the worker: a bug in one task stops no other
            _log.exception("a task ended in an error; it is still owed")

    worker = WaryWorker(
        [func(work, name="work", keep_result=0, max_tries=1)],
        queue_name=_name(queue),
        redis_pool=pool,
        job_serializer=_dump,
        job_deserializer=_load,
        poll_delay=POLL_DELAY,
        job_completion_wait=DRAIN,
        job_timeout=JOB_TIMEOUT,
        max_jobs=jobs,
        retry_jobs=False,
        log_results=False,
        health_check_interval=30,
    )
    return worker


async def _show_forever(bell: Doorbell, queue: Queue, alive: Path | None) -> None:
    worker = secrets.token_hex(8)
    while True:
        await bell.show(queue, worker)
        await bell.bring_forward(queue)
        if alive is not None:
            alive.touch()
        await asyncio.sleep(PRESENCE / 3)
