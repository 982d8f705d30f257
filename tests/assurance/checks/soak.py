"""Soak: moderate load for a while, and whether memory or descriptors of a process grow with it."""

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pratique_local.sample import write_sample
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.processes import descriptors, resident
from tests.assurance.traffic import JSON, Answer, Caller, request_of, unfinished
from tests.support.house import House, house

SECONDS = {Profile.CI: 60, Profile.FULL: 1200}  # SOAK=n for another number
CLIENTS, PAUSE = 3, 1.0  # clients, and seconds that each pauses between two rounds
BETWEEN = 5.0  # seconds between two samples
# A leak of one small release (some 20 kB) at about one release a second makes 70 MiB an hour. What an allocator at rest
# still moves by over ten minutes of samples is some hundred KiB, up to 10 MiB an hour.
SLOPE = 16.0  # MiB an hour, over the second half
DESCRIPTORS = 8  # more at the end than when a quarter of the time was over
WITHDRAWN = 4  # of how many releases one is withdrawn
BACKLOG = 600


@dataclass
class Samples:
    """What every process held, at which second."""

    at: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    memory: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def take(self, running: House, second: float) -> None:
        """Look at the processes of a house, by their command."""
        for pid, name in running.programs().items():
            try:
                held, files = resident(pid), descriptors(pid)
            except (OSError, ValueError):  # it ended meanwhile, and stands in no further sample
                continue
            self.at[name].append(second)
            self.memory[name].append(held)
            self.files[name].append(files)

    def slope(self, name: str) -> float:
        """Return the MiB an hour of a process by least squares over the second half of its samples."""
        half = len(self.at[name]) // 2
        seconds, memory = self.at[name][half:], self.memory[name][half:]
        return float(np.polyfit(np.array(seconds) / 3600, memory, 1)[0]) if len(seconds) > 1 else float("nan")

    def growth(self, name: str) -> int:
        """Return by how many descriptors a process has more at the end than after a quarter of the time."""
        files = self.files[name]
        return files[-1] - files[len(files) // 4]


def soak(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Let clients do what pipelines and people do, and look at every process each five seconds."""
    seconds = float(os.environ.get("SOAK", SECONDS[profile]))
    capture = folder / "sample.pcap"
    write_sample(capture, subscribers=2)
    with house(folder / "house", PRATIQUE_RATE="0") as running:
        begun, samples = time.monotonic(), Samples()
        clients = [Client(running, capture.read_bytes(), begun + seconds, number) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        while (second := time.monotonic() - begun) < seconds:
            samples.take(running, second)
            time.sleep(BETWEEN)
        for client in clients:
            client.join()
        answers = [answer for client in clients for answer in client.answers]
        lost = unfinished(running, [release for client in clients for release in client.stay], BACKLOG)
    yield some("seconds of load", int(seconds), int(seconds))
    yield some("answers", len(answers), CLIENTS)
    yield none("answers of 5xx", sum(answer.status >= 500 for answer in answers))
    yield none("other refusals", sum(400 <= answer.status < 500 for answer in answers))
    yield none("accepted releases that did not end", lost)
    yield from told(samples, profile)


def told(samples: Samples, profile: Profile) -> Iterator[Figure]:
    """Yield the figures of each process. The first minute of a house is no measure of its memory: `full` bounds it."""
    for name in sorted(samples.at):
        yield some(f"samples of {name}", len(samples.at[name]), 4)
        if profile is Profile.FULL:
            yield most(f"memory of {name}, second half", samples.slope(name), SLOPE, "MiB/h")
        yield most(f"descriptors of {name}, end above first quarter", samples.growth(name), DESCRIPTORS)


class Client(threading.Thread):
    """Releases rows and captures, looks at postures, previews, downloads, and withdraws some."""

    def __init__(self, running: House, capture: bytes, until: float, number: int) -> None:
        super().__init__()
        self._running, self._capture, self._until, self._number = running, capture, until, number
        self._caller = Caller(running)
        self.answers: list[Answer] = []
        self.stay: list[str] = []

    def run(self) -> None:
        """Do one round after the other until the time is over."""
        rounds = 0
        while time.monotonic() < self._until:
            self._round(rounds)
            rounds += 1
            time.sleep(PAUSE)
        self._caller.close()

    def _round(self, number: int) -> None:
        body = request_of(200, f"soak-{self._number}-{number}")
        asked = json.loads(body)
        if number % 5 == 4:
            pilot = f"soak-{self._number}-{number}"
            taken = self._ask("POST", f"/captures?pilot={pilot}", self._capture).id
            body = json.dumps({"source": {"capture": taken}, "policy": "C4", "gate": {}}).encode()
        else:
            preview = {name: asked[name] for name in ("source", "attributes", "policy")}
            self._ask("POST", "/preview", json.dumps(preview).encode())
        release = self._ask("POST", "/releases", body).id
        while json.loads(self._ask("GET", f"/releases/{release}").body)["status"] not in ("completed", "failed"):
            time.sleep(0.2)
        self._ask("GET", f"/releases/{release}/posture")
        self._ask("GET", f"/releases/{release}/records?format=csv")
        if number % WITHDRAWN == WITHDRAWN - 1:
            self._ask("DELETE", f"/releases/{release}")
        else:
            self.stay.append(release)

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Answer:
        answer = self._caller.ask(method, path, body, Content_Type=JSON)
        self.answers.append(answer)
        return answer
