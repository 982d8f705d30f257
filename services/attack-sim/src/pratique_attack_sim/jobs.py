"""The work of attack-sim: a shard of repetitions on a matrix of codes becomes a score.

A worker opens two rooms, `matrices` to read and `scores` to write. It never meets a value of a record.
"""

from typing import assert_never

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.credit import GENERATOR
from pratique_attack_sim.adversaries.exact import exact_qi
from pratique_attack_sim.adversaries.linkage import simulate_linkage
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi, simulate_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_shared.contracts.facts import AttackPlan, Failure, Shard, ShardScored
from pratique_shared.contracts.messages import Message
from pratique_shared.frames.estimates import Score
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.attempts import attempt
from pratique_shared.runtime.children import Call, Children, Limits, Reply, these
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell

CHILD = Limits(memory=4 << 30, seconds=1800)


def score_in_child(call: Call) -> Reply:
    """Score the shard that a call names on the matrix that comes with it. Runs in the child."""
    plan = AttackPlan.model_validate(call.body["plan"])
    shard = Shard.model_validate(call.body["shard"])
    codes = np.frombuffer(b"".join(call.blobs()), dtype="<i4").reshape(plan.rows, plan.columns)
    return Reply(scored(plan, shard, codes).model_dump(mode="json"), ())


def scored(plan: AttackPlan, shard: Shard, codes: npt.NDArray[np.int32]) -> ShardScored:
    """Run one shard."""
    attacks, matrix = plan.attacks, plan.matrix.sha256
    match shard.adversary:
        case "exact":
            exposed = exposure(codes)
            partial, linkage = attacks.partial_qi, attacks.linkage
            return ShardScored(
                matrix_sha256=matrix,
                exact_qi=exact_qi(exposed, plan.rows),
                partial_qi=None if partial is None else exact_partial_qi(exposed, plan.rows, forget=partial.forget),
                linkage=None
                if linkage is None
                else exact_linkage(codes, accuracy=linkage.accuracy, wrong_value=linkage.wrong_value),
            )
        case "partial_qi":
            assert attacks.partial_qi is not None
            forget = attacks.partial_qi.forget
            return _fact(
                matrix, simulate_partial_qi(codes, forget=forget, seed=attacks.seed, first=shard.first, last=shard.last)
            )
        case "linkage":
            assert attacks.linkage is not None
            return _fact(
                matrix,
                simulate_linkage(
                    codes,
                    accuracy=attacks.linkage.accuracy,
                    wrong_value=attacks.linkage.wrong_value,
                    seed=attacks.seed,
                    first=shard.first,
                    last=shard.last,
                ),
            )
        case _:
            assert_never(shard.adversary)


def _fact(matrix: str, score: Score) -> ShardScored:
    return ShardScored(
        matrix_sha256=matrix,
        first=score.first,
        targets=score.targets,
        sums=score.sums,
        squares=score.squares,
        generator=GENERATOR,
    )


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
        if plan is None or shard is None:
            return
        if await self._scores.raw(message.id, shard.task) is None:

            async def give_up(failure: Failure) -> None:
                await self._commit(message.id, shard, ShardScored(matrix_sha256=plan.matrix.sha256, error=failure))

            await attempt(self._scores, message.id, shard.task, lambda: self._run(message.id, plan, shard), give_up)
        await self._bell.ring("privacy", Message(task="advance", id=message.id))

    async def _run(self, release: str, plan: AttackPlan, shard: Shard) -> None:
        matrix = await self._room.blob_bytes(plan.matrix)
        body = {"plan": plan.model_dump(mode="json"), "shard": shard.model_dump()}
        reply = await self._children.call(body, these(matrix))
        await self._commit(release, shard, ShardScored.model_validate(reply.body))

    async def _commit(self, release: str, shard: Shard, score: ShardScored) -> None:
        await self._scores.commit(release, shard.task, score)
