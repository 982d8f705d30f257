"""Duplicates and reordering: messages that come twice, backwards, late, or for what was withdrawn.

MONITOR of the queue server shows every message as it is put in. The same ones are put in again under other job ids:
twice each while the work goes on, all of them backwards after it, and those of a release that was withdrawn.
"""

import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import redis

from pratique import Client
from pratique_local.sample import write_sample
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.queue_server import Ear, Seen, drained, listening, put, server_of, text_of
from tests.assurance.rehearsal import FORMATS, REQUEST
from tests.support.house import House, free_ports, house

RELEASES = {Profile.CI: 6, Profile.FULL: 60}
PATIENCE = 240.0  # seconds
Shown = tuple[dict[str, Any], dict[str, Any], dict[str, str], list[bytes]]


def duplicates(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Work once undisturbed, then with every message put in again; the figures and files have to be the same."""
    count, port = RELEASES[profile], free_ports(4)
    write_sample(folder / "sample.pcap", subscribers=4)
    with (
        house(folder / "house", PRATIQUE_METRICS_PORT=str(port)) as running,
        running.client() as client,
        running.http() as http,
        listening(running) as ear,
    ):
        server = server_of(running)
        capture = client.push_capture(folder / "sample.pcap", pilot="calm")["id"]
        client.wait_capture(capture)
        calm = _made(client, capture, 1)
        wanted = [_shown(http, release) for release in calm]
        heard = len(ear.messages)
        stop = threading.Event()
        echo = threading.Thread(target=_echo, args=(server, ear, stop))
        echo.start()
        again = client.push_capture(folder / "sample.pcap", pilot="stormy")["id"]
        stormy = _made(client, capture, count)
        client.wait_capture(again)
        drained(server, PATIENCE)
        stop.set()
        echo.join()
        yield none("records of a capture that came otherwise", int(_records(http, again) != _records(http, capture)))
        yield some("messages of undisturbed work", heard)
        messages = list(dict.fromkeys((seen.queue, seen.message["task"], seen.message["id"]) for seen in ear.messages))
        facts = _facts(running, [*calm, *stormy])
        copies = [Seen(queue, {"task": task, "id": identity}) for queue, task, identity in reversed(messages)]
        yield some(
            "messages put in again backwards, twice, after the end",
            _again(server, [*copies, *copies]),
            2 * len(messages),
        )
        left = drained(server, PATIENCE)
        yield none("facts of releases that came or changed by it", len(facts ^ _facts(running, [*calm, *stormy])))
        gone = stormy.pop()
        client.withdraw(gone)
        withdrawn = _facts(running, [gone])
        of_it = [seen for seen in copies if seen.message["id"] == gone]
        yield some("messages put in for a withdrawn release", _again(server, of_it * 2), len(of_it))
        left += drained(server, PATIENCE)
        yield none("facts of the withdrawn release that came by it", len(withdrawn ^ _facts(running, [gone])))
        yield none("messages left in the queues", left)
        shown = [_shown(http, release) for release in (*calm, *stormy)]
        yield some("releases compared", len(shown), len(calm) + 2 * count - 1)
        yield none("releases with other figures or files", sum(_differs(one, wanted) for one in shown))
        yield none(
            "answers for the withdrawn release other than 410",
            int(http.get(f"/releases/{gone}/records").status_code != 410),
        )
        yield none("releases committed twice", abs(_committed(running) - len(calm) - len(stormy) - 1))


def _made(client: Client, capture: str, count: int) -> list[str]:
    """Make releases of records and as many of a capture; return those that ended."""
    of_capture = {"source": {"capture": capture}, "policy": "C4", "gate": {}, "attacks": {"repetitions": 5, "seed": 3}}
    bodies = [{**body, "name": str(number)} for body in (REQUEST, of_capture) for number in range(count)]
    asked = [client.create_release(body)["id"] for body in bodies]
    return [release for release in asked if client.wait_release(release)["status"] == "completed"]


def _records(http: httpx.Client, capture: str) -> list[dict[str, Any]]:
    """Return the records of a capture without its pilot."""
    rows = http.get(f"/captures/{capture}/records?limit=1000").json()["data"]
    return [{**row, "pilot": None} for row in rows]


def _echo(server: "redis.Redis", ear: Ear, stop: threading.Event) -> None:
    """Put every message that comes in again, twice, but none of our own copies."""
    copied: dict[tuple[str, str, str], int] = {}
    at = len(ear.messages)
    while not stop.is_set():
        while at < len(ear.messages):
            seen, at = ear.messages[at], at + 1
            key = (seen.queue, seen.message["task"], seen.message["id"])
            if copied.setdefault(key, 0) < 2 and seen.message.get("traceparent"):
                copied[key] += 1
                _again(server, [Seen(seen.queue, {"task": key[1], "id": key[2]})] * 2)
        time.sleep(0.005)


def _again(server: "redis.Redis", messages: list[Seen]) -> int:
    for seen in messages:
        put(server, seen.queue, secrets.token_hex(12), text_of(seen.message))
    return len(messages)


def _facts(running: House, releases: list[str]) -> set[tuple[str, bytes]]:
    """Return the facts of releases in every room; the notes of starts are no facts about a release."""
    store = running.data / "store"
    paths = [path for one in releases for path in store.glob(f"*/facts/{one}/**/*") if path.is_file()]
    return {(str(path.relative_to(store)), path.read_bytes()) for path in paths if "starts" not in path.parts}


def _shown(http: httpx.Client, release: str) -> Shown:
    posture = http.get(f"/releases/{release}/posture").json()
    files = [http.get(f"/releases/{release}/records?format={form}").content for form in FORMATS]
    return posture["after"], posture["attacks"], posture["files"], files


def _differs(one: Shown, wanted: list[Shown]) -> bool:
    return one not in wanted


def _committed(running: House) -> int:
    """Return how many releases the workers say that they have published."""
    text = httpx.get(f"http://127.0.0.1:{running.meters + 1}/metrics", trust_env=False).text
    lines = [line for line in text.splitlines() if line.startswith("pratique_releases_total{")]
    return int(sum(float(line.rpartition(" ")[2]) for line in lines))
