"""The fleet: many attack workers on one S3 store, one that pauses past its lease, and one that lags."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pratique_attack_sim.shard_child import scored
from pratique_local.supervisor import die_with_parent
from pratique_privacy.verdict import attack_figures
from pratique_shared.contracts.adversary import Attacks, Linkage, PartialQi
from pratique_shared.contracts.facts import AttackPlan, Shard, ShardScored
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import Room, RoomName, open_room
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.sealing import StorageKey
from tests.support.fleet import LEASE
from tests.support.matrices import Codes, skewed
from tests.support.s3 import Bucket

RELEASE = "rel_00000000000000000000000007"
KEYS = {"PRATIQUE_KEY_MATRICES": "6d" * 32, "PRATIQUE_KEY_SCORES": "73" * 32}
ROOMS: tuple[RoomName, ...] = ("matrices", "scores")
START = 180  # seconds; a busy machine takes its time to start eight of them
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Member:
    """A worker of the fleet: its process, and where it says what it has taken."""

    process: subprocess.Popen[bytes]
    taken: Path


def shards(repetitions: int, step: int) -> tuple[Shard, ...]:
    cut = [
        Shard(adversary=adversary, first=at, last=min(at + step, repetitions))
        for adversary in ("partial_qi", "linkage")
        for at in range(0, repetitions, step)
    ]
    return (Shard(adversary="exact", first=0, last=1), *cut)


async def planned(matrices: Room, codes: Codes, repetitions: int) -> AttackPlan:
    """Put a matrix and its plan where the workers read them: a shard a repetition."""
    blob = await matrices.put_bytes(f"blobs/{RELEASE}/codes", codes.astype("<i4").tobytes())
    attacks = Attacks(partial_qi=PartialQi(), linkage=Linkage(), repetitions=repetitions, seed=11)
    plan = AttackPlan(
        matrix=blob, rows=len(codes), columns=codes.shape[1], attacks=attacks, shards=shards(repetitions, 1)
    )
    await Ledger(matrices).commit(RELEASE, "plan", plan)
    return plan


def of_one_worker(plan: AttackPlan, codes: Codes) -> object:
    """The figures as one worker finds them that takes all repetitions at once."""
    assert plan.attacks is not None
    whole = plan.model_copy(update={"shards": shards(plan.attacks.repetitions, plan.attacks.repetitions)})
    return attack_figures(whole, {shard.task: scored(whole, shard, codes) for shard in whole.shards})


@contextmanager
def fleet(folder: Path, environment: Mapping[str, str], *kinds: str) -> Iterator[list[Member]]:
    """Run workers, each in a process group of its own, until the block ends."""
    members = []
    for number, kind in enumerate(kinds):
        taken = folder / f"{number}-{kind}"
        command = [sys.executable, "-m", "tests.support.fleet", kind, str(taken)]
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("PRATIQUE_", "AWS_"))}
        process = subprocess.Popen(command, env={**plain, **environment}, cwd=REPOSITORY, preexec_fn=die_with_parent)  # noqa: PLW1509
        members.append(Member(process, taken))
    try:
        until = time.monotonic() + START
        while not all(member.taken.with_suffix(".ready").exists() for member in members):
            assert all(member.process.poll() is None for member in members), "a worker ended"
            assert time.monotonic() < until, "the workers did not come up"
            time.sleep(0.05)
        yield members
    finally:
        for member in members:
            os.killpg(member.process.pid, signal.SIGKILL)
            member.process.wait()


async def scores_of(scores: Room, plan: AttackPlan) -> dict[str, bytes]:
    """The facts of the shards that are scored, as they lie in the store."""
    found = {task: await scores.read(f"facts/{RELEASE}/{task}") for task in plan.tasks}
    return {task: raw for task, raw in found.items() if raw is not None}


def tell(members: list[Member], number: signal.Signals) -> None:
    for member in members:
        os.killpg(member.process.pid, number)


async def paused_past_its_lease(members: list[Member], scores: Room, ring: Callable[[], Awaitable[int]]) -> str:
    """Pause the first worker in the middle of a shard until the others have done them all; return its task."""
    sleeper, others = members[0], members[1:]
    tell(others, signal.SIGSTOP)  # or they might leave nothing for it
    owed = await ring()
    while not sleeper.taken.exists():
        await asyncio.sleep(0.01)
    held = sleeper.taken.read_text()
    while not await scores.names(f"facts/{RELEASE}/starts/{held}"):
        await asyncio.sleep(0.01)
    tell([sleeper], signal.SIGSTOP)
    tell(others, signal.SIGCONT)
    while owed:
        await asyncio.sleep(LEASE / 2)
        owed = await ring()
    return held


@dataclass(frozen=True)
class Found:
    """What a fleet has done: shards, the facts in their place, starts of the paused one's, and whether all agree."""

    shards: int
    facts: int
    starts: int
    changed: bool
    same: bool


async def of_fleet(folder: Path, bucket: Bucket, bell: Doorbell, url: str, kinds: tuple[str, ...], n: int) -> Found:
    """Run a fleet on a plan of `n` repetitions, a shard each, and hold what it finds against one worker's figures."""
    matrices, scores = (
        open_room(bucket.url, name, StorageKey(bytes.fromhex(KEYS[f"PRATIQUE_KEY_{name.upper()}"]))) for name in ROOMS
    )
    codes = skewed(120, (6, 5, 4, 3), seed=5)
    plan = await planned(matrices, codes, n)

    async def ring() -> int:
        """What the sweeper does: ring what is owed and not leased; return how much that is."""
        there = await scores_of(scores, plan)
        owed = [Message(task=task, id=RELEASE) for task in plan.tasks if task not in there]
        await bell.ring_all("attack", owed)
        return len(owed)

    environment = {**bucket.environment, **KEYS, "PRATIQUE_STORE": bucket.url, "PRATIQUE_REDIS_URL": url}
    with fleet(folder, environment, "paused", *kinds) as members:
        async with asyncio.timeout(START):
            held = await paused_past_its_lease(members, scores, ring)
        before = await scores_of(scores, plan)
        starts = await scores.names(f"facts/{RELEASE}/starts/{held}")
        tell(members[:1], signal.SIGCONT)  # far past its lease, in the middle of a shard that others did
        await asyncio.sleep(LEASE * 2)
        assert members[0].process.poll() is None
    attacked = [key for key in await scores.names(f"facts/{RELEASE}") if f"/{RELEASE}/attack/" in key]
    found = {task: ShardScored.model_validate_json(raw) for task, raw in before.items()}
    return Found(
        shards=len(plan.tasks),
        facts=len(attacked),
        starts=len(starts),
        changed=await scores_of(scores, plan) != before,
        same=attack_figures(plan, found) == of_one_worker(plan, codes),
    )
