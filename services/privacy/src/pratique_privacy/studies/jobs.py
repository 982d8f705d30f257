"""The work of studies: planned, their parts rung, their answers put together."""

import json
from collections.abc import Awaitable, Callable
from typing import assert_never

from pratique_privacy.keys import KeyRoom
from pratique_privacy.sources import Sources
from pratique_privacy.studies import recommendation, sweep, utility
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.flow import StudyFacts, due
from pratique_privacy.tables import Tables
from pratique_privacy.verdict import attack_figures, plan_shards
from pratique_shared.contracts.facts import Failure, ShardScored, SourceTable, epoch_of
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.problems import Conflict, Gone
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import (
    AttackWork,
    Members,
    Plan,
    ProfilesWork,
    RecommendationWork,
    Shards,
    StudyDone,
    StudyFailed,
    StudyRequested,
    SweepWork,
    TablesRead,
    UtilityWork,
)
from pratique_shared.contracts.utility import RepeatScored, UtilityPlan
from pratique_shared.runtime.attempts import DAMAGED, attempt
from pratique_shared.runtime.clock import fresh_name, made_at, now, stamp
from pratique_shared.runtime.damage import DAMAGE
from pratique_shared.runtime.ledger import ORPHANED
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.traces import resumed

GiveUp = Callable[[Failure], Awaitable[object]]
OUTSTANDING = 16  # shards of one study in the queue
_ADDED = "added"  # the fact that all members of a sweep were taken in


