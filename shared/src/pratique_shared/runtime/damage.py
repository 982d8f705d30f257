"""Damage: what cannot be read any more is passed over, so that one broken fact holds up nothing but its own object."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pydantic import ValidationError

from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.meters import ROUND_ERRORS, STORE_ERRORS
from pratique_shared.runtime.sealing import BrokenSeal

# Other bytes than were written, whether a digest tells it or the reader of a fact that has none.
DAMAGE: Final = (BrokenSeal, ValidationError)

_log = logging.getLogger("pratique.damage")


@contextmanager
def passed_over(entity: str) -> Iterator[None]:
    """Pass over an object of which something stored cannot be read; it stays as it is, is logged and counted.

    `entity` is an id of ours. Of the error the log has the type and the frames: its text may hold what was stored.
    """
    try:
        yield
    except DAMAGE:
        STORE_ERRORS.labels("stored-bytes-damaged").inc()
        _log.exception("what is stored of an object cannot be read: it is passed over", extra={"entity": entity})


@contextmanager
def one_round(task: str) -> Iterator[None]:
    """The last resort of work that goes round for all tenants: an error ends this round and not the process.

    Beside it other work goes on. A store that does not answer is a warning; whatever else comes so far is a defect,
    counted and logged with its frames.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the outermost loop of a worker: see above
        if isinstance(error, Problem) and error.retryable:
            _log.warning("a round was cut short", extra={"task": task, "code": error.code})
            return
        ROUND_ERRORS.labels(task).inc()
        _log.exception("a round ended in an error; the next one comes in its time", extra={"task": task})
