"""Releases that checks ask for, and everything that can be asked of one afterwards."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from pratique import Client

AT_ONCE = 6  # requests
FORMATS = ("parquet", "arrow", "csv", "ndjson")
ROWS = [{"ip": f"10.3.{n % 5}.{n}", "role": "UE" if n % 3 else "gNB"} for n in range(40)]
REQUEST: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["role"]},
    "policy": {"steps": [{"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}]},
    "attacks": {"repetitions": 5, "seed": 3},
    "gate": {"k": {"min": 3}},
}


def released(client: Client, count: int, **changes: Any) -> list[str]:  # noqa: ANN401 - parts of a JSON body
    """Ask for releases at once, wait for all of them, and return those that passed, in the order asked."""
    asked = [client.create_release({**REQUEST, **changes, "name": str(number)})["id"] for number in range(count)]
    ended = {identity: client.wait_release(identity) for identity in asked}
    return [identity for identity in asked if ended[identity]["verdict"] == "pass"]


def routes_of(release: str) -> list[str]:
    """Return every address below a release that gives something which never changes once it is published."""
    at = f"/releases/{release}"
    files = [f"{at}/records?format={form}" for form in (*FORMATS, "json")]
    parts = ("posture", "gate", "risk", "suggestions", "preview", "certificate", "bundle", "report")
    return [at, *(f"{at}/{part}" for part in parts), *files]


def answers(http: httpx.Client, routes: list[str]) -> dict[str, tuple[int, bytes]]:
    """Return status and bytes of each address."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = zip(routes, pool.map(http.get, routes), strict=True)
        return {route: (answer.status_code, answer.content) for route, answer in found}
