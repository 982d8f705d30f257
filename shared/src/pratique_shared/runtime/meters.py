"""Meters: what a process counts of its work, for Prometheus. A label never holds what a caller sent.

Every label has few values, all of them ours: operations, methods, classes of status, codes, queues, kinds, outcomes.
Identifiers, paths, tenants, recipients and values of records are in none.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread
from typing import Final
from wsgiref.simple_server import WSGIServer

from prometheus_client import Counter, Gauge, Histogram, Info, start_http_server
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import CollectorRegistry

from pratique_shared.contracts.messages import Queue

REGISTRY: Final = CollectorRegistry()
MOST_CODES = 300  # refusals are told apart by their code, and there are about 150; a defect cannot make more of them
OTHER = "other"
REQUEST_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30)
WORK_SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600)
# What a message may ask for, and what follows from it; the queue server is no place to make names up in.
TASKS: Final = frozenset(
    {"measure", "publish", "plan", "conclude"}
    | {"advance", "source_ready", "deliver", "reconcile", "profile", "utility"}
    | {f"attack/{adversary}" for adversary in ("exact", "partial_qi", "linkage")}
)

BUILD = Info("pratique_build", "The service and its version.", registry=REGISTRY)

REQUESTS = Counter(
    "pratique_http_requests",
    "Requests that were answered.",
    ("operation", "method", "status"),
    registry=REGISTRY,
)
REQUEST_DURATION = Histogram(
    "pratique_http_request_duration_seconds",
    "Time from a request's head to the end of its answer.",
    ("operation",),
    buckets=REQUEST_SECONDS,
    registry=REGISTRY,
)
IN_FLIGHT = Gauge("pratique_http_requests_in_flight", "Requests that are being answered.", registry=REGISTRY)
REFUSALS = Counter(
    "pratique_http_refusals", "Problem documents that were sent, by their code.", ("code",), registry=REGISTRY
)
RATE_LIMITED = Counter(
    "pratique_http_rate_limited", "Requests beyond a share, by the bucket.", ("bucket",), registry=REGISTRY
)

# Told by a process that looks, and by no other: `see_queue_server`.
QUEUE_SERVER = Gauge("pratique_queue_server_up", "Whether the queue server answers the API.", registry=None)
WAITING = Gauge("pratique_queue_waiting_jobs", "Jobs that wait in a queue.", ("queue",), registry=REGISTRY)
OLDEST = Gauge("pratique_queue_oldest_job_seconds", "How long the oldest has waited.", ("queue",), registry=REGISTRY)
WORKING = Gauge("pratique_queue_working_jobs", "Jobs that are being worked on.", ("queue",), registry=REGISTRY)
WORKERS = Gauge(
    "pratique_workers", "Workers that showed themselves in the last five seconds.", ("queue",), registry=REGISTRY
)

TASK_DURATION = Histogram(
    "pratique_task_duration_seconds",
    "Time that a worker spent on a job.",
    ("queue", "task", "outcome"),
    buckets=WORK_SECONDS,
    registry=REGISTRY,
)
DROPPED = Counter(
    "pratique_messages_dropped", "Entries of a queue that were no messages of ours.", ("queue",), registry=REGISTRY
)
GIVEN_UP = Counter("pratique_tasks_given_up", "Tasks that failed for good, by code.", ("code",), registry=REGISTRY)
CHILD_DEATHS = Counter(
    "pratique_child_deaths", "Children that ended without an answer, by cause.", ("code",), registry=REGISTRY
)
STORE_ERRORS = Counter("pratique_store_errors", "Calls that the store did not serve.", ("code",), registry=REGISTRY)
ROUND_ERRORS = Counter(
    "pratique_round_errors", "Rounds of work in the background that a defect ended.", ("task",), registry=REGISTRY
)

RELEASES_ENDED = Counter(
    "pratique_releases",
    "Releases that have their outcome, parts of studies left out.",
    ("outcome", "verdict"),
    registry=REGISTRY,
)
STAGE_DURATION = Histogram(
    "pratique_release_stage_duration_seconds",
    "Time that a release stood in a stage before the next fact of it was written.",
    ("stage",),
    buckets=WORK_SECONDS,
    registry=REGISTRY,
)
CERTIFICATES = Counter("pratique_certificates", "Certificates by outcome of signing.", ("outcome",), registry=REGISTRY)
AUDIT_ENTRIES = Counter(
    "pratique_audit_entries", "Entries of the audit log, by outcome of writing.", ("outcome",), registry=REGISTRY
)
DELIVERIES = Counter(
    "pratique_deliveries", "Tries to deliver, by channel and outcome.", ("channel", "outcome"), registry=REGISTRY
)

CAPTURES = Counter("pratique_captures", "Captures that have their outcome.", ("outcome",), registry=REGISTRY)
PACKETS = Counter("pratique_capture_packets", "Frames that were profiled.", registry=REGISTRY)
BYTES = Counter("pratique_capture_bytes", "Captured bytes that were profiled.", registry=REGISTRY)
SHARDS = Counter("pratique_shards", "Shards of adversaries and studies.", ("kind", "outcome"), registry=REGISTRY)

# What an alert waits for is there from the start: `increase` does not see a series come up with its first count.
KNOWN: Final[tuple[tuple[Counter, tuple[tuple[str, ...], ...]], ...]] = (
    (RATE_LIMITED, (("caller",), ("failures",))),
    (
        GIVEN_UP,
        (("task-exhausted",), ("task-crashed",), ("time-limit",), ("memory-limit",), ("artifact-damaged",)),
    ),
    (CHILD_DEATHS, (("task-crashed",), ("time-limit",), ("memory-limit",))),
    (STORE_ERRORS, (("store-full",), ("store-unavailable",), ("stored-bytes-damaged",))),
    (
        RELEASES_ENDED,
        (
            *(("published", "pass"), ("withheld", "fail"), ("withheld", "indeterminate")),
            *(("failed", "none"), ("cancelled", "none")),
        ),
    ),
    (CERTIFICATES, (("signed",), ("failed",))),
    (AUDIT_ENTRIES, (("written",), ("failed",))),
    (
        DELIVERIES,
        tuple(
            (channel, ended) for channel in ("webhook", "subscription") for ended in ("delivered", "failed", "dropped")
        ),
    ),
    (CAPTURES, (("ready",), ("failed",))),
)
for _counter, _series in KNOWN:
    for _labels in _series:
        _counter.labels(*_labels)
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
_codes: set[str] = set()


def task_kind(task: str) -> str:
    """Return which kind of work a task is, `other` for a name that is none of ours."""
    kind = task.rpartition("/")[0] if task.count("/") == 2 else task
    kind = kind.partition("/")[0] if kind.startswith("utility/") else kind
    return kind if kind in TASKS else OTHER


def refused(code: str) -> None:
    """Count a problem document."""
    if code not in _codes:
        if len(_codes) >= MOST_CODES:
            code = OTHER
        _codes.add(code)
    REFUSALS.labels(code).inc()


def see_queue(queue: Queue, waiting: int, oldest: float, working: int, workers: int) -> None:
    """Note how a queue stands."""
    WAITING.labels(queue).set(waiting)
    OLDEST.labels(queue).set(oldest)
    WORKING.labels(queue).set(working)
    WORKERS.labels(queue).set(workers)


@cache
def _show_queue_server() -> None:
    REGISTRY.register(QUEUE_SERVER)


def see_queue_server(*, is_up: bool) -> None:
    """Note whether the queue server answers. A process that never looks tells nothing, and not that it does not."""
    QUEUE_SERVER.set(is_up)
    _show_queue_server()


@contextmanager
def outcome_of(counter: Counter, done: str, failed: str) -> Iterator[None]:
    """Count how the block ended in a counter whose one label is the outcome; one that was cut off did not end."""
    ended: str | None = failed
    try:
        yield
        ended = done
    except asyncio.CancelledError:
        ended = None
        raise
    finally:
        if ended is not None:
            counter.labels(ended).inc()


def serve_meters(host: str, port: int | None) -> tuple[WSGIServer, Thread] | None:
    """Serve the meters of this process on a port of their own, where one is set; ends the process where it is taken.

    Whoever reaches the port may read them: it belongs into the network of who operates the service.
    """
    if port is None:
        return None
    try:
        return start_http_server(port, host, REGISTRY)
    except OSError as error:
        raise SystemExit(f"PRATIQUE_METRICS_PORT={port} cannot be opened: {error.strerror}") from None
