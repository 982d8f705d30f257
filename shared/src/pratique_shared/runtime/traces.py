"""Traces: one from a request through the queue to every worker that has a part in it (W3C Trace Context).

Without `OTEL_EXPORTER_OTLP_ENDPOINT` nothing of OpenTelemetry is imported and every function here does nothing. A span
holds names, numbers and ids of ours. Of an error it holds the type: its text may hold a value.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SECRETS: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
SEND_SECONDS = 2.0
LAST_SECONDS = 1.0  # a collector that is away holds no process back that is told to stop
Attribute = str | int | float

_tracer: "Tracer | None" = None


class Mark:
    """A span under way; one that is not recorded takes everything and keeps nothing."""

    def __init__(self, span: "Span | None" = None) -> None:
        self._span = span

    def name(self, text: str) -> None:
        """Call the span otherwise."""
        if self._span is not None:
            self._span.update_name(text)

    def note(self, **attributes: Attribute) -> None:
        """Add what is known by now."""
        if self._span is not None:
            self._span.set_attributes({f"pratique.{key}": value for key, value in attributes.items()})


@contextmanager
def traced(service: str, version: str) -> Iterator[None]:
    """Send the spans of the block to the collector that the environment names, if it names one (OTLP over HTTP)."""
    provider = _to_collector(service, version) if any(os.environ.get(name) for name in ENDPOINTS) else None
    trace_with(provider)
    try:
        yield
    finally:
        trace_with(None)
        if provider is not None:
            last = Thread(target=provider.shutdown, daemon=True)
            last.start()
            last.join(LAST_SECONDS)


def _to_collector(service: str, version: str) -> "TracerProvider":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - optional
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise SystemExit(f"{ENDPOINTS[0]} is set: install `pratique-shared[tracing]`, or unset it") from None
    about = Resource.create({"service.name": service, "service.version": version})
    provider = TracerProvider(resource=about, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=SEND_SECONDS)))
    for name in SECRETS:  # no child inherits them
        os.environ.pop(name, None)
    return provider


def trace_with(provider: "TracerProvider | None") -> None:
    """Let spans go to a provider; None: nowhere."""
    global _tracer  # noqa: PLW0603 - a process has one tracer, as it has one log
    _tracer = None if provider is None else provider.get_tracer("pratique")


def here() -> str | None:
    """Return the present place in a trace as `traceparent`, for a message or a fact; None outside of any."""
    if _tracer is None:
        return None
    from opentelemetry.trace import get_current_span  # noqa: PLC0415 - optional

    place = get_current_span().get_span_context()
    return f"00-{place.trace_id:032x}-{place.span_id:016x}-{place.trace_flags:02x}" if place.is_valid else None


def trace_id() -> dict[str, str]:
    """Return the id of the present trace as a log line has it: nothing outside of any."""
    place = here()
    return {} if place is None else {"trace_id": place.split("-")[1]}


@contextmanager
def resumed(parent: str | None) -> Iterator[None]:
    """Go on in the trace of whoever asked for the work, unless a trace is under way or nobody's is known."""
    if _tracer is None or parent is None or here() is not None:
        yield
        return
    from opentelemetry import context, trace  # noqa: PLC0415 - optional

    _, trace_hex, span_hex, flags = parent.split("-")
    place = trace.SpanContext(int(trace_hex, 16), int(span_hex, 16), True, trace.TraceFlags(int(flags, 16)))  # noqa: FBT003
    token = context.attach(trace.set_span_in_context(trace.NonRecordingSpan(place)))
    try:
        yield
    finally:
        context.detach(token)


@contextmanager
def span(name: str, *, begins: bool = False, **attributes: Attribute) -> Iterator[Mark]:
    """Record what the block does as a part of the present trace, or as the first of one where it `begins` one.

    Outside of any trace nothing is recorded: what the sweeper does by itself belongs to nobody.
    """
    if _tracer is None or (not begins and here() is None):
        yield Mark()
        return
    from opentelemetry.trace import StatusCode  # noqa: PLC0415 - optional

    started = _tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False)
    with started as under_way, ExitStack() as at_the_end:

        def note_error(kind: type[BaseException] | None, *_: object) -> None:
            if kind is not None:
                under_way.set_status(StatusCode.ERROR, kind.__name__)

        at_the_end.push(note_error)
        mark = Mark(under_way)
        mark.note(**attributes)
        yield mark
