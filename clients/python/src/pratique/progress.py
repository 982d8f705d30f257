"""Progress: one line on a terminal that says how far something is."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

CELLS = 24
BETWEEN = 0.1  # seconds between two drawings


class Bar:
    """A bar on standard error while the block runs, only where that is a terminal; gone when the block ends."""

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
        self._shown = shown and self._stream.isatty()
        self._drawn = float("-inf")

    def __call__(self, done: int, total: int, label: str | None = None) -> None:
        """Draw anew, at most ten times a second; a total of 0 is a total that nobody knows."""
        now = self._clock()
        if not self._shown or (now - self._drawn < BETWEEN and done < total):
            return
        self._drawn = now
        filled = CELLS * min(done, total) // total if total else 0
        share = f"{100 * min(done, total) // total:3d} %" if total else f"{done:,}"
        self._stream.write(f"\r\x1b[K{label or self._label} [{'#' * filled}{'.' * (CELLS - filled)}] {share}")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
