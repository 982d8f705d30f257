"""The sample rApp beside the fake coordinator: it asks for its job, and tells of what comes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from pratique_privacy.ics.bodies import ABOUT, POSTURE, SCHEMAS
from tests.support.fake_ics import FakeIcs
from tests.support.house import free_port
from tests.unit.repo.source import REPOSITORY

PROGRAM = REPOSITORY / "deploy/rapp/posture_watch.py"


@contextmanager
def coordinator() -> Iterator[tuple[FakeIcs, str]]:
    """A fake coordinator on a port of loopback, the type known."""
    ics = FakeIcs(httpx.AsyncClient(trust_env=False))
    about = {"description": ABOUT[POSTURE]}
    ics.types[POSTURE] = {"info_job_data_schema": SCHEMAS[POSTURE], "info_type_information": about}
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(ics.app, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield ics, f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


def until(look: Any, seconds: float = 10) -> None:  # noqa: ANN401 - any truth will do
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_it_asks_for_failing_postures_tells_of_them_and_takes_its_job_back() -> None:
    check = {"metric": "k", "op": ">=", "bound": 3, "value": 1, "status": "fail"}
    event = {"subject": "rel_1", "data": {"verdict": "fail", "gate": {"checks": [check]}}}
    with coordinator() as (ics, url):
        port = free_port()
        here = f"http://127.0.0.1:{port}"
        settings = {"ICS_URL": url, "RESULT_URL": here, "PORT": str(port), "PILOTS": "lab, field"}
        process = subprocess.Popen(
            [sys.executable, PROGRAM], env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            until(lambda: "posture-watch-1" in ics.jobs)
            job = ics.jobs["posture-watch-1"]
            with httpx.Client(base_url=here, trust_env=False) as producer:
                assert producer.post("/postures", content=json.dumps([event, event])).status_code == 204
                assert producer.post("/postures", content=b"no json").status_code == 400
                assert producer.get("/").status_code == 204
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate(timeout=10)
            assert process.returncode == 0
            assert ics.jobs == {}
        finally:
            process.kill()
            process.wait()
    assert job["info_job_data"]["pilots"] == ["lab", "field"]
    assert job["target_uri"] == f"{here}/postures"
    assert out.decode().splitlines() == ["job DISABLED", "rel_1 fail: k >= 3", "rel_1 fail: k >= 3"]
