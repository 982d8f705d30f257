"""The keeper: deletes what has reached its age, as `DELETE` does, with an entry in the audit log of its tenant."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import Event
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.retention.rule import Keep, Watch, looked, needed, overdue
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.facts import DatasetReady
from pratique_shared.runtime.clock import now
from pratique_shared.runtime.damage import one_round, passed_over

BETWEEN = 600.0  # seconds between two looks
WHO = "retention"  # who did it, in the log of the tenant

_log = logging.getLogger("pratique.retention")


@dataclass(frozen=True)
class _Doomed:
    """One that may go: whose it is, the operation that it is written down as, and that operation."""

    tenant: str
    operation: str
    delete: Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class _Spared:
    """What does not go at this look: what running work needs, and whatever these tenants have."""

    needed: frozenset[str] = frozenset()
    tenants: frozenset[str] = frozenset()


class Keeper:
    """Looks again and again. Several of them on one store do no harm."""

    def __init__(
        self,
        archive: Archive,
        audit: AuditLog,
        keep: Keep,
        clock: Callable[[], datetime] = now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._archive, self._audit, self._keep = archive, audit, keep
        self._studies = StudyArchive(archive)
        self._clock, self._monotonic = clock, monotonic
        self._watch: Watch | None = None
        self._gone: set[str] = set()

    async def run(self) -> None:
        """Look until cancelled; at once where nothing is ever too old."""
        if self._keep == Keep():
            return
        while True:
            with one_round("retention"):
                await self.look()
            await asyncio.sleep(BETWEEN)

    async def look(self) -> int:
        """Delete what has been overdue for long enough and is not needed; return how many."""
        # Folders of blobs, not the lists: parts of sweeps stand in no list, and what is shredded has no blob.
        held = await self._archive.captures_room.folders("blobs") + await self._archive.releases_room.folders("blobs")
        calendar, monotonic = self._clock(), self._monotonic()
        found = overdue((name for name in held if name not in self._gone), self._keep, calendar)
        self._watch, ripe = looked(self._watch, found, calendar, monotonic)
        deleted = 0
        spared = await self._spared() if ripe else _Spared()
        for identity in sorted(ripe - spared.needed):
            with passed_over(identity):  # what cannot be read is not deleted for it
                deleted += await self._delete(identity, spared.tenants)
        if deleted:
            _log.info("what reached its age was deleted", extra={"count": deleted})
        return deleted

    async def _spared(self) -> _Spared:
        """Return what running work needs. Of work whose facts cannot be read nobody knows: its tenant keeps all."""
        _, pending = await self._archive.pending()
        releases: list[ReleaseFacts | None] = []
        studies: list[StudyFacts | None] = []
        unread: set[str] = set()
        for name in pending:
            with passed_over(name):
                if name.startswith("rel_"):
                    releases.append(await self._archive.any_release(name))
                else:
                    studies.append(await self._studies.any(name))
                continue
            unread.add(name)
        tenants = frozenset({tenant for name in unread for tenant in await self._archive.listed_by(name)})
        return _Spared(needed(filter(None, releases), filter(None, studies)) | unread, tenants)

    async def _delete(self, identity: str, spared: frozenset[str]) -> bool:
        """Delete one, unless that was done before or its tenant is spared; it is in the log before it is gone."""
        doomed = await self._doomed(identity)
        if doomed is None:
            self._gone.add(identity)
            return False
        if doomed.tenant in spared:
            return False
        event = Event("asked", role=WHO, operation=doomed.operation, object=identity)
        await self._audit.record(doomed.tenant, event)
        await doomed.delete(identity)
        await self._audit.record(doomed.tenant, replace(event, phase="answered", status=204))
        self._gone.add(identity)
        return True

    async def _doomed(self, identity: str) -> _Doomed | None:
        """Return what is to be done with one; None where it was deleted, or is no more than a killed writer's rest."""
        archive = self._archive
        match identity.partition("_")[0]:
            case "cap":
                capture = await archive.any_capture(identity)
                if capture is not None and not capture.deleted:
                    return _Doomed(capture.requested.tenant, "deleteCapture", archive.delete_source)
            case "dst":
                dataset = await archive.captures.read(identity, "requested", DatasetReady)
                if dataset is not None and "deleted" not in await archive.captures.names(identity):
                    return _Doomed(dataset.tenant, "deleteDataset", archive.delete_source)
            case _:
                release = await archive.any_release(identity)
                if release is not None and not release.withdrawn:
                    return _Doomed(release.requested.tenant, "withdrawRelease", archive.withdraw)
        return None
