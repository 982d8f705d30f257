"""What a queue server is told, and messages put into its queues by hand."""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast

import redis

from pratique_local.secrets import secrets_in
from pratique_local.valkey import url_of
from tests.support.house import House

QUEUES = ("ingest", "privacy", "attack")
_JOB = re.compile(r"(?i)setex arq:job:([0-9a-f]{24}) \d+ (\{.*\})")
_PLACE = re.compile(r"(?i)zadd pratique:(\w+) (?:\w+ )?\d+ ([0-9a-f]{24})$")


class Seen(NamedTuple):
    """A message and the queue that it was put into."""

    queue: str
    message: dict[str, Any]


def server_of(house: House) -> "redis.Redis":
    """Return a connection to the queue server of a house."""
    return redis.Redis.from_url(url_of(house.data, secrets_in(house.data).queue_password))


def put(server: "redis.Redis", queue: str, job: str, text: bytes) -> None:
    """Put a job into a queue as arq does."""
    server.psetex(f"arq:job:{job}", 86_400_000, text)
    server.zadd(f"pratique:{queue}", {job: int(time.time() * 1000) - 1000})


def text_of(message: dict[str, Any], **changed: Any) -> bytes:  # noqa: ANN401 - whatever JSON has
    """Return a job as arq writes it, but for some of its fields."""
    return json.dumps(
        {"t": None, "f": "work", "a": [message], "k": {}, "et": int(time.time() * 1000), **changed}
    ).encode()


def waiting(server: "redis.Redis") -> int:
    """Return how many entries stand in the queues."""
    return sum(cast("int", server.zcard(f"pratique:{queue}")) for queue in QUEUES)


def drained(server: "redis.Redis", patience: float) -> int:
    """Wait until the queues are empty; return how many entries and texts of jobs are left."""
    end = time.monotonic() + patience
    while time.monotonic() < end and waiting(server):
        time.sleep(0.1)
    time.sleep(1)
    return waiting(server) + len(cast("list[bytes]", server.keys("arq:job:*")))


class Ear:
    """Everything that a queue server is told: `commands` as text, `messages` in the order in which they came."""

    def __init__(self, house: House) -> None:
        self.commands: list[str] = []
        self.messages: list[Seen] = []
        self._texts: dict[str, str] = {}
        self._monitor = server_of(house).monitor()  # type: ignore[no-untyped-call]
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._ready = threading.Event()
        self._thread.start()
        self._ready.wait(30)

    def _listen(self) -> None:
        with suppress(redis.RedisError, OSError, ValueError, AttributeError), self._monitor as monitor:
            self._ready.set()
            for told in monitor.listen():
                self._hear(told["command"])

    def _hear(self, command: str) -> None:
        self.commands.append(command)
        if found := _JOB.search(command):
            self._texts[found[1]] = found[2]
        elif (found := _PLACE.search(command)) and found[2] in self._texts:
            self.messages.append(Seen(found[1], json.loads(self._texts.pop(found[2]))["a"][0]))


@contextmanager
def listening(house: House) -> Iterator[Ear]:
    """Listen until the block ends."""
    ear = Ear(house)
    yield ear
