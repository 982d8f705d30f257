"""The work of attack-sim: a shard of repetitions on a matrix of codes, or of splits on ranks, becomes a score.

A worker opens two rooms, `matrices` to read and `scores` to write. It never meets a value of a record.
"""

from typing import assert_never

from pydantic import TypeAdapter

from pratique_shared.contracts.facts import CLOSED, AttackPlan, Failure, ShardScored
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.studies import WorkPlan
from pratique_shared.contracts.utility import RepeatScored, UtilityPlan
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.child_process import Limits
from pratique_shared.runtime.children import Children, these
from pratique_shared.runtime.damage import passed_over
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.meters import SHARDS, task_kind
from pratique_shared.runtime.queues import Doorbell

CHILD = Limits(memory=4 << 30, seconds=1800)
_PLAN: TypeAdapter[WorkPlan] = TypeAdapter(WorkPlan)


class AttackSim:
    """Answers the doorbell of the attack queue."""

    def __init__(self, matrices: Room, scores: Room, children: Children, bell: Doorbell) -> None:
        self._room, self._plans, self._scores = matrices, Ledger(matrices), Ledger(scores)
        self._children, self._bell = children, bell

    async def handle(self, message: Message) -> None:
        """Score a shard, unless that is done; saying it twice changes nothing."""
        await self._bell.answer(message, lambda: self._score(message))

    async def _score(self, message: Message) -> None:
        plan: WorkPlan | None = None
        with passed_over(message.id):  # who cannot read the plan does nothing: the shard stays owed
            raw = await self._plans.raw(message.id, "plan")
            plan = None if raw is None else _PLAN.validate_json(raw)
        if plan is None or message.task not in plan.tasks or await self._plans.raw(message.id, CLOSED) is not None:
            return
        if await self._scores.raw(message.id, message.task) is None:

            async def give_up(failure: Failure) -> None:
                if await self._scores.commit(message.id, message.task, _failed(plan, failure)):
                    SHARDS.labels(task_kind(message.task), "failed").inc()

            await attempt(self._scores, message.id, message.task, lambda: self._run(message, plan), give_up)
        await self._bell.ring("privacy", Message(task="advance", id=message.id))

    async def _run(self, message: Message, plan: WorkPlan) -> None:
        matrix = await self._room.blob_bytes(plan.matrix)
        score: Contract
        match plan:
            case AttackPlan(shards=shards):
                shard = next(shard for shard in shards if shard.task == message.task)
                alone = plan.model_copy(update={"shards": ()})  # the child needs its own shard only
                body = {"op": "attack", "plan": alone.model_dump(mode="json"), "shard": shard.model_dump()}
                score = ShardScored.model_validate((await self._children.call(body, these(matrix))).body)
            case UtilityPlan():
                body = {"op": "utility", "plan": plan.model_dump(mode="json"), "task": message.task}
                score = RepeatScored.model_validate((await self._children.call(body, these(matrix))).body)
            case _:
                assert_never(plan)
        if await self._scores.commit(message.id, message.task, score):
            SHARDS.labels(task_kind(message.task), "done").inc()


def _failed(plan: WorkPlan, failure: Failure) -> Contract:
    """Return the score of a shard that failed for good."""
    kind = RepeatScored if isinstance(plan, UtilityPlan) else ShardScored
    return kind(matrix_sha256=plan.matrix.sha256, error=failure)
