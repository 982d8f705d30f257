"""Attempts: a task is tried until its fact is there, and given up with a code when it keeps dying."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pratique_shared.contracts.facts import Failure
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.children import ChildDied
from pratique_shared.runtime.ledger import MAX_DEATHS, MAX_STARTS, Ledger
from pratique_shared.runtime.meters import CHILD_DEATHS, GIVEN_UP, task_kind
from pratique_shared.runtime.sealing import BrokenSeal
from pratique_shared.runtime.traces import span

EXHAUSTED = Failure(
    code="task-exhausted",
    detail="The work was started ten times and never ended: ask for it again, and look into the worker's log.",
)
# By the code of the second death.
DIED = {
    "task-crashed": "The process that did this work ended twice without an answer: the worker's log says where.",
    "time-limit": "This work took more time than it may, twice: cut its source into smaller ones.",
    "memory-limit": "This work took more memory than it may, twice: cut its source into smaller ones.",
}
DAMAGED = Failure(
    code="artifact-damaged",
    detail="A stored artifact is not what was written: restore it from a backup, or take its source in again.",
)

_log = logging.getLogger("pratique.attempts")


async def attempt(
    ledger: Ledger,
    entity: str,
    task: str,
    run: Callable[[], Awaitable[None]],
    give_up: Callable[[Failure], Awaitable[object]],
) -> None:
    """Run a task and see to it that it ends: by its own fact, or by `give_up` with a code.

    A `Problem` that no retry helps ends it, so do the second death of its child and the eleventh start: a task that
    takes its worker along leaves no other trace. A retryable problem is left to the sweeper, and its start is not
    counted: a full store costs time, never a release. Nor is one that was cut off since its worker was told to stop.
    """

    async def end(failure: Failure) -> None:
        GIVEN_UP.labels(failure.code).inc()
        await give_up(failure)

    try:
        starts = await ledger.start(entity, task)
        if starts > MAX_STARTS and starts - await ledger.waits(entity, task) > MAX_STARTS:
            await end(EXHAUSTED)
            return
        while True:
            try:
                with span(task_kind(task), entity=entity, task=task, attempt=starts):
                    await run()
            except ChildDied as death:
                CHILD_DEATHS.labels(death.code).inc()
                if await ledger.died(entity, task) < MAX_DEATHS:
                    continue
                _log.warning("a task was given up", extra={"entity": entity, "task": task})
                await end(Failure(code=death.code, detail=DIED[death.code]))
            except BrokenSeal:
                await end(DAMAGED)
            return
    except asyncio.CancelledError:
        with suppress(Problem):
            await ledger.waited(entity, task)
        raise
    except Problem as problem:
        if not problem.retryable:
            await end(Failure(code=problem.code, detail=problem.detail))
            return
        _log.warning("a task will be tried again", extra={"entity": entity, "task": task, "code": problem.code})
        with suppress(Problem):  # a store that takes nothing has not taken the start either
            await ledger.waited(entity, task)
