"""Overload: far more connections than the service takes; it sheds what it cannot do, and loses nothing of the rest."""

import http.client
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pratique_local.sample import write_sample
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.traffic import JSON, Answer, Caller, request_of, rows, unfinished
from tests.support.house import House, house

CONNECTIONS = 200
SECONDS = {Profile.CI: 20, Profile.FULL: 120}
# A first burst that meets two children with four places to wait, then a trickle.
LIMITS = {"PRATIQUE_RATE": "10", "PRATIQUE_RATE_BURST": "300", "PRATIQUE_API_WAITING": "4"}
SHED = (429, 503)
NORMAL = 30  # seconds in which a well-behaved client must be served once it is over
BACKLOG = 1200


def overload(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Send releases, previews, tables, captures and looks from everybody at once, without a pause."""
    capture = folder / "sample.pcap"
    write_sample(capture, subscribers=2)
    with house(folder / "house", port=None, **LIMITS) as running:
        flood = Flood(running, capture.read_bytes(), time.monotonic() + SECONDS[profile])
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            answers = [answer for each in pool.map(flood.client, range(CONNECTIONS)) for answer in each]
        statuses = Counter(answer.status for answer in answers)
        yield some("requests answered", len(answers), CONNECTIONS)
        yield some("of them served", sum(200 <= status < 300 for status in statuses.elements()))
        for status in SHED:
            yield some(f"of them shed by {status}", statuses[status])
        shed = [answer for answer in answers if answer.status in SHED]
        yield none("shed without Retry-After", sum(answer.retry_after is None for answer in shed))
        yield none("other answers", sum(not (200 <= one < 300 or one in SHED) for one in statuses.elements()))
        yield none("connections that broke", flood.broken)
        yield most("the end of it to a release accepted from one who waits as told", patiently(running), NORMAL, "s")
        yield none("accepted releases that did not end", unfinished(running, flood.accepted, BACKLOG))


class Flood:
    """What everybody sends, and what came of it."""

    def __init__(self, running: House, capture: bytes, until: float) -> None:
        self.running, self.until = running, until
        self.broken, self.accepted = 0, list[str]()
        table = request_of(200, "overload", repetitions=1)
        asked = json.loads(table)
        preview = json.dumps({name: asked[name] for name in ("source", "attributes", "policy")}).encode()
        lines = "\n".join(",".join(map(str, row.values())) for row in rows(500))
        csv = f"{','.join(rows(1)[0])}\n{lines}\n".encode()
        self._asks: list[tuple[str, str, bytes | None, str]] = [
            ("POST", "/releases", table, JSON),
            ("POST", "/preview", preview, JSON),
            ("POST", "/datasets", csv, "text/csv"),
            ("POST", "/captures", capture, "application/octet-stream"),
            ("GET", "/releases", None, JSON),
        ]

    def client(self, number: int) -> list[Answer]:
        """Send one of them after the other until the time is over."""
        caller, chance, answers = Caller(self.running), random.Random(number), list[Answer]()
        while time.monotonic() < self.until or not answers:
            method, path, body, media = chance.choice(self._asks)
            try:
                answer = caller.ask(method, path, body, Content_Type=media)
            except (http.client.HTTPException, OSError):
                self.broken += 1
                caller.close()
                continue
            answers.append(answer)
            if path == "/releases" and answer.status == 202:
                self.accepted.append(answer.id)
        caller.close()
        return answers


def patiently(running: House) -> float:
    """Ask for a release as a client does that waits as long as it is told; return the seconds until it was accepted."""
    begun = time.monotonic()
    while time.monotonic() - begun < 2 * NORMAL:
        caller = Caller(running)
        answer = caller.ask("POST", "/releases", request_of(100, "after"), Content_Type=JSON)
        caller.close()
        if answer.status == 202:
            break
        time.sleep(float(answer.retry_after or 1))
    return time.monotonic() - begun
