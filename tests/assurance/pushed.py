"""Canaries pushed through everything that a service takes, and what it answered."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import httpx

from pratique_local import sample
from pratique_local.sample import write_sample
from pratique_local.sample.subscribers import Subscriber, draw_subscribers
from pratique_local.secrets import secrets_in
from pratique_privacy.settings import FIRST_TENANT
from pratique_privacy.tenant_keys import TenantKeys
from pratique_shared.contracts.facts import KEY_SUFFIX
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.sealing import StorageKey
from tests.assurance.canary import Flock
from tests.assurance.processes import below
from tests.support.house import House

PATIENCE = 300.0  # seconds
RECIPIENT = "canary-lab"
IMSI, MSISDN, IMEI, ADDRESS = "999700123456789", "491701234567", "356938035643809", "198.51.100.177"
VALUE, CELL, TAG = "gullwing canary 41", "petrel canary 77", "TAG-CANARY-31415"
ROWS = [
    {
        "imsi": str(int(IMSI) + number),
        "msisdn": str(int(MSISDN) + number),
        "imei": str(int(IMEI) + number),
        "ip": f"198.51.100.{177 - number}",
        "note": f"{VALUE} {number}",
        "town": f"{CELL} {number}",
        "tag": TAG,
        "role": "UE" if number % 3 else "gNB",
    }
    for number in range(24)
]
ATTRIBUTES = {
    "identifiers": ["imsi", "msisdn", "imei", "note", "tag"],
    "quasi_identifiers": ["ip", "town"],
    "sensitive": ["role"],
}
STEPS: list[dict[str, Any]] = [
    {"column": "imsi", "op": "hmac", "scope": "per_run"},
    {"column": "msisdn", "op": "hmac", "scope": "per_pilot"},
    {"column": "imei", "op": "hmac", "scope": "deterministic"},
    {"column": "note", "op": "cell"},
    {"column": "tag", "op": "cell"},
    {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64},
    {"column": "town", "op": "threshold", "tau": 3},
]
GOOD: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": ATTRIBUTES,
    "policy": {"steps": STEPS},
    "gate": {"k": {"min": 3}},
    "pilot": "lab",
    "recipient": RECIPIENT,
}


def wrong_bodies() -> Iterator[dict[str, Any]]:
    """Yield requests for releases that are refused or fail, each with canaries in another place.

    None is the name of a member, since the pointers of a refusal name members; and none stands in a policy that is
    taken, since that is what an operator publishes about a release.
    """
    yield GOOD | {"policy": {"steps": []}}
    yield GOOD | {"source": {"records": [*ROWS, ROWS[0] | {"role": 5}]}}
    yield GOOD | {"gate": {"k": {"min": IMSI}}}
    yield GOOD | {"policy": {"steps": [*STEPS, {"column": "role", "op": VALUE}]}}
    yield GOOD | {"policy": {"steps": [{"column": VALUE, "op": "cell"}, *STEPS]}}
    yield GOOD | {"policy": {"steps": [{"column": "ip", "op": "hierarchy", "table": {"203.0.113.9": ["x"]}}, *STEPS]}}
    yield GOOD | {"policy": IMSI}
    yield GOOD | {"source": {"capture": IMSI}}
    yield GOOD | {"attributes": {**ATTRIBUTES, "drop": [VALUE]}}
    yield {"source": {"records": [{VALUE: IMSI}] * 3}, "attributes": {"quasi_identifiers": ["x"]}, "policy": "C4"}


@dataclass
class Pushed:
    """What was made, what was refused, and every canary."""

    house: House
    http: httpx.Client = field(repr=False)
    flock: Flock = field(default_factory=Flock)
    errors: list[bytes] = field(default_factory=list, repr=False)
    releases: list[str] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict, repr=False)
    command_lines: set[bytes] = field(default_factory=set, repr=False)
    killed: int = 0

    def ask(self, method: str, path: str, **sent: Any) -> httpx.Response:  # noqa: ANN401 - handed on to httpx
        """Send a request; keep what it was refused with."""
        answer = self.http.request(method, path, **sent)
        if answer.status_code >= 400:
            self.errors.append(f"{answer.headers}".encode() + answer.content)
        return answer

    def until(self, path: str) -> dict[str, Any]:
        """Ask for a state until it is final."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                found: dict[str, Any] = self.ask("GET", path).json()
            except (httpx.HTTPError, ValueError):
                found = {}
            if found.get("status") in ("ready", "completed", "failed"):
                return found
            time.sleep(0.2)
        raise AssertionError(f"{path.split('/')[1]} did not end in {PATIENCE} s")

    def note_processes(self) -> None:
        """Note the command lines of all processes that live now."""
        for pid, _ in below(self.house.process.pid):
            try:
                self.command_lines.add(Path(f"/proc/{pid}/cmdline").read_bytes())
            except OSError:
                continue


