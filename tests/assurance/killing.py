"""Kills: a running house whose processes are killed and whose queue is flushed, and how long it takes to be well."""

import os
import random
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, get_args

import redis

from pratique_local.secrets import secrets_in
from pratique_local.valkey import url_of
from pratique_shared.contracts.messages import Queue
from tests.support.house import House

TARGETS = ("pratique_privacy", "pratique_attack_sim", "pratique_ingest", "valkey")
PATIENCE = 120  # seconds; one that is not well after that counts as that
QUEUES = {"pratique_privacy worker": "privacy", "pratique_attack_sim": "attack", "pratique_ingest": "ingest"}
NONE: frozenset[bytes] = frozenset()


@dataclass
class Kills:
    """What was done, and the seconds to recovery of those that were given the time for it."""

    done: int = 0
    by_name: dict[str, int] = field(default_factory=dict)
    recoveries: list[float] = field(default_factory=list)
    last: float = 0.0  # of the monotonic clock


@dataclass
class Breaker:
    """Kills with -9 or flushes, again and again, about every `pause` seconds.

    Every second one on average is left alone until the house is well again, and that is timed; the others are followed
    by the next kill wherever recovery stands. Well is: every process lives, `/readyz` answers 200, and each worker that
    was killed shows itself in its queue under a fresh name. `/readyz` alone believes in a dead worker for five seconds.
    """

    house: House
    count: int
    pause: float
    kills: Kills = field(default_factory=Kills)

    def __post_init__(self) -> None:
        self._chance = random.Random(7)
        self._queue: Any = redis.Redis.from_url(url_of(self.house.data, secrets_in(self.house.data).queue_password))
        self._programs = len(self.house.programs())
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Kills:
        self._thread.start()
        return self.kills

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._queue.close()

    def _run(self) -> None:
        while self.kills.done < self.count:
            time.sleep(self._chance.uniform(0.4, 1.6) * self.pause)
            workers = self._workers()
            name = self._strike()
            if name is None:
                continue
            self.kills.last = time.monotonic()
            self.kills.done += 1
            self.kills.by_name[name] = self.kills.by_name.get(name, 0) + 1
            if self._chance.random() < 0.5:
                self.kills.recoveries.append(self._until_well(name, workers, self.kills.last))

    def _strike(self) -> str | None:
        """Kill one, or flush; return what, None where there was nothing to hit."""
        victims = [(pid, name) for pid, name in self.house.programs().items() if name.startswith(TARGETS)]
        if self._chance.random() < 0.15 or not victims:
            try:
                self._queue.flushall()
            except redis.RedisError:
                return None
            return "flush"
        pid, name = self._chance.choice(victims)
        os.kill(pid, signal.SIGKILL)
        return name

    def _workers(self) -> dict[str, frozenset[bytes]]:
        """Return the names of the workers of each queue, those of dead ones too until they are cleared away."""
        found: dict[str, frozenset[bytes]] = {}
        for queue in get_args(Queue):
            with suppress(redis.RedisError):
                found[queue] = frozenset(self._queue.zrange(f"pratique:{queue}:workers", 0, -1))
        return found

    def _until_well(self, name: str, before: dict[str, frozenset[bytes]], struck: float) -> float:
        queue = QUEUES.get(name)

        def is_well() -> bool:
            if len(self.house.programs()) < self._programs or not self.house.ready():
                return False
            return queue is None or bool(self._workers().get(queue, NONE) - before.get(queue, NONE))

        while not is_well() and time.monotonic() - struck < PATIENCE:
            time.sleep(0.05)
        return time.monotonic() - struck
