"""The studies of all tenants, as facts in the store, in the room of releases."""

import asyncio

from pydantic import TypeAdapter

from pratique_privacy.archive import Archive, index_key
from pratique_privacy.studies.flow import StudyFacts, member_part
from pratique_shared.contracts.facts import CLOSED, Cancelled, Deleted, Membership
from pratique_shared.contracts.problems import no_such
from pratique_shared.contracts.studies import (
    AttackWork,
    PartDone,
    Plan,
    RecommendationWork,
    Shards,
    StudyDone,
    StudyFailed,
    StudyOutcome,
    StudyRequested,
)
from pratique_shared.runtime.clock import stamp

_PLAN: TypeAdapter[Plan] = TypeAdapter(Plan)
_OUTCOME: TypeAdapter[StudyOutcome] = TypeAdapter(StudyOutcome)


class StudyArchive:
    """Reads and writes the facts of studies."""

    def __init__(self, archive: Archive) -> None:
        self.whole = archive
        self.facts, self.room = archive.releases, archive.releases_room

    async def add(self, requested: StudyRequested) -> None:
        """Take a study in: owed, durable and listed when this returns, in this order."""
        await self.room.create(f"pending/{requested.id}", b"{}")
        await self.facts.commit(requested.id, "requested", requested)
        await self.list(requested)

    async def list(self, requested: StudyRequested) -> None:
        """Let a study stand in the lists, adversaries in that of their release; doing it twice changes nothing."""
        await self.room.create(index_key(requested.tenant, requested.id), b"{}")
        if isinstance(requested.work, AttackWork):
            await self.room.create(f"by-release/{requested.work.release}/{requested.id}", b"{}")

    async def attacks_of(self, release_id: str) -> tuple[str, ...]:
        """Return the ids of the further adversaries of a release, newest first."""
        keys = await self.room.names(f"by-release/{release_id}")
        return tuple(sorted((key.rsplit("/", 1)[1] for key in keys), reverse=True))

    async def study(self, tenant: str, study_id: str) -> StudyFacts:
        """Return the facts of a study of this tenant; raises `NotFound`."""
        found = await self.any(study_id)
        if found is None or found.requested.tenant != tenant:
            raise no_such("study")
        return found

    async def any(self, study_id: str) -> StudyFacts | None:
        """Return the facts of a study whatever its tenant, for the workers."""
        names, requested = await asyncio.gather(
            self.facts.names(study_id), self.facts.read(study_id, "requested", StudyRequested)
        )
        if requested is None:
            return None
        raw_plan = await self.facts.raw(study_id, "plan") if "plan" in names else None
        raw_outcome = await self.facts.raw(study_id, "outcome") if "outcome" in names else None
        plan = None if raw_plan is None else _PLAN.validate_json(raw_plan)
        done = await self.whole.scored(study_id) if isinstance(plan, Shards) else names
        outcome = None if raw_outcome is None else _OUTCOME.validate_json(raw_outcome)
        return StudyFacts(requested, plan, done, outcome)

    async def member_done(self, member: Membership) -> None:
        """Note that a member of a sweep has come to its end; doing it twice changes nothing."""
        await self.facts.commit(member.study, member_part(member.number), PartDone(at=stamp()))

    async def conclude(self, study_id: str, outcome: StudyDone | StudyFailed) -> bool:
        """Write the outcome; the first one stands."""
        return await self.facts.commit(study_id, "outcome", outcome)

    async def cancel(self, study_id: str) -> bool:
        """Cancel a study; False when it has an outcome already."""
        done = await self.facts.commit(study_id, "outcome", Cancelled(at=stamp()))
        await self.whole.matrices.commit(study_id, CLOSED, Deleted(at=stamp()))
        return done

    async def forget_inline(self, requested: StudyRequested) -> None:
        """Shred the records that came with a question: its answer holds none of them."""
        if isinstance(requested.work, RecommendationWork) and requested.work.inline is not None:
            await self.room.shred(requested.work.inline)

    async def result(self, done: StudyDone) -> bytes:
        """Return the answer of a study as JSON."""
        return await self.room.blob_bytes(done.result)
