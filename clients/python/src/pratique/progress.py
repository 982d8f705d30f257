"""Progress: one line on a terminal that says how far something is, or a plain line now and then in a log."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

CELLS = 24
BETWEEN = 0.1  # seconds between two drawings
BETWEEN_LINES = 5.0  # seconds before the first plain line, and between two: what is done sooner leaves none


class Bar:
    """How far a block is, on standard error while it runs.

    A terminal gets a bar that is drawn anew, and is gone when the block ends. Anything else gets plain lines.
    """

    def __init__(
        self,
        label: str,
        *,
        shown: bool = True,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._label, self._clock = label, clock
        self._shown, self._drawn = shown, float("-inf")
        self._terminal = self._stream.isatty()
        if shown and not self._terminal:
            self._drawn = clock()

    def __call__(self, done: int, total: int, label: str | None = None, note: str = "") -> None:
        """Say how far it is, at most ten times a second; a total of 0 is a total that nobody knows.

        `note` stands at the end, for a figure that has no share.
        """
        if not self._shown:
            return
        now, name, note = self._clock(), label or self._label, f", {note}" if note else ""
        if not self._terminal:
            if now - self._drawn >= BETWEEN_LINES:
                self._drawn = now
                self._stream.write(f"{name} {_share(done, total).lstrip()}{note}\n")
                self._stream.flush()
            return
        if now - self._drawn < BETWEEN and done < total:
            return
        self._drawn = now
        filled = CELLS * min(done, total) // total if total else 0
        bar = f"[{'#' * filled}{'.' * (CELLS - filled)}]"
        self._stream.write(f"\r\x1b[K{name} {bar} {_share(done, total)}{note}")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _share(done: int, total: int) -> str:
    return f"{100 * min(done, total) // total:3d} %" if total else f"{done:,}"
