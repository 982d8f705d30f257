"""Damage: what cannot be read any more is passed over, so that one broken fact holds up nothing but its own object."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pydantic import ValidationError

from pratique_shared.runtime.meters import STORE_ERRORS
from pratique_shared.runtime.sealing import BrokenSeal

DAMAGE: Final = (
    BrokenSeal,
    ValidationError,
)  # other bytes than were written, told by a seal or a digest, or by neither

_log = logging.getLogger("pratique.damage")


@contextmanager
def passed_over(entity: str) -> Iterator[None]:
    """Pass over an object of which something stored cannot be read; it stays as it is, is logged and counted.

    `entity` is an id of ours. Of the error only the type is told: its text may hold what was stored.
    """
    try:
        yield
    except DAMAGE as error:
        STORE_ERRORS.labels("stored-bytes-damaged").inc()
        told = {"entity": entity, "error": type(error).__name__}
        _log.error("what is stored of an object cannot be read: it is passed over", extra=told)