class Studies:
    """Advances studies as far as privacy can."""

    def __init__(self, archive: StudyArchive, keys: KeyRoom, tables: Tables, bell: Doorbell) -> None:
        self._archive, self._keys, self._tables, self._bell = archive, keys, tables, bell

    async def advance(self, study: str) -> None:
        """Do what is owed of a study; saying it twice changes nothing."""
        while True:
            facts = await self._archive.any(study)
            if facts is None:
                if now() - made_at(study) > ORPHANED:
                    await self._archive.whole.settle(study)
                return
            with resumed(facts.requested.traceparent):
                if not await self._step(study, facts):
                    return

    async def _step(self, study: str, facts: StudyFacts) -> bool:
        """Take one step; return whether another may follow at once."""
        owed = due(facts)
        if facts.outcome is not None:
            await self._archive.forget_inline(facts.requested)
            await self._archive.whole.settle(study)
            return False
        if owed and owed[0].queue == "attack" and isinstance(facts.plan, Shards):
            await self._archive.whole.matrices.commit(study, "plan", facts.plan.work)
            tasks = [Message(task=task.task, id=study) for task in owed[:OUTSTANDING]]
            await self._bell.ring_all("attack", tasks)
            return False
        if not owed:
            await self._add_members(facts)
            return False
        return await self._do(facts, owed[0].task)

    async def _do(self, facts: StudyFacts, task: str) -> bool:
        """Do one task; return whether the study has come further."""
        study = facts.requested.id

        async def give_up(failure: Failure) -> None:
            await self._archive.conclude(study, StudyFailed(error=failure, at=stamp()))

        if task == "plan" and not await self._ready(facts, give_up):
            return False
        run = self._plan if task == "plan" else self._conclude
        await attempt(self._archive.facts, study, task, lambda: run(facts), give_up)
        after = await self._archive.any(study)
        return after is not None and due(after) != due(facts)

    async def _ready(self, facts: StudyFacts, give_up: GiveUp) -> bool:
        """Whether what the study reads is there; a source that will never be ends it."""
        requested = facts.requested
        await self._archive.list(requested)  # a crash may have come between the study and its place in the list
        try:
            return await self._resolved(requested) is not None
        except (Conflict, Gone) as problem:
            await give_up(Failure(code=problem.code, detail=problem.detail))
        except DAMAGE:  # of a source: what is said of it cannot be read
            await give_up(DAMAGED)
        return False

    async def _resolved(self, requested: StudyRequested) -> tuple[SourceTable, ...] | None:
        """Return the tables that a study reads itself; raises `Gone`, `Conflict`."""
        match requested.work:
            case UtilityWork():
                return await utility.resolve(self._archive.whole, requested.tenant, requested.work)
            case RecommendationWork():
                return await recommendation.resolve(self._archive.whole, requested.tenant, requested.work)
            case ProfilesWork(capture=capture):
                return await Sources(self._archive.whole).tables(requested.tenant, Source(capture=capture))
            case SweepWork() | AttackWork():
                return ()
            case _:
                assert_never(requested.work)

    async def _plan(self, facts: StudyFacts) -> None:
        study = facts.requested.id
        await self._archive.facts.commit(study, "plan", await self._planned(study, facts.requested))

    async def _planned(self, study: str, requested: StudyRequested) -> Plan:
        match requested.work:
            case SweepWork():
                return sweep.plan(requested.work)
            case AttackWork():
                return await self._shards(requested.work)
            case UtilityWork():
                tables = await self._resolved(requested)
                assert tables is not None
                return await utility.plan(self._archive.whole, self._tables, study, requested.work, tables)
            case RecommendationWork() | ProfilesWork():
                tables = await self._resolved(requested)
                assert tables is not None
                return TablesRead(tables=tables, at=stamp())
            case _:
                assert_never(requested.work)

    async def _shards(self, work: AttackWork) -> Shards:
        """Plan further adversaries on the matrix of a release that was measured."""
        release = await self._archive.whole.any_release(work.release)
        if release is None or release.withdrawn:
            raise Gone("withdrawn", "The release was withdrawn and its codes are gone.")
        if release.measured is None:
            raise Conflict("not-finished", "The release is not measured.")
        plan = release.measured.plan
        return Shards(work=plan_shards(work.attacks, plan.matrix, plan.rows, plan.columns), at=stamp())

    async def _add_members(self, facts: StudyFacts) -> None:
        """Take the releases of a sweep in, once."""
        requested, plan = facts.requested, facts.plan
        if isinstance(requested.work, SweepWork) and isinstance(plan, Members) and _ADDED not in facts.done:
            await sweep.add_members(self._archive.whole, requested, requested.work, plan)
            await self._archive.facts.commit(requested.id, _ADDED, plan)
            await self._bell.ring_all("privacy", [Message(task="advance", id=release) for release in plan.releases])

    async def _conclude(self, facts: StudyFacts) -> None:
        result = await self._answer(facts)
        study = facts.requested.id
        async with self._archive.room.drafts() as drafts:
            blob = await drafts.put(f"blobs/{study}/{fresh_name()}-result", json.dumps(result).encode())
            drafts.keep()
            if not await self._archive.conclude(study, StudyDone(result=blob, at=stamp())):
                drafts.drop()

    async def _answer(self, facts: StudyFacts) -> dict[str, object]:
        work, plan = facts.requested.work, facts.plan
        if isinstance(work, SweepWork) and isinstance(plan, Members):
            rows = await sweep.figures(self._archive.whole, work, plan)
            return await self._tables.sweep(rows, seed=work.seed)
        if isinstance(work, RecommendationWork) and isinstance(plan, TablesRead):
            key = await self._keys.tenant_keys.of(facts.requested.tenant, epoch_of(facts.requested.key))
            return await recommendation.answer(self._archive.whole, self._tables, work, plan, key.secret)
        if isinstance(work, ProfilesWork) and isinstance(plan, TablesRead):
            read = await Sources(self._archive.whole).read(plan.tables, "host")
            return await self._tables.generalise_hosts(work, read)
        assert isinstance(plan, Shards)
        study, archive = facts.requested.id, self._archive.whole
        if isinstance(plan.work, UtilityPlan):
            assert plan.about is not None
            about = json.loads(await self._archive.room.blob_bytes(plan.about))
            return utility.answer(plan.work, await archive.scores_of(study, RepeatScored), about)
        figures = attack_figures(plan.work, await archive.scores_of(study, ShardScored))
        return {"attacks": None if figures is None else figures.model_dump(mode="json")}
