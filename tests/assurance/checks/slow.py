"""Slow clients: connections that send or read by drops; the others are answered, and the slow ones are ended."""

import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pratique_privacy.http.patience import GRACE, HEAD
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.processes import descriptors
from tests.assurance.traffic import JSON, Caller, quantile
from tests.support.house import House, house

EACH = {"heads": 50, "bodies": 50, "readers": 20}
LIMIT = {"heads": HEAD, "bodies": GRACE, "readers": GRACE}  # seconds after which the service ends them
SLACK = 10.0  # seconds more: it looks each second, and the time of a reader begins when its answer is made
PATIENCE = 90.0
BESIDE = 1.0  # seconds to a normal GET beside them, of 99 in 100
LEEWAY = 4  # descriptors that the pools of the API may have come to hold for good
LINES = 60_000  # of a table whose release fills every buffer between the service and a client that does not read


@dataclass
class Slow:
    """A connection that keeps the service waiting, and the seconds after which it was ended."""

    kind: str
    connection: socket.socket
    begun: float
    ended: float | None = None

    def drip(self) -> None:
        """Send one byte more, unless the other side has ended it."""
        watched = select.poll()
        watched.register(self.connection, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        over = bool(watched.poll(0))
        if not over and self.kind != "readers":
            try:
                self.connection.send(b"x")
            except OSError:
                over = True
        if over:
            self.ended = time.monotonic() - self.begun
            self.connection.close()


class Beside(threading.Thread):
    """A client as everybody is, that asks for a list again and again, over a connection of its own each time."""

    def __init__(self, running: House) -> None:
        super().__init__()
        self._caller, self._over = Caller(running), threading.Event()
        self.seconds: list[float] = []
        self.refused = 0

    def run(self) -> None:
        """Ask until told to stop."""
        while not self._over.wait(0.05):
            answer = self._caller.ask("GET", "/captures")
            self.seconds.append(answer.seconds)
            self.refused += answer.status != 200
            self._caller.close()

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self.join()


def slow_clients(_: Profile, folder: Path) -> Iterator[Figure]:
    """Hold connections open in three ways, watch when they are ended, and ask beside them as everybody does."""
    with house(folder / "house", PRATIQUE_RATE="0") as running:
        (api,) = [pid for pid, name in running.programs().items() if name.endswith("api")]
        path = large_download(running)
        beside = Beside(running)
        beside.start()
        time.sleep(8)  # connections at rest are closed after five seconds
        before = descriptors(api)
        slow = [opened(running, kind, path) for kind, count in EACH.items() for _ in range(count)]
        time.sleep(1)
        held = descriptors(api) - before
        until = time.monotonic() + PATIENCE
        while (still := [each for each in slow if each.ended is None]) and time.monotonic() < until:
            for each in still:
                each.drip()
            time.sleep(1)
        after = descriptors(api)
        beside.stop()
    yield some("slow connections that the API held", held, sum(EACH.values()))
    for kind, limit in LIMIT.items():
        times = [each.ended for each in slow if each.kind == kind and each.ended is not None]
        yield none(f"{kind}: not ended", EACH[kind] - len(times))
        yield most(f"{kind}: the last one ended after", max(times, default=PATIENCE), limit + SLACK, "s")
    yield some("normal requests beside them", len(beside.seconds), 50)
    yield none("normal requests refused", beside.refused)
    yield most("99 of 100 normal requests", quantile(beside.seconds, 0.99), BESIDE, "s")
    yield most("descriptors above before, once they were ended", after - before, LEEWAY)


def opened(running: House, kind: str, path: str) -> Slow:
    """Open a connection and send the beginning of a request: of a head, of a body, or the whole of a download."""
    where = urlsplit(running.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((where.hostname, where.port))
    head = f"Host: {where.netloc}\r\nAuthorization: Bearer {running.key}\r\n"
    match kind:
        case "heads":
            said = f"GET /captures HTTP/1.1\r\n{head}X-Slow: "
        case "bodies":
            said = f"POST /releases HTTP/1.1\r\n{head}Content-Type: {JSON}\r\nContent-Length: 100000\r\n\r\n{{"
        case _:
            said = f"GET {path} HTTP/1.1\r\n{head}\r\n"
    connection.sendall(said.encode())
    return Slow(kind, connection, time.monotonic())


def large_download(running: House) -> str:
    """Make a release of some MB; return the path of its records."""
    line = f"%d,{'a' * 100},x"
    table = "\n".join(["a,b,s", *(line % (n % 100) for n in range(LINES))]).encode()
    caller = Caller(running)
    dataset = caller.ask("POST", "/datasets", table, Content_Type="text/csv").id
    asked = {
        "source": {"dataset": dataset},
        "attributes": {"quasi_identifiers": ["a"], "sensitive": ["s"], "insensitive": ["b"]},
        "policy": {"steps": []},
        "attacks": None,
        "gate": {"k": {"min": 2}},
    }
    release = caller.ask("POST", "/releases", json.dumps(asked).encode(), Content_Type=JSON).id
    caller.close()
    with running.client() as client:
        client.wait_release(release)
    return f"/releases/{release}/records?format=csv"