def distinct(chance: Random, count: int) -> Iterator[Subscriber]:
    """Draw subscribers whose numbers are no row of zeros: packed, those stand in any file."""
    for one in draw_subscribers(chance, count):
        imsi, msisdn, imeisv = (chance.randrange(10**9, 10**10) for _ in range(3))
        yield replace(one, imsi=f"00101{imsi}", msisdn=f"44{msisdn}", imeisv=f"001017{imeisv}")


def push(pushed: Pushed, folder: Path, hook: str) -> None:
    """Send canaries everywhere, kill what works on them, and wait until all of it has ended."""
    flock, ask = pushed.flock, pushed.ask
    with patch.object(sample, "draw_subscribers", distinct):
        truth = write_sample(folder / "sample.pcapng", subscribers=12)
    for kind, values in truth.identifiers.items():
        flock.add(kind, values)
    flock.add("address", (host for host in truth.hosts if len(host) > 9))
    for column, kind in (
        ("imsi", "imsi"),
        ("msisdn", "msisdn"),
        ("imei", "imei"),
        ("ip", "address"),
        ("note", "value"),
    ):
        flock.add(kind, (str(row[column]) for row in ROWS))
    flock.add("value", [TAG, *(row["town"] for row in ROWS)])
    made = ask("POST", "/webhooks", json={"url": hook}).json()
    flock.add("webhook secret", [made["secret"], made["secret"].removeprefix("whsec_")])
    for role in ("recipient", "auditor"):
        bound = {"recipient": RECIPIENT} if role == "recipient" else {}
        pushed.keys[role] = ask("POST", "/api-keys", json={"role": role, **bound}).json()["key"]
        flock.add("API key", [pushed.keys[role].partition(".")[2]])
    flock.add("API key", [pushed.house.key.partition(".")[2]])

    capture = (folder / "sample.pcapng").read_bytes()
    captures = [
        ask("POST", "/captures", params={"pilot": f"p{n}"}, content=capture[: len(capture) - n]).json()["id"]
        for n in (0, 37)
    ]
    table = "\n".join([",".join(ROWS[0]), *(",".join(map(str, row.values())) for row in ROWS)])
    csv = {"Content-Type": "text/csv"}
    dataset = ask("POST", "/datasets", params={"pilot": "lab"}, content=table.encode(), headers=csv).json()["id"]
    asked = [
        ask("POST", "/releases", json=GOOD),
        ask("POST", "/releases", json=GOOD | {"source": {"dataset": dataset}}),
    ]
    _kill(pushed, "pratique_ingest")
    for body in wrong_bodies():
        ask("POST", "/releases", json=body)
        ask("POST", "/preview", json={key: body[key] for key in ("source", "attributes", "policy")})
    _refused(pushed)
    for source in captures:
        pushed.until(f"/captures/{source}")
        for policy in ("C4", "C6"):
            body = {"source": {"capture": source}, "policy": policy, "gate": {}, "recipient": RECIPIENT}
            asked.append(ask("POST", "/releases", json=body))
    _kill(pushed, "pratique_privacy worker")
    studies: dict[str, dict[str, Any]] = {
        "/sweeps": {"sources": [captures[0]], "configurations": ["C0", "C1", "C4"]},
        "/utility": {"sources": [captures[0]], "label": "role", "taus": [1, 3], "repeats": 2, "trees": 20},
        "/recommendations": {
            **{key: GOOD[key] for key in ("source", "attributes", "gate")},
            "policy": {"steps": [STEPS[0], *STEPS[2:5]]},
        },
    }
    for path, body in studies.items():
        answer = ask("POST", path, json=body)
        assert answer.is_success, answer.text
        pushed.studies += [f"{path}/{answer.json()['id']}"] if answer.status_code == 202 else []
    _kill(pushed, "pratique_attack_sim")
    pushed.releases = [answer.json()["id"] for answer in asked if answer.is_success]
    for release in pushed.releases:
        pushed.until(f"/releases/{release}")
        _read(pushed, release)
    for study in pushed.studies:
        pushed.until(study)
    gone = ask("POST", "/releases", json=GOOD | {"name": "to be withdrawn"}).json()["id"]
    pushed.until(f"/releases/{gone}")
    ask("DELETE", f"/releases/{gone}")
    ask("DELETE", f"/captures/{captures[1]}")
    pushed.note_processes()
    _secrets(pushed)


