"""Mutated captures and bodies: each is answered, in a process that keeps its limits."""

import asyncio
import http.client
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from pratique_privacy.tables import LIMITS
from tests.assurance.bodies import meant, mutated
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.mutations import HANG, run
from tests.assurance.processes import below, most_resident
from tests.assurance.traffic import Answer, Caller
from tests.support.house import House, house

CAPTURES = {Profile.CI: 4_000, Profile.FULL: 90_000}
BODIES = {Profile.CI: 500, Profile.FULL: 10_000}
MEMORY = 512  # MiB of a child that reads captures
TABLES = LIMITS.memory >> 20  # MiB of one that reads tables
SEED, CLIENTS = 1, 2


def fuzz(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Put mutated captures to limited children, a thousand each, then send mutated bodies to a running service."""
    total = CAPTURES[profile]
    found = asyncio.run(run(first=0, count=total, seed=SEED, processes=2))
    yield some("mutated captures answered", found.taken, total)
    yield some("packets read in them", found.packets, total)
    yield none("exceptions, hangs and dead children", len(found.faults))
    yield most("slowest capture on one path", found.slowest, HANG, "s")
    yield most("largest child", found.memory, MEMORY, "MiB")
    with house(folder / "house", PRATIQUE_RATE="0") as running:
        yield from bodies(running, BODIES[profile])


def bodies(running: House, total: int) -> Iterator[Figure]:
    """Send mutated bodies, and yield what the answers and the processes were."""
    (api,) = [pid for pid, name in running.programs().items() if name.endswith("api")]
    before = {pid for pid, name in running.programs().items() if name}
    sent = Bodies(running)
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda _: sent.client(total), range(CLIENTS)))
    statuses = Counter(answer.status for answer in sent.answers)
    yield some("mutated bodies answered", len(sent.answers), total)
    yield some("of them accepted", sum(times for status, times in statuses.items() if status < 300))
    yield some("of them refused", sum(times for status, times in statuses.items() if 400 <= status < 500))
    yield none("answers of 5xx", sum(times for status, times in statuses.items() if status >= 500))
    yield none("connections that broke", sent.broken)
    yield most("slowest answer", max(answer.seconds for answer in sent.answers), HANG, "s")
    yield none(f"answers over {HANG:.0f} s", sum(answer.seconds > HANG for answer in sent.answers))
    yield most("largest child of the API", max(most_resident(child) for child, _ in below(api)), TABLES, "MiB")
    yield none("processes of the service that ended", len(before - set(running.programs())))
    yield none("not ready at the end", not running.ready())


class Bodies:
    """Requests by number, and what came back."""

    def __init__(self, running: House) -> None:
        self._running, self._meant, self._numbers = running, meant(), count()
        self._lock = threading.Lock()
        self.answers: list[Answer] = []
        self.broken = 0

    def client(self, total: int) -> None:
        """Send those whose number is drawn, until all were."""
        caller = Caller(self._running)
        while (number := next(self._numbers)) < total:
            sent = mutated(self._meant, SEED, number)
            try:
                answer = caller.ask("POST", sent.path, sent.body, Content_Type=sent.media)
            except (http.client.HTTPException, OSError):
                with self._lock:
                    self.broken += 1
                caller.close()
                continue
            if answer.status >= 500 or answer.seconds > HANG:
                print(f"body {number} to {sent.path}: {answer.status} in {answer.seconds:.1f} s", flush=True)
            with self._lock:
                self.answers.append(answer)
        caller.close()
