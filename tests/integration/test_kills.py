"""Releases while processes are killed and the queue is flushed: none lost, none doubled, none different."""

import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from pratique_local.secrets import secrets_in
from pratique_local.valkey import url_of
from tests.support.house import House, house

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


def post(running: House, number: int) -> str:
    """Post a release as a pipeline does: again, with the same key, until there is an answer."""
    headers = {"Authorization": f"Bearer {running.key}", "Idempotency-Key": f"release-{number}"}
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            answer = httpx.post(
                f"{running.url}/releases",
                json=REQUEST | {"name": str(number)},
                headers=headers,
                trust_env=False,
                timeout=30,
            )
        except httpx.HTTPError:
            time.sleep(0.2)
            continue
        if answer.status_code == 202:
            identity: str = answer.json()["id"]
            return identity
        assert answer.status_code in (429, 503), answer.text
        time.sleep(0.2)
    raise AssertionError("no answer in two minutes")


def disturb(running: House, kills: int, done: threading.Event) -> None:
    """Kill a process with -9 or flush the queue, again and again."""
    chance = random.Random(7)
    server = redis.Redis.from_url(url_of(running.data, secrets_in(running.data).queue_password))
    for _ in range(kills):
        time.sleep(chance.uniform(0.2, 0.8))
        victims = [pid for pid, name in running.programs().items() if name.startswith(TARGETS)]
        if chance.random() < 0.15 or not victims:
            try:
                server.flushall()
            except redis.RedisError:
                continue
        else:
            os.kill(chance.choice(victims), signal.SIGKILL)
    server.close()
    done.set()


def hold(tmp_path: Path, releases: int, kills: int) -> None:
    with house(tmp_path / "house", "--attack-workers", "2") as running:
        calm = threading.Event()
        breaker = threading.Thread(target=disturb, args=(running, kills, calm))
        breaker.start()
        with ThreadPoolExecutor(8) as pool:
            posted = list(pool.map(lambda number: post(running, number), range(releases)))
        breaker.join()
        last_kill = time.monotonic()
        assert len(set(posted)) == releases
        running.await_ready()
        with running.client() as client:
            for identity in posted:
                client.wait_release(identity, timeout=RECOVERY)
            print(f"{releases} releases, {kills} kills, all ended {time.monotonic() - last_kill:.1f} s after the last")
            listed = [release["id"] for release in client.releases()]
            assert sorted(listed) == sorted(posted)  # none lost, none made twice by a repeated request
            postures = [client.posture(identity) for identity in posted]
            assert {posture["verdict"] for posture in postures} == {"pass"}
            first = postures[0]
            for posture in postures[1:]:  # the same request gives the same figures, whoever died on the way
                assert posture["after"] == first["after"]
                assert posture["attacks"] == first["attacks"]
                assert posture["files"] == first["files"]
            for identity in posted:
                found = client.download_records(identity, tmp_path / "records.parquet")
                assert found.sha256 == first["files"]["parquet"]


def test_forty_releases_survive_kills_and_flushes(tmp_path: Path) -> None:
    hold(tmp_path, releases=40, kills=20)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.skipif("PRATIQUE_KILLS" not in os.environ, reason="the large run is `make assure`")
def test_five_hundred_releases_survive_kills_and_flushes(tmp_path: Path) -> None:
    hold(tmp_path, releases=500, kills=int(os.environ["PRATIQUE_KILLS"]))
