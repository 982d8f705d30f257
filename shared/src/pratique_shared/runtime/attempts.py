"""Attempts: a task is tried until its fact is there, and given up with a code when it keeps dying."""

import logging
from collections.abc import Awaitable, Callable

from pratique_shared.contracts.facts import Failure
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.children import ChildDied
from pratique_shared.runtime.ledger import MAX_DEATHS, MAX_STARTS, Ledger
from pratique_shared.runtime.sealing import BrokenSeal

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
    takes its worker along leaves no other trace. A retryable problem is left to the sweeper.
    """
    if await ledger.start(entity, task) > MAX_STARTS:
        await give_up(Failure(code="task-exhausted", detail="The work was started ten times and never ended."))
        return
    while True:
        try:
            await run()
        except ChildDied:
            if await ledger.died(entity, task) < MAX_DEATHS:
                continue
            _log.warning("a task was given up", extra={"entity": entity, "task": task})
            await give_up(
                Failure(
                    code="task-crashed",
                    detail="The process that did this work ended twice without an answer: too large, or too long.",
                )
            )
        except BrokenSeal:
            await give_up(Failure(code="artifact-damaged", detail="A stored artifact is not what was written."))
        except Problem as problem:
            if problem.retryable:
                _log.warning("a task will be tried again", extra={"entity": entity, "task": task, "code": problem.code})
                return
            await give_up(Failure(code=problem.code, detail=problem.detail))
        return