def _refused(pushed: Pushed) -> None:
    """Send canaries where nothing of the kind is expected."""
    bearer = {"Authorization": f"Bearer {TAG}.{IMSI}"}
    for method, path, sent in (
        ("POST", "/captures", {"params": {"name": "x"}, "content": IMSI.encode()}),
        ("POST", "/captures", {"content": b"\x1f\x8b" + VALUE.encode()}),
        ("POST", "/datasets", {"content": f"a,b\n{VALUE}".encode(), "headers": {"Content-Type": "text/csv"}}),
        (
            "POST",
            "/datasets",
            {"content": f'[{{"a": "{VALUE}"'.encode(), "headers": {"Content-Type": "application/json"}},
        ),
        (
            "POST",
            "/releases",
            {"content": f'{{"source": "{IMSI}'.encode(), "headers": {"Content-Type": "application/json"}},
        ),
        ("GET", f"/releases/{IMSI}", {}),
        ("GET", f"/captures/{VALUE}/records", {}),
        ("GET", f"/releases?after={IMSI}", {}),
        ("GET", f"/releases?{IMSI}={VALUE}", {}),
        ("PUT", f"/policies/{TAG}", {"json": {"steps": [{"column": IMSI, "op": VALUE}]}}),
        ("POST", "/webhooks", {"json": {"url": f"http://127.0.0.1:1/{IMSI}", "events": [VALUE]}}),
        ("GET", "/me", {"headers": bearer}),
        ("GET", f"/{IMSI}", {}),
        ("POST", "/session", {"json": {"key": f"key_{TAG}.{IMSI}"}}),
    ):
        pushed.ask(method, path, **sent)


def _read(pushed: Pushed, release: str) -> None:
    """Read what only operators may: it leaves a trace in the log and the audit."""
    for part in ("preview", "risk?by=record", "suggestions", "posture", "report"):
        pushed.ask("GET", f"/releases/{release}/{part}")


def _kill(pushed: Pushed, program: str) -> None:
    """Kill a worker in the middle of its work: its children abort, it itself is gone at once."""
    pushed.note_processes()
    for pid, name in pushed.house.programs().items():
        if name == program:
            for child, _ in below(pid):
                os.kill(child, signal.SIGABRT)
            os.kill(pid, signal.SIGKILL)
            pushed.killed += 1


def _secrets(pushed: Pushed) -> None:
    """Let every key of the house be a canary: as the hex of its file, and as bytes."""
    data, flock = pushed.house.data, pushed.flock
    kept = secrets_in(data)
    flock.add("queue password", [kept.queue_password])
    flock.add("master key", [kept.master, bytes.fromhex(kept.master)])
    for key in kept.rooms.values():
        flock.add("storage key", [key, bytes.fromhex(key)])
    store = (data / "store").as_uri()
    keys = open_room(store, "keys", StorageKey.of(bytes.fromhex(kept.rooms["keys"])))
    master = StorageKey.of(bytes.fromhex(kept.master))
    flock.add("tenant key", [asyncio.run(TenantKeys(keys, master).current(FIRST_TENANT)).secret])
    for room, key in kept.rooms.items():
        for path in sorted((data / "store" / room / "blobs").rglob(f"*{KEY_SUFFIX}"))[:20]:
            name = str(path.relative_to(data / "store" / room)).removesuffix(KEY_SUFFIX)
            flock.add("data key", [StorageKey.of(bytes.fromhex(key)).unwrap(path.read_bytes(), name)])
