"""A whole Pratique as its operators see it: one trace a request, the meters of each process, lines in the log."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique_local.sample import write_sample
from tests.support.collector import Collector, Seen, collector
from tests.support.house import House, free_port, house

PROCESSES = ("api", "worker", "ingest", "attack-sim")
PATIENCE = 30


@dataclass(frozen=True)
class Observed:
    """A house with a collector, a port for the meters of each process, and what was done there."""

    house: House
    collector: Collector
    port: int
    capture: str
    release: str

    def meters(self, process: str) -> dict[str, float]:
        """What a process tells on its port, by series."""
        text = httpx.get(f"http://127.0.0.1:{self.port + PROCESSES.index(process)}/metrics", trust_env=False).text
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(number) for name, _, number in lines}

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.house.log.splitlines() if line.startswith('{"at"')]


def free_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    while True:
        first = free_port()
        try:
            with ExitStack() as held:
                for number in range(first, first + count):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", number))
        except (OSError, OverflowError):
            continue
        return first


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    folder, port = tmp_path_factory.mktemp("observed"), free_ports(len(PROCESSES))
    settings = {"PRATIQUE_METRICS_PORT": str(port), "PRATIQUE_LOG_LEVEL": "INFO", "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with collector() as spans:
        settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = spans.url
        with house(folder / "data", port=None, **settings) as running, running.client() as client:
            sample: Path = folder / "sample.pcapng"
            write_sample(sample)
            capture = client.push_capture(sample)["id"]
            client.wait_capture(capture)
            asked: dict[str, Any] = {"source": {"capture": capture}, "policy": "C4", "recipient": "fl-1"}
            release = client.create_release({**asked, "gate": {"k": {"min": 2}}})["id"]
            assert client.wait_release(release)["verdict"] == "pass"
            yield Observed(running, spans, port, capture, release)


def awaited(found: Callable[[], list[Seen]], enough: Callable[[list[Seen]], bool]) -> list[Seen]:
    """Wait until the spans are in: each process sends them a moment later."""
    until = time.monotonic() + PATIENCE
    while not enough(found()) and time.monotonic() < until:
        time.sleep(0.1)
    return found()


def trace_of(observed: Observed, operation: str) -> Callable[[], list[Seen]]:
    def spans() -> list[Seen]:
        first = [span for span in observed.collector.spans if span.name == operation]
        return [span for span in observed.collector.spans if first and span.trace == first[0].trace]

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
    spans = awaited(trace_of(observed, "createRelease"), lambda found: wanted <= {(s.service, s.name) for s in found})
    assert wanted <= {(span.service, span.name) for span in spans}
    (measure,) = [span.attributes for span in spans if span.name == "measure"]
    assert measure == {"pratique.entity": observed.release, "pratique.task": "measure", "pratique.attempt": "1"}


def test_one_post_of_a_capture_is_one_trace_over_the_api_and_ingest(observed: Observed) -> None:
    wanted = {("pratique-api", "addCapture"), ("pratique-ingest", "profile")}
    spans = awaited(trace_of(observed, "addCapture"), lambda found: wanted <= {(s.service, s.name) for s in found})
    assert wanted <= {(span.service, span.name) for span in spans}


def test_no_span_holds_an_identifier_of_the_capture(observed: Observed) -> None:
    with observed.house.http() as client:
        imsis = client.get(f"/captures/{observed.capture}/identifiers").json()["imsi"]
    assert imsis
    assert not [raw for raw in observed.collector.raw for imsi in imsis if imsi["value"].encode() in raw]
    assert observed.capture.encode() in b"".join(observed.collector.raw)


def test_each_process_tells_its_own_part_on_its_own_port(observed: Observed) -> None:
    api, worker, ingest, attack = (observed.meters(process) for process in PROCESSES)
    taken = 'pratique_http_requests_total{method="POST",operation="createRelease",status="2xx"}'
    assert api[taken] == 1
    assert api['pratique_workers{queue="attack"}'] == 1
    assert api["pratique_queue_server_up"] == 1
    assert worker['pratique_releases_total{outcome="published",verdict="pass"}'] == 1
    assert worker['pratique_certificates_total{outcome="signed"}'] == 1
    for stage in ("records", "measured", "attacks", "published"):
        assert worker[f'pratique_release_stage_duration_seconds_count{{stage="{stage}"}}'] == 1
    with observed.house.http() as client:
        packets = client.get(f"/captures/{observed.capture}").json()["packets"]
    assert ingest["pratique_capture_packets_total"] == packets > 0
    assert ingest["pratique_capture_bytes_total"] > packets
    assert ingest['pratique_captures_total{outcome="ready"}'] == 1
    done = [number for name, number in attack.items() if name.startswith("pratique_shards_total")]
    assert sum(done) >= 2  # of each simulated adversary at least one
    versions = [name for each in (api, worker, ingest, attack) for name in each if name.startswith("pratique_build")]
    assert [name.partition('service="')[2].partition('"')[0] for name in versions] == list(PROCESSES)


def test_the_front_door_shows_the_meters_to_the_admin_of_the_house(observed: Observed) -> None:
    with observed.house.http() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    assert "pratique_queue_oldest_job_seconds" in answer.text
    assert observed.release not in answer.text


def test_a_request_and_the_jobs_that_follow_from_it_have_lines_of_one_trace(observed: Observed) -> None:
    lines = observed.lines()
    (asked,) = [line for line in lines if line.get("operation") == "createRelease"]
    assert (asked["status"], asked["object"], asked["logger"]) == (202, observed.release, "pratique.http")
    jobs = [line for line in lines if line["message"] == "a job ended" and line["entity"] == observed.release]
    kinds = {(job["queue"], job["task"], job["outcome"]) for job in jobs if job.get("trace_id") == asked["trace_id"]}
    assert {("privacy", "advance", "done"), ("attack", "attack/partial_qi", "done")} <= kinds
