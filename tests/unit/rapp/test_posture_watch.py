"""The sample rApp beside the fake coordinator: it asks for its job, and tells of what comes."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import httpx

from pratique_privacy.ics.bodies import ABOUT, POSTURE, SCHEMAS
from tests.support.fake_ics import coordinator
from tests.support.house import free_port
from tests.unit.repo.source import REPOSITORY

PROGRAM = REPOSITORY / "deploy/rapp/posture_watch.py"


def until(look: Any, seconds: float = 10) -> None:  # noqa: ANN401 - any truth will do
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_it_asks_for_failing_postures_tells_of_them_and_takes_its_job_back() -> None:
    check = {"metric": "k", "op": ">=", "bound": 3, "value": 1, "status": "fail"}
    event = {"subject": "rel_1", "data": {"verdict": "fail", "gate": {"checks": [check]}}}
    about = {"description": ABOUT[POSTURE]}
    with coordinator() as (ics, url):
        ics.types[POSTURE] = {"info_job_data_schema": SCHEMAS[POSTURE], "info_type_information": about}
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
