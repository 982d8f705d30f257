"""Waiting: looking at a run until it has ended, through a restart of the service if need be."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pratique.errors import RunFailed, StillRunning, Unreachable
from pratique.exchange import Json
from pratique.plan import Pause, Plan

UNFINISHED = frozenset({"queued", "running", "attacking"})
BROKEN = frozenset({"failed", "cancelled"})
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0  # seconds between looks: a small release takes less than one

Notice: TypeAlias = Callable[[Json], None]


@dataclass(frozen=True)
class Patience:
    """How long to wait in all, and how long without any answer."""

    seconds: float = 600.0
    silence: float = 30.0  # twice the time that a service killed at its worst moment needs to be back


def wait(
    look: Callable[[], Plan[Json]],
    patience: Patience,
    notice: Notice | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Plan[Json]:
    """Look until the status is final and return that state.

    Raises RunFailed when it ended badly, StillRunning when the time is over, Unreachable after too long a silence.
    """
    started = heard = clock()
    for pause in _looks():
        try:
            state = yield from look()
        except Unreachable:
            if clock() - heard > patience.silence or clock() - started > patience.seconds:
                raise
        else:
            heard = clock()
            if notice is not None:
                notice(state)
            if state.get("status") not in UNFINISHED:
                return ended(state)
            if heard - started > patience.seconds:
                raise StillRunning(
                    "still-running", f"{state.get('id', 'It')} is not finished after {patience.seconds:g} s."
                )
        yield Pause(pause)
    raise AssertionError("the looks never end")


def ended(state: Json) -> Json:
    """Return a final state, or raise RunFailed with the service's own code and detail."""
    if state.get("status") not in BROKEN:
        return state
    error = state.get("error") or {}
    name, status = state.get("id", "It"), state["status"]
    raise RunFailed(str(error.get("code") or status), str(error.get("detail") or f"{name} was {status}."))


def _looks() -> Iterator[float]:
    pause = FIRST_LOOK
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_LOOK)
