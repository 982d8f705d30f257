"""Releases while processes are killed and the queue is flushed: none lost, none doubled, none different."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from pratique import Client, Refused
from pratique_local.sample import write_sample
from pratique_local.secrets import secrets_in
from pratique_local.valkey import url_of
from tests.support.house import House, house

PATIENCE = 240  # seconds in which an API that is killed again and again must have answered once
RECOVERY = 60  # seconds after the last kill in which everything must have ended
TARGETS = ("pratique_privacy", "pratique_attack_sim", "pratique_ingest", "valkey")
ROWS = [{"ip": f"10.0.{n % 7}.{n}", "role": "UE" if n % 3 else "gNB"} for n in range(60)]
REQUEST: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["role"]},
    "policy": {"steps": [{"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}]},
    "attacks": {"repetitions": 20, "seed": 3},
    "gate": {"k": {"min": 3}},
}


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


def post(running: House, number: int, capture: Path) -> str:
    """Post a release: every fourth one of a capture that is taken in for it, the others with their records."""
    asked = REQUEST
    if number % 4 == 0:
        query = {"pilot": f"pilot-{number}", "name": "sample"}
        taken = persist(running, lambda http: http.post("/captures", params=query, content=capture.read_bytes()))
        asked = {"source": {"capture": taken}, "policy": "C4", "gate": {}}
    headers = {"Idempotency-Key": f"release-{number}"}
    body = asked | {"name": str(number)}
    return persist(running, lambda http: http.post("/releases", json=body, headers=headers))


def disturb(running: House, kills: int, pause: float) -> None:
    """Kill a process with -9 or flush the queue, again and again, about every `pause` seconds."""
    chance = random.Random(7)
    server = redis.Redis.from_url(url_of(running.data, secrets_in(running.data).queue_password))
    for _ in range(kills):
        time.sleep(chance.uniform(0.4, 1.6) * pause)
        victims = [pid for pid, name in running.programs().items() if name.startswith(TARGETS)]
        if chance.random() < 0.15 or not victims:
            try:
                server.flushall()
            except redis.RedisError:
                continue
        else:
            os.kill(chance.choice(victims), signal.SIGKILL)
    server.close()


def check_survival(tmp_path: Path, releases: int, kills: int, pause: float) -> None:
    capture = tmp_path / "sample.pcap"
    truth = write_sample(capture, subscribers=4)
    with house(tmp_path / "house", "--attack-workers", "2") as running:
        breaker = threading.Thread(target=disturb, args=(running, kills, pause))
        breaker.start()
        with ThreadPoolExecutor(8) as pool:
            posted = list(pool.map(lambda number: post(running, number, capture), range(releases)))
        withdrawn = posted[5::10]
        for identity in withdrawn:
            with (
                suppress(httpx.HTTPError),
                running.http() as http,
            ):  # if none answers, again below
                http.delete(f"/releases/{identity}")
        breaker.join()
        last_kill = time.monotonic()
        assert len(set(posted)) == releases
        running.await_ready()
        with running.client() as client:
            for identity in withdrawn:
                client.withdraw(identity)
            stay = [identity for identity in posted if identity not in withdrawn]
            for identity in stay:
                client.wait_release(identity, timeout=RECOVERY)
            print(f"{releases} releases, {kills} kills, all ended {time.monotonic() - last_kill:.1f} s after the last")
            listed = [release["id"] for release in client.releases()]
            assert sorted(listed) == sorted(stay)  # none lost, none made twice by a repeated request
            for identity in withdrawn:
                with pytest.raises(Refused):
                    client.posture(identity)
            check_equal(client, [identity for identity in stay if posted.index(identity) % 4], tmp_path)
            of_captures = [client.posture(identity) for identity in stay if posted.index(identity) % 4 == 0]
            assert {posture["records"]["in"] for posture in of_captures} == {len(truth.hosts)}
            assert len({str(posture["after"]) for posture in of_captures}) == 1


def check_equal(client: Client, releases: list[str], tmp_path: Path) -> None:
    """The same request gives the same figures and files, whoever died on the way."""
    postures = [client.posture(identity) for identity in releases]
    assert {posture["verdict"] for posture in postures} == {"pass"}
    first = postures[0]
    for posture in postures[1:]:
        assert posture["after"] == first["after"]
        assert posture["attacks"] == first["attacks"]
        assert posture["files"] == first["files"]
    for identity in releases:
        found = client.download_records(identity, tmp_path / "records.parquet")
        assert found.sha256 == first["files"]["parquet"]


def test_forty_releases_survive_kills_and_flushes(tmp_path: Path) -> None:
    check_survival(tmp_path, releases=40, kills=20, pause=0.5)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.skipif("PRATIQUE_KILLS" not in os.environ, reason="the large run is `make assure`")
def test_five_hundred_releases_survive_kills_and_flushes(tmp_path: Path) -> None:
    check_survival(tmp_path, releases=500, kills=int(os.environ["PRATIQUE_KILLS"]), pause=2.5)
