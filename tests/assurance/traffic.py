"""Traffic: requests over plain sockets, so that what is measured is the service and hardly the client."""

import http.client
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pratique import PratiqueError
from pratique_local.sample import write_sample
from tests.support.house import House

JSON = "application/json"
AT_REST = 3.0  # seconds after which a connection is opened anew: the service closes one after five
PIECE = 1 << 20
FILE_HEADER = 24  # bytes before the first packet of a classic capture


@dataclass(frozen=True)
class Answer:
    """A status, what was said with it, and the seconds from the first byte sent to the last one read."""

    status: int
    body: bytes
    retry_after: str | None
    seconds: float

    @property
    def id(self) -> str:
        """The id of what was made."""
        identity: str = json.loads(self.body)["id"]
        return identity


class Caller:
    """A client with a connection of its own, opened anew after a rest."""

    def __init__(self, running: House, timeout: float = 120) -> None:
        where = urlsplit(running.url)
        self._connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=timeout)
        self._bearer, self._used = f"Bearer {running.key}", time.perf_counter()

    def ask(self, method: str, path: str, body: bytes | Iterator[bytes] | None = None, **headers: str) -> Answer:
        """Send one request, and read the whole answer."""
        given = {"Authorization": self._bearer, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if time.perf_counter() - self._used > AT_REST:
            self._connection.close()
        begun = time.perf_counter()
        self._connection.request(method, path, body, given)
        with closing(self._connection.getresponse()) as got:
            answer = got.read()
        self._used = time.perf_counter()
        return Answer(got.status, answer, got.headers["Retry-After"], self._used - begun)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def rows(count: int) -> list[dict[str, Any]]:
    """Return records of a table as a pipeline sends them."""
    roles = ("UE", "UE", "UE", "gNB", "AMF")
    return [
        {"ip": f"10.{n % 3}.{n % 20}.{n % 250}", "role": roles[n % 5], "packets": n % 40, "slice": f"1-{n % 4:06x}"}
        for n in range(count)
    ]


def request_of(count: int, name: str, repetitions: int = 20) -> bytes:
    """Return the body that asks for a release of so many records of its own."""
    body = {
        "name": name,
        "source": {"records": rows(count)},
        "attributes": {"quasi_identifiers": ["ip", "packets"], "sensitive": ["role", "slice"]},
        "policy": {"steps": [
            {"column": "ip", "op": "ip_prefix", "v4": 16, "v6": 64}, {"column": "packets", "op": "bin", "width": 20}
        ]},
        "attacks": {"repetitions": repetitions, "seed": 3},
        "gate": {"k": {"min": 2}},
    }  # fmt: skip
    return json.dumps(body).encode()


def write_capture(path: Path, size: int) -> int:
    """Write a classic capture of about `size` bytes, the packets of the sample again and again; return its bytes."""
    write_sample(path, subscribers=4)
    head, packets = path.read_bytes()[:FILE_HEADER], path.read_bytes()[FILE_HEADER:]
    with path.open("wb") as file:
        file.write(head)
        for _ in range(max(1, (size - FILE_HEADER) // len(packets))):
            file.write(packets)
    return path.stat().st_size


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file by the MiB."""
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed; NaN where there is none."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else math.nan


def unfinished(running: House, releases: Sequence[str], seconds: float) -> int:
    """Wait for releases, so long in all; return how many of them did not end well."""
    lost, until = 0, time.monotonic() + seconds
    with running.client() as client:
        for identity in releases:
            try:
                client.wait_release(identity, timeout=max(1.0, until - time.monotonic()))
            except PratiqueError:
                lost += 1
    return lost
