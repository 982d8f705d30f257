"""Drain: SIGTERM while releases are measured and attacked, then a start on the same folder."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.traffic import unfinished
from tests.support.house import house

RELEASES = {Profile.CI: 3, Profile.FULL: 12}
ROUNDS = {Profile.CI: 2, Profile.FULL: 5}
COLUMNS = [f"q{number}" for number in range(12)]
ROWS = [
    {name: (n * (17 + 2 * at)) % (83 + at) for at, name in enumerate(COLUMNS)} | {"s": n % 5} for n in range(30_000)
]
# A repetition looks 30,000 rows up in 2^12 projections and is a shard: longer than the eight seconds of a drain.
REQUEST: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"quasi_identifiers": COLUMNS, "sensitive": ["s"]},
    "policy": {"steps": []},
    "attacks": {"partial_qi": None, "repetitions": 2, "seed": 1},
    "gate": {},
}
EXIT = 10  # seconds from SIGTERM to the end of every process
UNDER_WAY = 120  # seconds in which shards must have begun
BACKLOG = 1200


def drain(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Stop a house in the middle of its shards, again and again, and see that everything accepted ends."""
    data, in_flight = folder / "house", 0
    accepted: list[str] = []
    seconds: list[float] = []
    codes: list[int] = []
    for _ in range(ROUNDS[profile]):
        before = started(data)
        with house(data, "--attack-workers", "2") as running:
            if not accepted:
                with running.http() as http:
                    accepted = [http.post("/releases", json=REQUEST).json()["id"] for _ in range(RELEASES[profile])]
            in_flight += until_shards_run(data, before)
            begun = time.monotonic()
            codes.append(running.stop())
            seconds.append(time.monotonic() - begun)
    yield some("shards begun and not scored at SIGTERM", in_flight, ROUNDS[profile])
    yield none("exit codes other than 0", sum(code != 0 for code in codes))
    yield most("SIGTERM to the end of every process, longest", max(seconds), EXIT, "s")
    with house(data, "--attack-workers", "2") as running:
        yield none("accepted releases that did not end at the next start", unfinished(running, accepted, BACKLOG))
    starts = started(data)
    yield some("shards run", len(starts), RELEASES[profile])
    yield some("shards cut short and run again", sum(times > 1 for times in starts.values()))
    yield most("starts of one shard", max(starts.values()), ROUNDS[profile] + 1)


def until_shards_run(data: Path, before: dict[str, int]) -> int:
    """Wait until shards have begun that had fewer starts `before`; return how many of those have no score yet."""
    until = time.monotonic() + UNDER_WAY
    while time.monotonic() < until:
        begun = [shard for shard, starts in started(data).items() if starts > before.get(shard, 0)]
        if under_way := sum(not (scores_of(data) / shard).exists() for shard in begun):
            return under_way
        time.sleep(0.1)
    return 0


def scores_of(data: Path) -> Path:
    """Return the folder in which the facts of shards lie, by release and task."""
    return data / "store" / "scores" / "facts"


def started(data: Path) -> dict[str, int]:
    """Return how often each shard was started, as the store has it."""
    found: dict[str, int] = {}
    for start in scores_of(data).glob("*/starts/**/[0-9]*"):
        if start.is_file():
            shard = start.parent.relative_to(scores_of(data)).as_posix().replace("/starts/", "/", 1)
            found[shard] = found.get(shard, 0) + 1
    return found
