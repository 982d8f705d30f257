"""A whole Pratique as its operators see it: one trace a request, the meters of each process, lines in the log."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique_local.sample import write_sample
from tests.support.collector import Collector, Seen
from tests.support.house import House

PROCESSES = ("api", "worker", "ingest", "attack-sim")
PATIENCE = 30


@dataclass(frozen=True)
class Observed:
    """A house with a collector, a port for the meters of each process, and what was done there."""

    house: House
    collector: Collector
    capture: str
    release: str
    before: dict[str, dict[str, float]] = field(default_factory=dict)

    def meters(self, process: str) -> dict[str, float]:
        """What a process tells on its port, by series."""
        port = self.house.meters + PROCESSES.index(process)
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=30).text
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(number) for name, _, number in lines}

    def all_meters(self) -> dict[str, dict[str, float]]:
        return {process: self.meters(process) for process in PROCESSES}

    def moved(self, process: str, series: str) -> float:
        """By how much a meter of a process has moved since the fixture began."""
        return self.meters(process).get(series, 0) - self.before[process].get(series, 0)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.house.log.splitlines() if line.startswith('{"at"')]


@pytest.fixture(scope="module")
def observed(running: House, spans: Collector, tmp_path_factory: pytest.TempPathFactory) -> Observed:
    sample: Path = tmp_path_factory.mktemp("observed") / "sample.pcapng"
    write_sample(sample)
    asked: dict[str, Any] = {"policy": "C4", "recipient": "observer", "gate": {"k": {"min": 2}}}
    with running.client() as client:
        before = Observed(running, spans, "", "").all_meters()
        # As nobody else sends it here: the same bytes for the same pilot are one capture.
        capture = client.push_capture(sample, pilot="observed")["id"]
        client.wait_capture(capture)
        release = client.create_release({**asked, "source": {"capture": capture}})["id"]
        assert client.wait_release(release)["verdict"] == "pass"
    return Observed(running, spans, capture, release, before)


def awaited(found: Callable[[], list[Seen]], enough: Callable[[list[Seen]], bool]) -> list[Seen]:
    """Wait until the spans are in: each process sends them a moment later."""
    until = time.monotonic() + PATIENCE
    while not enough(found()) and time.monotonic() < until:
        time.sleep(0.1)
    return found()


def trace_of(observed: Observed, entity: str, service: str) -> Callable[[], list[Seen]]:
    """The spans of the trace in which a service worked on something."""

    def spans() -> list[Seen]:
        every = observed.collector.spans
        traces = {s.trace for s in every if s.service == service and s.attributes.get("pratique.entity") == entity}
        assert len(traces) <= 1, "all work on a release belongs to the request that asked for it"
        return [span for span in every if span.trace in traces]

    return spans


def test_one_post_of_a_release_is_one_trace_over_the_api_and_both_kinds_of_worker(observed: Observed) -> None:
    wanted = {
        ("pratique-api", "createRelease"),
        ("pratique-worker", "privacy advance"),
        ("pratique-worker", "resolve"),
        ("pratique-worker", "measure"),
        ("pratique-attack-sim", "attack attack/partial_qi"),
        ("pratique-attack-sim", "attack/partial_qi"),
        ("pratique-worker", "publish"),
    }
    spans = awaited(
        trace_of(observed, observed.release, "pratique-worker"),
        lambda found: wanted <= {(s.service, s.name) for s in found},
    )
    assert wanted <= {(span.service, span.name) for span in spans}
    (measure,) = [span.attributes for span in spans if span.name == "measure"]
    assert measure == {"pratique.entity": observed.release, "pratique.task": "measure", "pratique.attempt": "1"}


def test_one_post_of_a_capture_is_one_trace_over_the_api_and_ingest(observed: Observed) -> None:
    wanted = {("pratique-api", "addCapture"), ("pratique-ingest", "profile")}
    spans = awaited(
        trace_of(observed, observed.capture, "pratique-ingest"),
        lambda found: wanted <= {(s.service, s.name) for s in found},
    )
    assert wanted <= {(span.service, span.name) for span in spans}


def test_no_span_holds_an_identifier_of_the_capture(observed: Observed) -> None:
    with observed.house.http() as client:
        imsis = client.get(f"/captures/{observed.capture}/identifiers").json()["imsi"]
    assert imsis
    assert not [raw for raw in observed.collector.raw for imsi in imsis if imsi["value"].encode() in raw]
    assert observed.capture.encode() in b"".join(observed.collector.raw)


def test_each_process_tells_its_own_part_on_its_own_port(observed: Observed) -> None:
    taken = 'pratique_http_requests_total{method="POST",operation="createRelease",status="2xx"}'
    assert observed.moved("api", taken) == 1
    api = observed.meters("api")
    assert api['pratique_workers{queue="attack"}'] == 1
    assert api["pratique_queue_server_up"] == 1
    published = 'pratique_releases_total{outcome="published",verdict="pass"}'
    assert observed.moved("worker", published) == 1
    assert observed.moved("worker", 'pratique_certificates_total{outcome="signed"}') == 1
    for stage in ("records", "measured", "attacks", "published"):
        assert observed.moved("worker", f'pratique_release_stage_duration_seconds_count{{stage="{stage}"}}') == 1
    with observed.house.http() as client:
        packets = client.get(f"/captures/{observed.capture}").json()["packets"]
    assert observed.moved("ingest", "pratique_capture_packets_total") == packets > 0
    assert observed.moved("ingest", "pratique_capture_bytes_total") > packets
    assert observed.moved("ingest", 'pratique_captures_total{outcome="ready"}') == 1
    for adversary in ("partial_qi", "linkage"):
        assert observed.moved("attack-sim", f'pratique_shards_total{{kind="attack/{adversary}",outcome="done"}}') >= 1
    versions = [name for each in observed.all_meters().values() for name in each if name.startswith("pratique_build")]
    assert [name.partition('service="')[2].partition('"')[0] for name in versions] == list(PROCESSES)


def test_the_front_door_shows_the_meters_to_the_admin_of_the_house(observed: Observed) -> None:
    with observed.house.http() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    assert "pratique_queue_oldest_job_seconds" in answer.text
    assert observed.release not in answer.text


def test_a_request_and_the_jobs_that_follow_from_it_have_lines_of_one_trace(observed: Observed) -> None:
    lines = observed.lines()
    (asked,) = [
        line for line in lines if line.get("operation") == "createRelease" and line.get("object") == observed.release
    ]
    assert (asked["status"], asked["logger"]) == (202, "pratique.http")
    jobs = [line for line in lines if line["message"] == "a job ended" and line["entity"] == observed.release]
    kinds = {(job["queue"], job["task"], job["outcome"]) for job in jobs if job.get("trace_id") == asked["trace_id"]}
    assert {("privacy", "advance", "done"), ("attack", "attack/partial_qi", "done")} <= kinds
