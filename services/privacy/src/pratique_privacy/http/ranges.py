"""Ranges: which bytes of a representation a request asks for (RFC 9110, 14)."""

import re
from dataclasses import dataclass
from typing import Final

_RANGE: Final = re.compile(r"bytes=[ \t]*(?P<first>[0-9]{0,19})-(?P<last>[0-9]{0,19})[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """Bytes `start` .. `stop` - 1 of `length`."""

    start: int
    stop: int
    length: int

    @property
    def content_range(self) -> str:
        """The value of `Content-Range`."""
        return f"bytes {self.start}-{self.stop - 1}/{self.length}"


@dataclass(frozen=True)
class Beyond:
    """No byte of what was asked for is there: 416."""

    length: int

    @property
    def content_range(self) -> str:
        """The value of `Content-Range`."""
        return f"bytes */{self.length}"


def range_asked(header: str | None, if_range: str | None, tag: str, length: int) -> Part | Beyond | None:
    """Return the range to answer with; None is the whole.

    Several ranges, another unit and what cannot be read are answered with the whole, which a server may always do
    (RFC 9110, 14.2). `If-Range` holds for a strong tag alone: we give out no date (13.1.5).
    """
    if header is None or (if_range is not None and if_range.strip() != tag):
        return None
    found = _RANGE.fullmatch(header.strip())
    if found is None or not (found["first"] or found["last"]):
        return None
    if not found["first"]:
        suffix = int(found["last"])
        start, stop = max(length - suffix, 0), length
    else:
        start = int(found["first"])
        last = int(found["last"]) if found["last"] else length - 1
        if found["last"] and last < start:
            return None
        stop = min(last + 1, length)
    return Part(start, stop, length) if start < stop else Beyond(length)
