"""A plan that cannot be read keeps its shards owed and ends no attack worker."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pratique_attack_sim.jobs import CHILD, AttackSim
from pratique_shared.contracts.facts import AttackPlan, Blob, Failure, Shard, ShardScored
from pratique_shared.contracts.messages import Message, Queue
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.sealing import StorageKey

DAMAGED, WHOLE = "rel_00000000000000000000000001", "rel_00000000000000000000000002"
SHARD = Shard(adversary="exact", first=0, last=1)
MATRIX = Blob(key="blobs/rel_00000000000000000000000001/codes", sha256="0" * 64, bytes=8)


class Bell(Doorbell):
    """Writes down for whom was rung."""

    def __init__(self) -> None:
        self.rung: list[tuple[Queue, str]] = []

    async def ring(self, queue: Queue, message: Message) -> None:
        self.rung.append((queue, message.id))

    async def answer(self, message: Message, work: Callable[[], Awaitable[None]]) -> None:
        await work()


@pytest.mark.parametrize("content", [b"{}", b"\xff", b'{"kind": "attack"'])
async def test_a_plan_that_cannot_be_read_keeps_no_other_shard_waiting(tmp_path: Path, content: bytes) -> None:
    key, bell = StorageKey(b"k" * 32), Bell()
    matrices, scores = open_room(tmp_path.as_uri(), "matrices", key), open_room(tmp_path.as_uri(), "scores", key)
    plan = AttackPlan(matrix=MATRIX, rows=2, columns=1, attacks=None, shards=(SHARD,))
    for release in (DAMAGED, WHOLE):
        await Ledger(matrices).commit(release, "plan", plan)
    (tmp_path / "matrices/facts" / DAMAGED / "plan").write_bytes(content)
    done = ShardScored(matrix_sha256=MATRIX.sha256, error=Failure(code="time-limit", detail=""))
    await Ledger(scores).commit(WHOLE, SHARD.task, done)
    children = Children("pratique_attack_sim.shard_child:score_in_child", CHILD, 1)
    try:
        worker = AttackSim(matrices, scores, children, bell)
        for release in (DAMAGED, WHOLE):
            await worker.handle(Message(task=SHARD.task, id=release))
    finally:
        children.close()
    assert bell.rung == [("privacy", WHOLE)]
    assert await Ledger(scores).names(DAMAGED) == frozenset()
