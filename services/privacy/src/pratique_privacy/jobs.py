"""The work of privacy: sources resolved, figures measured, passing releases published; and the sweeper."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from pratique_privacy.archive import Archive
from pratique_privacy.certifying import certified
from pratique_privacy.flow import Owed, ReleaseFacts, due
from pratique_privacy.gate import bounds_composition
from pratique_privacy.keys import KeyRoom
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.recipients import ALONE, Company, Met, Recipients, said_of
from pratique_privacy.sources import Sources
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.jobs import Studies
from pratique_privacy.tables import Tables
from pratique_privacy.verdict import attack_figures, judge, plan_shards
from pratique_shared.contracts.adversary import PartialQi
from pratique_shared.contracts.facts import (
    Failure,
    Measured,
    Published,
    RecordsResolved,
    ReleaseFailed,
    ShardScored,
    Withheld,
    epoch_of,
)
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.posture import CompositionFigures
from pratique_shared.contracts.problems import Conflict, Gone
from pratique_shared.runtime.attempts import DAMAGED, attempt
from pratique_shared.runtime.clock import fresh_name, made_at, now, stamp, stamp_after
from pratique_shared.runtime.damage import DAMAGE, one_round
from pratique_shared.runtime.ledger import ORPHANED
from pratique_shared.runtime.meters import CERTIFICATES, RELEASES_ENDED, STAGE_DURATION, outcome_of
from pratique_shared.runtime.queues import Doorbell
from pratique_shared.runtime.sealing import BrokenSeal
from pratique_shared.runtime.traces import resumed, span

OUTSTANDING = 16  # shards of one release in the queue: each score rings the next, and releases take turns
SWEEP = 2  # seconds between two looks at what is owed


class Privacy:
    """Answers the doorbell of the privacy queue."""

    def __init__(
        self, archive: Archive, keys: KeyRoom, tables: Tables, studies: Tables, bell: Doorbell, announcer: Announcer
    ) -> None:
        self._archive, self._keys, self._tables, self._bell = archive, keys, tables, bell
        self._announcer = announcer
        self._sources, self._recipients = Sources(archive), Recipients(archive)
        self._study_archive = StudyArchive(archive)
        self._studies = Studies(self._study_archive, keys, studies, bell)

    async def handle(self, message: Message) -> None:
        """Advance a release as far as privacy can; saying it twice changes nothing.

        One whose own facts cannot be read raises and stays owed: once they are restored it goes on.
        """
        if message.task == "advance":
            advance = self._advance if message.id.startswith("rel_") else self._studies.advance
            await self._bell.answer(message, lambda: advance(message.id))
        else:
            await self.sweep()

    async def sweep_forever(self) -> None:
        """Ring, again and again, whatever is owed and not being worked on."""
        while True:
            with one_round("sweep"):
                await self.sweep()
            await asyncio.sleep(SWEEP)

    async def sweep(self) -> None:
        """Ring what is owed now."""
        sources, releases = await self._archive.pending()
        datasets = [source for source in sources if source.startswith("dst_")]
        for dataset in datasets:
            await self._archive.settle_dataset(dataset)
        captures = [source for source in sources if source not in datasets]
        await self._bell.ring_all("ingest", [Message(task="profile", id=capture) for capture in captures])
        await self._bell.ring_all("privacy", [Message(task="advance", id=release) for release in releases])
        await self._announcer.sweep()

    async def _advance(self, release: str) -> None:
        while True:
            facts = await self._archive.any_release(release)
            if facts is None:
                if now() - made_at(release) > ORPHANED:
                    await self._archive.settle(release)
                return
            with resumed(facts.requested.traceparent):
                if not await self._step(release, facts):
                    return

    async def _step(self, release: str, facts: ReleaseFacts) -> bool:
        """Take one step; return whether another may follow at once."""
        if facts.withdrawn:  # work that was under way may have left blobs behind
            await self._archive.shred_release(release)
        owed = due(facts)
        if not owed:
            if (member := facts.requested.member_of) is not None:
                await self._study_archive.member_done(member)
                await self._bell.ring("privacy", Message(task="advance", id=member.study))
            await self._announcer.release(facts)
            await self._archive.settle(release)
            return False
        if owed[0].queue == "attack":
            await self._ring_attacks(release, facts, owed)
            return False
        return await self._do(facts, owed[0].task)

    async def _ring_attacks(self, release: str, facts: ReleaseFacts, owed: tuple[Owed, ...]) -> None:
        assert facts.measured is not None
        await self._archive.matrices.commit(release, "plan", facts.measured.plan)
        await self._bell.ring_all("attack", [Message(task=task.task, id=release) for task in owed[:OUTSTANDING]])

    async def _do(self, facts: ReleaseFacts, task: str) -> bool:
        """Do one task; return whether the release has come further."""
        release = facts.requested.id
        if task == "resolve":
            with span(task, entity=release, task=task):
                return await self._resolve(facts)

        async def give_up(failure: Failure) -> None:
            await self._conclude(facts, ReleaseFailed(error=failure, at=stamp()))

        run = self._measure if task == "measure" else self._publish
        await attempt(self._archive.releases, release, task, lambda: run(facts), give_up)
        after = await self._archive.any_release(release)
        return after is not None and due(after) != due(facts)

    async def _resolve(self, facts: ReleaseFacts) -> bool:
        """Name the bytes that the release is made of, once every source stands ready."""
        requested = facts.requested
        # A crash may have come between the release and its place in the list.
        await self._archive.list_release(requested)
        try:
            tables = await self._sources.resolve(requested)
        except (Conflict, Gone) as problem:
            failure = Failure(code=problem.code, detail=problem.detail)
            return await self._conclude(facts, ReleaseFailed(error=failure, at=stamp()))
        except DAMAGE:  # of a source: what is said of it cannot be read
            return await self._conclude(facts, ReleaseFailed(error=DAMAGED, at=stamp()))
        if tables is None:
            return False
        resolved = RecordsResolved(tables=tables, at=stamp_after(requested.created_at))
        if await self._archive.releases.commit(requested.id, "records", resolved):
            _stood("records", requested.created_at, resolved.at)
        return True

    async def _conclude(self, facts: ReleaseFacts, outcome: Published | Withheld | ReleaseFailed) -> bool:
        """Write the outcome, and count it if it was the first."""
        first = await self._archive.conclude(facts.requested.id, outcome)
        if first and facts.requested.member_of is None:
            verdict = "none" if isinstance(outcome, ReleaseFailed) else outcome.verdict
            RELEASES_ENDED.labels(outcome.kind, verdict).inc()
        return first

    async def _measure(self, facts: ReleaseFacts) -> None:
        requested, records = facts.requested, facts.records
        assert records is not None
        sources = await self._sources.read(records.tables, requested.source.unit)
        key = await self._keys.tenant_keys.of(requested.tenant, epoch_of(requested.key))
        made = await self._tables.measure(requested, sources, key.secret)
        run = fresh_name()  # blobs of two attempts never share a name
        releases, matrices = self._archive.releases_room, self._archive.matrices_room
        async with releases.drafts() as tables, matrices.drafts() as codes:
            table = await tables.put(f"blobs/{requested.id}/{run}-table", made.table)
            matrix = await codes.put(f"blobs/{requested.id}/{run}-codes", made.matrix)
            plan = plan_shards(requested.attacks, matrix, made.matrix_rows, made.matrix_columns)
            measured = Measured.model_validate(
                {
                    **dict(made.figures),
                    "read": tuple(source.blob.sha256 for source in records.tables),
                    "table": table,
                    "plan": plan,
                    "at": stamp_after(records.at),
                }
            )
            tables.keep()
            codes.keep()
            if not await self._archive.releases.commit(requested.id, "measured", measured):
                tables.drop()
                codes.drop()
                return
        _stood("measured", records.at, measured.at)

    async def _compose(self, facts: ReleaseFacts, company: Company) -> CompositionFigures | None:
        """Join the release with the others of its recipient; None where there are none and no bound asks."""
        requested, measured = facts.requested, facts.measured
        assert measured is not None
        if not company.met and not bounds_composition(requested.gate):
            return None
        joined: list[tuple[Met, ...]] = []
        said, tables = [said_of(facts, measured)], [await self._archive.releases_room.blob_bytes(measured.table)]
        for alike in company.joinable():
            table = await self._table_of(alike)
            if table is not None and alike[0].said is not None:
                said.append(alike[0].said)
                tables.append(table)
                joined.append(alike)
        partial = requested.attacks.partial_qi if requested.attacks else None
        found = await self._tables.compose(said, tables, (partial or PartialQi()).forget)
        return company.figures(found, [[other.id for other in alike] for alike in joined])

    async def _table_of(self, alike: tuple[Met, ...]) -> bytes | None:
        """Return the table that these releases share; None where all were withdrawn since they were looked at."""
        for other in alike:
            with suppress(BrokenSeal):
                return await self._archive.releases_room.blob_bytes(other.table)
        return None

    async def _publish(self, facts: ReleaseFacts) -> None:
        """Hold the gate against the figures; make the files only of a release that passes."""
        requested, measured, records = facts.requested, facts.measured, facts.records
        assert measured is not None
        assert records is not None
        began = stamp()
        _stood("attacks", measured.at, began)
        scores = await self._archive.scores_of(requested.id, ShardScored)
        attacks = attack_figures(measured.plan, scores)
        company = ALONE if requested.member_of is not None else await self._recipients.company(facts)
        composition = await self._compose(facts, company)
        gate = judge(requested, measured, attacks, composition)
        common = {
            "read": (measured.table.sha256, *sorted({score.matrix_sha256 for score in scores.values()})),
            "verdict": gate.verdict,
            "gate": gate,
            "attacks": attacks,
            "prior_releases": company.prior,
            "composition": composition,
            "policy_sha256": requested.policy_sha256,
            "at": stamp_after(measured.at),
        }
        if gate.verdict != "pass" or requested.member_of is not None:
            await self._conclude(facts, Withheld.model_validate(common))
            return
        table = await self._archive.releases_room.blob_bytes(measured.table)
        sources = await self._sources.read(records.tables, requested.source.unit)
        made = await self._tables.publish(requested, measured, table, sources)
        run = fresh_name()
        async with self._archive.releases_room.drafts() as drafts:
            files = {
                form: await drafts.put(f"blobs/{requested.id}/{run}-{form}", data) for form, data in made.files.items()
            }
            outcome = Published.model_validate({**common, "files": files, "schema_types": made.schema_types})
            with outcome_of(CERTIFICATES, "signed", "failed"):
                proof = await certified(self._archive, self._keys, replace(facts, outcome=outcome))
            outcome = outcome.model_copy(
                update={
                    "certificate": await drafts.put(f"blobs/{requested.id}/{run}-certificate", proof.certificate),
                    "disclosures": await drafts.put(f"blobs/{requested.id}/{run}-disclosures", proof.disclosures),
                }
            )
            drafts.keep()
            if not await self._conclude(facts, outcome):
                drafts.drop()
        _stood("published", began, outcome.at)


def _stood(stage: str, since: str, until: str) -> None:
    """Note how long a release stood in a stage, by the moments that its facts name."""
    seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
    STAGE_DURATION.labels(stage).observe(max(0.0, seconds))
