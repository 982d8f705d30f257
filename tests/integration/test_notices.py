"""Webhooks and the O-RAN producer in a whole Pratique: told to the outside though the worker was killed on the way."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from tests.support.fake_ics import coordinator
from tests.support.house import free_port, house
from tests.unit.privacy.http.world import RELEASE

TOKEN = "of-the-coordinator"


class Sink(ThreadingHTTPServer):
    """A receiver that takes messages once it is `open`, and answers 503 until then."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.open, self.turned_away, self.taken = False, 0, list[tuple[str, dict[str, str], bytes]]()


class _Handler(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.open:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.taken.append((self.path, headers, body))
        else:
            self.server.turned_away += 1
        self.send_response(204 if self.server.open else 503)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - as the base class has it


@contextmanager
def sink() -> Iterator[Sink]:
    with Sink() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()


def until(look: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_what_is_owed_outlives_a_killed_worker(tmp_path: Path) -> None:
    port = free_port()
    with sink() as there, coordinator(TOKEN) as (ics, url):
        settings = {
            "PRATIQUE_WEBHOOK_ALLOW": "127.0.0.0/8",
            "PRATIQUE_ICS_ALLOW": "127.0.0.0/8",
            "PRATIQUE_ICS_URL": url,
            "PRATIQUE_ICS_TOKEN": TOKEN,
        }
        here = f"http://127.0.0.1:{there.server_port}"
        callback = f"http://127.0.0.1:{port}"
        with (
            house(tmp_path, PRATIQUE_ICS_CALLBACK_URL=callback, port=port, **settings) as running,
            running.http() as http,
        ):
            until(lambda: "pratique" in ics.producers)
            job = {"info_type_id": "privacy_posture_1.0.0", "job_owner": "w", "job_definition": {}}
            job["job_result_uri"] = f"{here}/postures"
            put = httpx.put(f"{url}/data-consumer/v1/info-jobs/one", json=job, timeout=30, trust_env=False)
            assert put.status_code == 201
            made = http.post("/webhooks", json={"url": f"{here}/hook"}).json()
            asked: dict[str, Any] = {**RELEASE, "gate": {"k": {"min": 1}}}
            release = http.post("/releases", json=asked, headers={"Prefer": "wait=30"}).json()
            until(lambda: there.turned_away >= 2)
            (worker,) = [pid for pid in running.programs() if _is_worker(pid)]
            os.kill(worker, signal.SIGKILL)
            there.open = True
            until(lambda: {path for path, _, _ in there.taken} == {"/hook", "/postures"})
            registration = http.get("/integrations/ics").json()["registration"]
            audited = {(one["operation"], one["status"]) for one in http.get("/audit?limit=1000").json()["data"]}
            intact = http.get("/audit/check").json()["intact"]
    told = {path: (headers, body) for path, headers, body in there.taken}
    event = Webhook(made["secret"]).verify(told["/hook"][1], told["/hook"][0])
    assert (event["type"], event["subject"]) == ("release.completed", release["id"])
    posture = json.loads(told["/postures"][1])
    assert posture["data"]["verdict"] == release["verdict"]
    assert registration["registered"] is True
    assert {("createWebhook", 201), ("putInfoJob", 200)} <= audited
    assert intact is True
    assert TOKEN not in running.log
    assert made["secret"] not in running.log


def _is_worker(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[2:4] == [b"pratique_privacy", b"worker"]
