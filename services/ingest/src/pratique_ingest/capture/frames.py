"""Frames: what every capture format comes down to, and why a file gave fewer of them than it has."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

# What libpcap itself accepts (MAXIMUM_SNAPLEN); a larger record is a damaged length, not a frame.
MAX_FRAME = 262_144
# No card delivers frames of no bytes: a long run of them is a hole in the file, read as records.
MAX_EMPTY = 10_000


class Frame(NamedTuple):
    """One captured frame. `time` is epoch nanoseconds (None in a Simple Packet Block), `length` that on the wire."""

    link_type: int
    time: int | None
    length: int
    data: bytes


class FrameFile(Protocol):
    """A capture file that is being read; `ended_by` is set when its frames end before its bytes should."""

    ended_by: str | None
    link_types: dict[int, None]

    def __iter__(self) -> Iterator[Frame]:
        """Yield the frames in the order of the file."""
        ...
