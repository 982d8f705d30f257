"""The work of attack-sim: a shard of repetitions on a matrix of codes becomes a score.

A worker opens two rooms, `matrices` to read and `scores` to write. It never meets a value of a record.
"""

from pratique_shared.contracts.facts import CLOSED, AttackPlan, Failure, Shard, ShardScored
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.children import Children, Limits, these
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell

CHILD = Limits(memory=4 << 30, seconds=1800)


class AttackSim:
    """Answers the doorbell of the attack queue."""

    def __init__(self, matrices: Room, scores: Room, children: Children, bell: Doorbell) -> None:
        self._room, self._plans, self._scores = matrices, Ledger(matrices), Ledger(scores)
        self._children, self._bell = children, bell

    async def handle(self, message: Message) -> None:
        """Score a shard, unless that is done; saying it twice changes nothing."""
        await self._bell.answer(message, lambda: self._score(message))

    async def _score(self, message: Message) -> None:
        plan = await self._plans.read(message.id, "plan", AttackPlan)
        shard = next((s for s in plan.shards if s.task == message.task), None) if plan is not None else None
        if plan is None or shard is None or await self._plans.raw(message.id, CLOSED) is not None:
            return
        if await self._scores.raw(message.id, shard.task) is None:

            async def give_up(failure: Failure) -> None:
                await self._commit(message.id, shard, ShardScored(matrix_sha256=plan.matrix.sha256, error=failure))

            await attempt(self._scores, message.id, shard.task, lambda: self._run(message.id, plan, shard), give_up)
        await self._bell.ring("privacy", Message(task="advance", id=message.id))

    async def _run(self, release: str, plan: AttackPlan, shard: Shard) -> None:
        matrix = await self._room.blob_bytes(plan.matrix)
        alone = plan.model_copy(update={"shards": ()})  # the child needs its own shard only
        body = {"plan": alone.model_dump(mode="json"), "shard": shard.model_dump()}
        reply = await self._children.call(body, these(matrix))
        await self._commit(release, shard, ShardScored.model_validate(reply.body))

    async def _commit(self, release: str, shard: Shard, score: ShardScored) -> None:
        await self._scores.commit(release, shard.task, score)
