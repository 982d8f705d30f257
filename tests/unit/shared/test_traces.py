"""Traces: work belongs to the request that asked for it, and costs nothing where nobody looks."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.traces import LAST_SECONDS, here, resumed, span, trace_id, trace_with, traced
from tests.support.house import free_port

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace_with(provider)
    yield exporter
    trace_with(None)
    provider.shutdown()


def test_a_job_goes_on_in_the_trace_that_its_message_names(spans: InMemorySpanExporter) -> None:
    with span("request", begins=True):
        message = Message(task="advance", id="rel_0000000000", traceparent=here())
    with resumed(message.traceparent), span("privacy advance", entity=message.id), span("measure", attempt=1):
        assert trace_id() == {"trace_id": (message.traceparent or "").split("-")[1]}
    request, measure, advance = spans.get_finished_spans()
    assert [one.name for one in (request, advance, measure)] == ["request", "privacy advance", "measure"]
    for outer, inner in pairwise((request, advance, measure)):
        assert inner.parent is not None
        assert outer.context is not None
        assert inner.context is not None
        assert (inner.parent.span_id, inner.context.trace_id) == (outer.context.span_id, outer.context.trace_id)
    assert dict(advance.attributes or {}) == {"pratique.entity": "rel_0000000000"}


def test_work_that_nobody_asked_for_is_in_no_trace_and_work_under_way_stays_in_its_own(
    spans: InMemorySpanExporter,
) -> None:
    with resumed(None), span("sweep"):
        assert here() is None
    assert spans.get_finished_spans() == ()
    with span("request", begins=True):
        mine = here()
        with resumed(PARENT):
            assert here() == mine


def test_of_an_error_a_span_keeps_the_type_alone(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="001010000000001"), span("measure", begins=True):
        raise ValueError("imsi 001010000000001")
    (found,) = spans.get_finished_spans()
    assert (found.status.status_code, found.status.description) == (StatusCode.ERROR, "ValueError")
    assert found.events == ()
    assert "001010000000001" not in found.to_json()


def test_where_no_collector_is_named_a_span_is_nothing_and_opentelemetry_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    with traced("pratique-api", "1"), span("request", begins=True) as mark:
        mark.name("other")
        mark.note(status=200)
        assert here() is None
    code = (
        "import sys, pratique_shared.runtime.queues as q, pratique_shared.runtime.traces as t\n"
        "with t.span('request', begins=True), t.resumed('x'): pass\n"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_collector_that_is_away_holds_back_nobody_who_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
    with traced("pratique-api", "1"):
        assert "OTEL_EXPORTER_OTLP_HEADERS" not in os.environ
        for _ in range(2000):
            with span("request", begins=True):
                assert here() is not None
        ending = time.monotonic()
    assert time.monotonic() - ending < LAST_SECONDS + 1
    assert here() is None


def test_the_children_that_read_what_is_hostile_load_neither_meters_nor_traces() -> None:
    code = (
        "import sys, pratique_ingest.capture_child, pratique_shared.runtime.children\n"
        "sys.exit(any(name.startswith(('opentelemetry', 'prometheus_client', 'redis')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
