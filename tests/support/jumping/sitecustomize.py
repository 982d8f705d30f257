"""A clock that jumps: every Python process with this folder on its path is off by the seconds in a file.

`CLOCK_OFFSET` in the environment names the file. What measures how long something took, the monotonic clock, stays as
it is, as it does when an operating system's clock is set.
"""

import os
import time
from datetime import datetime, tzinfo
from pathlib import Path

_present = time.time
_offset = Path(os.environ.get("CLOCK_OFFSET", "/nonexistent"))


def _seconds() -> float:
    try:
        return _present() + float(_offset.read_text())
    except (OSError, ValueError):
        return _present()


class Jumping(datetime):
    """`datetime` with a present of our own; moments that are made of it are plain."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """Return the moment that the file makes it."""
        return datetime.fromtimestamp(_seconds(), tz)


if "CLOCK_OFFSET" in os.environ:
    time.time = _seconds
    from pratique_shared.runtime import clock

    vars(clock)["datetime"] = Jumping
