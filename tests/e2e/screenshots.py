"""Screenshots of every view, at two widths, light and dark, of a house with something in it.

python -m tests.e2e.screenshots [folder]
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, get_args

import httpx

from pratique import Client
from pratique_local.sample import write_sample
from tests.support.browser import Desk, Scheme, chromium, desk
from tests.support.fake_ics import FakeIcs, coordinator
from tests.support.house import House, free_port, house
from tests.support.released import charging

WIDTHS = (1440, 390)
SETTLE = 2500  # milliseconds until charts are drawn and studies looked up
Views = dict[str, str]


def furnish(running: House, folder: Path) -> Views:
    """Put captures, a table, releases and studies into a house; return what is to be seen, by the picture's name."""
    with running.client() as client:
        captures = [
            push(client, folder, name, subscribers=count) for name, count in (("night shift", 48), ("day shift", 90))
        ]
        table = folder / "charging.json"
        table.write_text(json.dumps({"rows": charging()}))
        client.push_dataset(table, name="charging sessions")
        night, day = captures
        passed = release(client, night, "C4", 3, "night shift, networks")
        failed = release(client, day, "C5", 5, "day shift, protocols")
        client.wait_attack(passed, client.create_attack(passed, {"linkage": {"accuracy": 0.95}})["id"])
        studies = study(client, captures)
        client.create_webhook({"url": "https://hooks.example.com/pratique", "name": "operations room"})
    with running.http() as http:
        for path in ("/signing-keys", "/tenant-keys"):
            http.post(path)
        for role in ("operator", "auditor"):
            http.post("/api-keys", json={"role": role, "name": f"{role} on duty"})
        http.post("/api-keys", json={"role": "recipient", "recipient": "fl-aggregator-1", "name": "round 12"})
    return {
        "captures": f"#/captures/{night}",
        "workbench": f"#/workbench?source={night}",
        "releases": "#/releases",
        "release": f"#/releases/{passed}",
        "compare": f"#/releases/compare?one={passed}&other={failed}",
        "risk": f"#/risk/{failed}",
        "attacks": f"#/attacks/{passed}",
        **{name: f"#/explore/{kind}/{identity}" for name, kind, identity in studies},
        "new-sweep": "#/explore/sweeps/new",
        "ics": "#/integrations/ics",
        "webhooks": "#/integrations/webhooks",
        "api-keys": "#/integrations/api-keys",
        "signing-keys": "#/integrations/signing-keys",
        "tenant-keys": "#/integrations/tenant-keys",
        "gate-floor": "#/integrations/gate-floor",
        "audit": "#/audit",
    }


def push(client: Client, folder: Path, name: str, subscribers: int) -> str:
    """Send a generated capture in and wait until it is profiled."""
    path = folder / f"{name}.pcapng"
    write_sample(path, seed=subscribers, subscribers=subscribers)
    identity: str = client.push_capture(path, name=name, pilot="lab")["id"]
    client.wait_capture(identity)
    return identity


def release(client: Client, capture: str, policy: str, bound: int, name: str) -> str:
    """Ask for a release of a capture and wait for its verdict."""
    identity: str = client.create_release({
        "name": name, "source": {"capture": capture}, "policy": policy, "recipient": "fl-aggregator-1",
        "purpose": "intrusion model round 12", "gate": {"k": {"min": bound}, "linkage": {"max": 0.3}},
    })["id"]  # fmt: skip
    client.wait_release(identity)
    return identity


