"""Attack workers of a simulated fleet: `python -m tests.support.fleet KIND FILE`, on the environment of a real one.

Their leases last a second, so that a test can wait for the end of one.
"""

import asyncio
import sys
import time
from pathlib import Path

from pratique_attack_sim.jobs import CHILD, AttackSim
from pratique_attack_sim.main import AttackSettings
from pratique_attack_sim.shard_child import score_in_child
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime import queues
from pratique_shared.runtime.child_process import Call, Reply
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.settings import read_environment

LEASE = 1
LATE = 0.4  # seconds that a slow worker takes over a shard
LONG = 10.0  # and one that is to be paused in the middle of one


def score_late(call: Call) -> Reply:
    """Score a shard, but not at once. Runs in the child."""
    time.sleep(LATE)
    return score_in_child(call)


def score_long(call: Call) -> Reply:
    """Score a shard so late that there is time to be paused. Runs in the child."""
    time.sleep(LONG)
    return score_in_child(call)


SCORERS = {"plain": score_in_child, "late": score_late, "paused": score_long}


async def work(kind: str, taken: Path) -> None:
    """Serve the attack queue; one that is to be paused says by a file that it has taken a shard."""
    settings = read_environment(AttackSettings)
    matrices, scores = settings.room("matrices"), settings.room("scores")
    scorer = SCORERS[kind]
    module = "tests.support.fleet" if scorer.__module__ == "__main__" else scorer.__module__
    children = Children(f"{module}:{scorer.__name__}", CHILD, 1)
    await children.ready()
    taken.with_suffix(".ready").touch()

    def handler(bell: queues.Doorbell) -> queues.Handler:
        sim = AttackSim(matrices, scores, children, bell)

        async def handle(message: Message) -> None:
            taken.write_text(message.task)
            await sim.handle(message)

        return handle

    try:
        await queues.serve(settings.redis_url, "attack", handler, jobs=1)
    finally:
        children.close()


if __name__ == "__main__":
    queues.LEASE = LEASE
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
