"""Survival: releases while processes are killed and the queue is flushed: none lost, none doubled, none different."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from pratique import Client, PratiqueError, Refused
from pratique_local.sample import write_sample
from tests.assurance import rehearsal
from tests.assurance.killing import Breaker, Kills
from tests.support.house import House, house

PATIENCE = 240  # seconds in which an API that is killed again and again must have answered once
AHEAD = 40  # releases that are posted ahead of their share of the kills
REQUEST = rehearsal.REQUEST | {"attacks": {"repetitions": 20, "seed": 3}}


@dataclass(frozen=True)
class Survival:
    """What became of the releases, and how the house took the kills; `backlog` is seconds from the last kill on."""

    kills: Kills
    ended: int
    lost: int
    doubled: int
    different: int
    withdrawn: int
    undead: int
    backlog: float


def persist(running: House, send: Callable[[httpx.Client], httpx.Response]) -> str:
    """Send a request as a pipeline does: again, with the same key, until there is an answer; return the id in it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with running.http() as http:
                answer = send(http)
        except httpx.HTTPError:
            time.sleep(0.2)
            continue
        if answer.is_success:
            identity: str = answer.json()["id"]
            return identity
        assert answer.status_code in (429, 503), answer.text
        time.sleep(0.2)
    raise AssertionError(f"no answer in {PATIENCE} s")


def post(running: House, number: int, capture: bytes) -> str:
    """Post a release: every fourth one of a capture that is taken in for it, the others with their records."""
    asked = REQUEST
    if number % 4 == 0:
        query = {"pilot": f"pilot-{number}", "name": "sample"}
        taken = persist(running, lambda http: http.post("/captures", params=query, content=capture))
        asked = {"source": {"capture": taken}, "policy": "C4", "gate": {}}
    headers = {"Idempotency-Key": f"release-{number}"}
    body = asked | {"name": str(number)}
    return persist(running, lambda http: http.post("/releases", json=body, headers=headers))


def survive(folder: Path, releases: int, kills: int, pause: float, patience: float) -> Survival:
    """Post releases while a house is killed, withdraw every tenth, wait for all of them, and look at what is there."""
    capture = folder / "sample.pcap"
    hosts = len(write_sample(capture, subscribers=4).hosts)
    content = capture.read_bytes()
    with house(folder / "house", "--attack-workers", "2") as running:
        with Breaker(running, kills, pause) as struck, ThreadPoolExecutor(8) as pool:

            def in_turn(number: int) -> str:
                while number > AHEAD + releases * struck.done / kills:  # work is under way at every kill
                    time.sleep(0.1)
                return post(running, number, content)

            posted = list(pool.map(in_turn, range(releases)))
            withdrawn = posted[5::10]
            for identity in withdrawn:
                with suppress(httpx.HTTPError), running.http() as http:  # if none answers, again below
                    http.delete(f"/releases/{identity}")
        running.await_ready()
        with running.client() as client:
            return _found(client, posted, withdrawn, struck, hosts, folder, patience)


def _found(
    client: Client,
    posted: Sequence[str],
    withdrawn: Sequence[str],
    kills: Kills,
    hosts: int,
    folder: Path,
    patience: float,
) -> Survival:
    for identity in withdrawn:
        client.withdraw(identity)
    gone = set(withdrawn)
    stay = [identity for identity in posted if identity not in gone]
    ended = []
    until = time.monotonic() + patience
    for identity in stay:
        with suppress(PratiqueError):
            client.wait_release(identity, timeout=max(1.0, until - time.monotonic()))
            ended.append(identity)
    backlog = time.monotonic() - kills.last
    of_ended = [(number, one) for number, one in enumerate(posted) if one in ended]
    listed = [release["id"] for release in client.releases()]
    return Survival(
        kills=kills,
        ended=len(ended),
        lost=len(set(stay) - set(ended) | set(stay) - set(listed)) + len(posted) - len(set(posted)),
        doubled=len(listed) - len(set(listed)) + len(set(listed) - set(stay)),
        different=_different(client, of_ended, hosts, folder),
        withdrawn=len(withdrawn),
        undead=sum(not _is_refused(client, identity) for identity in withdrawn),
        backlog=backlog,
    )


def _is_refused(client: Client, identity: str) -> bool:
    try:
        client.posture(identity)
    except Refused:
        return True
    return False


def _different(client: Client, releases: Sequence[tuple[int, str]], hosts: int, folder: Path) -> int:
    """Count the releases whose figures are not those of the first of their kind, or whose bytes are not its own."""
    wrong = 0
    first: dict[bool, Any] = {}
    for number, identity in releases:
        posture = client.posture(identity)
        of_capture = number % 4 == 0
        # Those of rows are one request with one seed: attacks and files are the same, too.
        figures = [posture["after"]] if of_capture else [posture[name] for name in ("after", "attacks", "files")]
        right = figures == first.setdefault(of_capture, figures)
        right &= (
            posture["records"]["in"] == (hosts if of_capture else len(rehearsal.ROWS)) and posture["verdict"] == "pass"
        )
        downloaded = client.download_records(identity, folder / "records.parquet")
        right &= downloaded.sha256 == posture["files"]["parquet"]
        wrong += not right
    return wrong