def study(client: Client, captures: list[str]) -> list[tuple[str, str, str]]:
    """Ask for a study of each kind; return name of the picture, kind and id."""
    advice = client.classify({"source": {"capture": captures[0]}})["columns"]
    lists = {"identifier": "identifiers", "quasi_identifier": "quasi_identifiers"}
    attributes: dict[str, Any] = {}
    for column in advice:
        attributes.setdefault(lists.get(column["class"], column["class"]), []).append(column["column"])
    question = {"source": {"capture": captures[0]}, "attributes": attributes, "gate": {"k": {"min": 5}}}
    names: list[Any] = [f"C{number}" for number in range(8)]
    named = ("ip", "protocols")
    c2 = {
        "quasi_identifiers": named[:1],
        "sensitive": named[1:],
        "drop": [one["column"] for one in advice if one["column"] not in named],
    }
    cut = {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}
    for tau in (3, 5, 8):
        steps = [cut, {"op": "class_support", "tau": tau}]
        names.append({"name": f"C2 τ {tau}", "policy": {"steps": steps}, "attributes": c2})
    groups = {"night": captures[:1], "day": captures[1:]}
    sweep = client.create_sweep({"name": "both shifts", "sources": captures, "groups": groups, "configurations": names})
    utility = client.create_utility({"name": "roles", "sources": captures, "repeats": 10, "trees": 100})
    found = client.create_recommendation({**question, "budget": {"seconds": 20}})
    client.wait_sweep(sweep["id"])
    client.wait_utility(utility["id"])
    client.wait_recommendation(found["id"])
    return [
        ("sweep", "sweeps", sweep["id"]),
        ("recommendation", "recommendations", found["id"]),
        ("utility", "utility", utility["id"]),
    ]


def shoot(window: Desk, views: Views, folder: Path, suffix: str) -> None:
    """Go to each view and take its picture; say which one is wider than its window."""
    page = window.sign_in()
    for name, address in views.items():
        window.open(address)
        page.wait_for_timeout(SETTLE)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            print(f"{name} is wider than {suffix}")
        page.screenshot(path=str(folder / f"{name}-{suffix}.png"), full_page=True)


class Consumer(BaseHTTPRequestHandler):
    """A consumer of the coordinator, which takes what it is sent."""

    def do_POST(self) -> None:
        """Take it."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the library
        """Say nothing."""


@contextmanager
def registered(data: Path) -> Iterator[House]:
    """A house that is a producer of a coordinator, with a job of a consumer and one of a consumer who is gone."""
    taking = ThreadingHTTPServer(("127.0.0.1", 0), Consumer)
    thread = threading.Thread(target=taking.serve_forever)
    thread.start()
    port = free_port()
    with coordinator() as (ics, url):
        settings = {
            "PRATIQUE_ICS_URL": url,
            "PRATIQUE_ICS_CALLBACK_URL": f"http://127.0.0.1:{port}",
            "PRATIQUE_ICS_ALLOW": "127.0.0.0/8",
            "PRATIQUE_ICS_RECIPIENT": "fl-aggregator-1",
        }
        try:
            with house(data, port=port, **settings) as running:
                subscribe(ics, url, {"slice-assurance": taking.server_port, "traffic-steering": free_port()})
                yield running
        finally:
            taking.shutdown()
            thread.join()


def subscribe(ics: FakeIcs, url: str, owners: dict[str, int]) -> None:
    """Let consumers ask the coordinator for postures, once the house has registered."""
    until = time.monotonic() + 60
    while "pratique" not in ics.producers:
        assert time.monotonic() < until
        time.sleep(0.1)
    for owner, port in owners.items():
        job = {
            "info_type_id": "privacy_posture_1.0.0",
            "job_owner": f"rapp-{owner}",
            "job_definition": {},
            "job_result_uri": f"http://127.0.0.1:{port}/postures",
        }
        address = f"{url}/data-consumer/v1/info-jobs/{owner}"
        httpx.put(address, json=job, timeout=60, trust_env=False).raise_for_status()


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, registered(Path(data)) as running, chromium() as browser:
        views = furnish(running, Path(data))
        for width in WIDTHS:
            for scheme in get_args(Scheme):
                with desk(browser, running, color_scheme=scheme, width=width) as window:
                    shoot(window, views, folder, f"{width}-{scheme}")
    print(f"the pictures are in {folder}")


if __name__ == "__main__":
    main()
