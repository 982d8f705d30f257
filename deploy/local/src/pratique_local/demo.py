"""The demonstration: a capture goes in, a measured release comes out, on a machine that has nothing running."""

import json
import os
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pratique import Client, PratiqueError, render_posture
from pratique_local.sample import write_sample
from pratique_local.supervisor import Supervisor, plan

START = 60  # seconds that everything may take to come up
GATE = {"k": {"min": 3}, "linkage": {"max": 0.5}, "survival": {"min": 0.5}}


def demo(capture: Path | None, policy: str, out: Path, max_packets: int | None = None) -> int:
    """Profile a capture, release it under a built-in policy, print the posture, write what may leave to `out`.

    A release that the gate withholds is an answer too: the exit code is 0 when every step did its work.
    """
    out.mkdir(parents=True, exist_ok=True)
    for left in ("posture.json", "records.parquet"):  # of an earlier run
        (out / left).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="pratique-") as folder, (out / "demo.log").open("wb") as log:
        supervisor = Supervisor(plan(Path(folder), _free_port(), os.environ), log)
        supervisor.start()
        try:
            _await_ready(supervisor)
            with Client(supervisor.plan.url, key_file=Path(folder) / "admin.key") as client:
                _show(client, capture, policy, out, max_packets)
        except (PratiqueError, OSError) as error:
            print(f"{error}\nThe log is in {out / 'demo.log'}.", file=sys.stderr)
            return 1
        finally:
            supervisor.stop()
    return 0


def _show(client: Client, capture: Path | None, policy: str, out: Path, max_packets: int | None) -> None:
    if capture is None:
        capture = out / "sample.pcapng"
        write_sample(capture)
        print(f"1. A generated 5G sample capture: {capture}")
    else:
        print(f"1. Your capture: {capture}")
    sent = client.push_capture(capture, name=capture.name, pilot="demo", max_packets=max_packets)
    found = client.wait_capture(sent["id"])
    roles = _roles(client, found["id"])
    print(f"2. Profiled: {found['packets']} packets, {found['records']} hosts ({roles})")
    release = client.create_release(
        {
            "name": "demo",
            "recipient": "demo-recipient",
            "pilot": "demo",
            "source": {"capture": found["id"]},
            "policy": policy,
            "gate": GATE,
        }
    )
    client.wait_release(release["id"])
    posture = client.posture(release["id"])
    print(f"3. Released under {policy}, attacked, and held against the gate:\n")
    print(render_posture(posture))
    (out / "posture.json").write_text(json.dumps(posture, indent=1) + "\n")
    print(f"\n4. The posture: {out / 'posture.json'}")
    if posture["verdict"] == "pass":
        client.download_records(release["id"], out / "records.parquet")
        print(f"5. The released records: {out / 'records.parquet'}")
    else:
        print("5. No records leave: the gate did not pass.")


def _roles(client: Client, capture: str) -> str:
    counts = Counter(record["role"] for record in client.records(capture))
    first = counts.most_common(6)
    return ", ".join(f"{count} {role}" for role, count in first) + (", .." if len(counts) > len(first) else "")


def _await_ready(supervisor: Supervisor) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until:
        supervisor.watch()
        if supervisor.ready():
            return
        time.sleep(0.1)
    raise TimeoutError(f"Pratique did not come up in {START} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
