"""Followed: a job with its time, its line in the log, and its span in the trace of whoever rang for it."""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pratique_shared.contracts.messages import Message, Queue
from pratique_shared.runtime.meters import TASK_DURATION, task_kind
from pratique_shared.runtime.traces import resumed, span, trace_id

_log = logging.getLogger("pratique.queues")


@contextmanager
def followed(queue: Queue, message: Message) -> Iterator[None]:
    """Follow a job to its end, whatever that is: done, an error, or cut off since its worker was told to stop."""
    kind, began, outcome = task_kind(message.task), time.monotonic(), "error"
    with resumed(message.traceparent), span(f"{queue} {kind}", entity=message.id):
        try:
            yield
            outcome = "done"
        except asyncio.CancelledError:
            outcome = "cut-off"
            raise
        finally:
            seconds = time.monotonic() - began
            TASK_DURATION.labels(queue, kind, outcome).observe(seconds)
            told = {"task": kind, "entity": message.id, "outcome": outcome, "milliseconds": round(seconds * 1000)}
            _log.info("a job ended", extra={"queue": queue, **told, **trace_id()})
