"""The archive: captures, datasets, releases and policies of all tenants, as facts in the store.

Whoever reads an object by its id names the tenant that asks; another tenant's object is not there.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import TypeAdapter

from pratique_privacy.flow import ReleaseFacts
from pratique_shared.contracts.facts import (
    CLOSED,
    Cancelled,
    CaptureOutcome,
    CaptureRequested,
    Claim,
    DatasetReady,
    Deleted,
    Labelled,
    Measured,
    Outcome,
    RecordsResolved,
    ReleaseFailed,
    ReleaseRequested,
)
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import no_such
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import Prefix, day_of, is_id, now, stamp
from pratique_shared.runtime.ledger import Ledger

Fact = TypeVar("Fact", bound=Contract)
CLAIM_KEPT = timedelta(days=1)
SOURCES: tuple[Prefix, ...] = ("cap", "dst")  # what the room of captures may owe, and that of releases
WORKS: tuple[Prefix, ...] = ("rel", "atk", "swp", "utl", "prf", "rec")
SCORED = ("attack/", "utility/")  # what the names of scores begin with; starts and deaths stand beside them
_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
_CAPTURE_OUTCOME: TypeAdapter[CaptureOutcome] = TypeAdapter(CaptureOutcome)


@dataclass(frozen=True)
class Capture:
    """A capture and how it ended."""

    requested: CaptureRequested
    outcome: CaptureOutcome | None
    deleted: bool


@dataclass(frozen=True)
class Page:
    """A page of ids, newest first; `next` is the cursor of the following one."""

    ids: tuple[str, ...]
    next: str | None


class Archive:
    """Everything that privacy keeps, by room."""

    def __init__(self, captures: Room, releases: Room, matrices: Room, scores: Room) -> None:
        self.captures_room, self.releases_room, self.matrices_room = captures, releases, matrices
        self.captures, self.releases = Ledger(captures), Ledger(releases)
        self.matrices, self.scores = Ledger(matrices), Ledger(scores)

    # Captures and datasets ----------------------------------------------------------------------------------

    async def add_capture(self, requested: CaptureRequested) -> None:
        """Take a capture in: durable, listed and owed when this returns."""
        await self.captures_room.create(f"pending/{requested.id}", b"{}")
        await self.captures.commit(requested.id, "requested", requested)
        await self.captures_room.create(index_key(requested.tenant, requested.id), b"{}")

    async def capture(self, tenant: str, capture_id: str) -> Capture:
        """Return a capture of this tenant; raises `NotFound`."""
        found = await self.any_capture(capture_id)
        if found is None or found.requested.tenant != tenant:
            raise no_such("capture")
        return found

    async def any_capture(self, capture_id: str) -> Capture | None:
        """Return a capture whatever its tenant, for the workers."""
        names = await self.captures.names(capture_id)
        requested = await self.captures.read(capture_id, "requested", CaptureRequested)
        if requested is None:
            return None
        if numbers := _label_numbers(names):
            said = await self.captures.read(capture_id, f"labels/{max(numbers)}", Labelled)
            assert said is not None  # a fact that was listed is never taken away
            requested = requested.model_copy(update={"name": said.name, "open_to": said.open_to})
        raw = await self.captures.raw(capture_id, "outcome") if "outcome" in names else None
        outcome = None if raw is None else _CAPTURE_OUTCOME.validate_json(raw)
        return Capture(requested, outcome, "deleted" in names)

    async def relabel(self, capture: Capture, name: str, open_to: tuple[str, ...]) -> Capture:
        """Give a capture another name and other recipients, if they are others; return it as it stands then."""
        requested = capture.requested
        if (name, open_to) == (requested.name, requested.open_to):
            return capture
        number = 1 + max(_label_numbers(await self.captures.names(requested.id)), default=0)
        said = Labelled(name=name, open_to=open_to, at=stamp())
        while not await self.captures.commit(requested.id, f"labels/{number}", said):
            number += 1
        return replace(capture, requested=requested.model_copy(update={"name": name, "open_to": open_to}))

    async def same_capture(
        self, tenant: str, pilot: str | None, sha256: str, max_packets: int | None
    ) -> Capture | None:
        """Return the capture of the same frames of these bytes for the same pilot, unless it failed or was deleted."""
        latest = await self._latest(self.captures_room, _digest_folder(tenant, pilot, sha256, max_packets))
        return None if latest is None else await self._standing(latest[1].decode())

    async def _standing(self, capture_id: str) -> Capture | None:
        found = await self.any_capture(capture_id)
        if found is None or found.deleted or (found.outcome is not None and found.outcome.kind == "failed"):
            return None
        return found

    async def name_digest(self, requested: CaptureRequested) -> str:
        """Let the capture's digest stand for it; return the id that does, which may be that of an earlier upload."""
        folder = _digest_folder(requested.tenant, requested.pilot, requested.raw.sha256, requested.max_packets)
        while True:
            latest = await self._latest(self.captures_room, folder)
            # The listing that finds nobody is the one that gives the number: who comes in between loses the create.
            if latest is not None and (same := await self._standing(latest[1].decode())) is not None:
                return same.requested.id
            number = 1 if latest is None else latest[0] + 1
            if await self.captures_room.create(f"{folder}/{number:09d}", requested.id.encode()):
                return requested.id

    async def add_dataset(self, ready: DatasetReady) -> None:
        """Take a dataset in."""
        await self.captures.commit(ready.id, "requested", ready)
        await self.captures_room.create(index_key(ready.tenant, ready.id), b"{}")

    async def dataset(self, tenant: str, dataset_id: str) -> tuple[DatasetReady, bool]:
        """Return a dataset of this tenant and whether it was deleted; raises `NotFound`."""
        found = await self.captures.read(dataset_id, "requested", DatasetReady)
        if found is None or found.tenant != tenant:
            raise no_such("dataset")
        return found, "deleted" in await self.captures.names(dataset_id)

    async def delete_source(self, source_id: str) -> None:
        """Write the tombstone of a capture or dataset, then shred its bytes and records.

        The marker comes first and is left to the sweeper: a crash on the way, or work that still runs, leaves nothing.
        """
        await self.captures_room.create(f"pending/{source_id}", b"{}")
        await self.captures.commit(source_id, "deleted", Deleted(at=stamp()))
        await self.captures_room.shred_all(f"blobs/{source_id}")

    async def settle_dataset(self, dataset_id: str) -> None:
        """End the deletion of a dataset, which no worker knows of."""
        await self.captures_room.shred_all(f"blobs/{dataset_id}")
        await self.captures_room.delete(f"pending/{dataset_id}")

    # Releases -----------------------------------------------------------------------------------------------

    async def add_release(self, requested: ReleaseRequested) -> bool:
        """Take a release in: owed, durable and listed when this returns, in this order.

        A crash after the first step leaves a marker without a release, after the second a release that the sweeper
        lists; neither was answered. Returns False where the request was written before, by whoever came first.
        """
        await self.releases_room.create(f"pending/{requested.id}", b"{}")
        ours = await self.releases.commit(requested.id, "requested", requested)
        await self.list_release(requested)
        return ours

    async def list_release(self, requested: ReleaseRequested) -> None:
        """Let a release stand in the lists, unless it is a part of a study; doing it twice changes nothing."""
        if requested.member_of is not None:
            return
        await self.releases_room.create(index_key(requested.tenant, requested.id), b"{}")

    async def listed_by(self, identity: str) -> list[str]:
        """Return the tenants in whose lists a release or study stands: one, or none for a part of a study."""
        room = self.releases_room
        tenants = await room.folders("index")
        return [name for name in tenants if await room.read(index_key(name, identity)) is not None]

    async def release(self, tenant: str, release_id: str) -> ReleaseFacts:
        """Return the facts of a release of this tenant; raises `NotFound`."""
        found = await self.any_release(release_id)
        if found is None or found.requested.tenant != tenant:
            raise no_such("release")
        return found

    async def any_release(self, release_id: str) -> ReleaseFacts | None:
        """Return the facts of a release whatever its tenant, for the workers."""
        names, requested = await asyncio.gather(
            self.releases.names(release_id), self.releases.read(release_id, "requested", ReleaseRequested)
        )
        if requested is None:
            return None
        raw = await self.releases.raw(release_id, "outcome") if "outcome" in names else None
        measured = await self.releases.read(release_id, "measured", Measured) if "measured" in names else None
        return ReleaseFacts(
            requested=requested,
            records=await self.releases.read(release_id, "records", RecordsResolved) if "records" in names else None,
            measured=measured,
            scored=await self.scored(release_id) if measured is not None and measured.plan.shards else frozenset(),
            outcome=None if raw is None else _OUTCOME.validate_json(raw),
            withdrawn="withdrawn" in names,
        )

    async def scored(self, entity: str) -> frozenset[str]:
        """Return the tasks of a release or a study that have their score."""
        return frozenset(name for name in await self.scores.names(entity) if name.startswith(SCORED))

    async def scores_of(self, entity: str, kind: type[Fact]) -> dict[str, Fact]:
        """Return the scores of a release or a study by the tasks of their shards."""
        tasks = sorted(await self.scored(entity))
        found = await asyncio.gather(*(self.scores.read(entity, task, kind) for task in tasks))
        return {task: score for task, score in zip(tasks, found, strict=True) if score is not None}

    async def cancel(self, release_id: str) -> bool:
        """Cancel a release; False when it has an outcome already."""
        done = await self.releases.commit(release_id, "outcome", Cancelled(at=stamp()))
        await self.matrices.commit(release_id, CLOSED, Deleted(at=stamp()))  # spares the attack workers its shards
        return done

    async def conclude(self, release_id: str, outcome: Outcome | ReleaseFailed) -> bool:
        """Write the outcome; the first one stands. The release stays owed until `settle`."""
        return await self.releases.commit(release_id, "outcome", outcome)

    async def settle(self, release_id: str) -> None:
        """Nothing is owed any more."""
        await self.releases_room.delete(f"pending/{release_id}")

    async def withdraw(self, release_id: str) -> None:
        """Write the tombstone of a release, then shred its files and tables.

        The marker comes first and is left to the sweeper, as for a deleted source.
        """
        await self.releases_room.create(f"pending/{release_id}", b"{}")
        await self.releases.commit(release_id, "withdrawn", Deleted(at=stamp()))
        await self.cancel(release_id)
        await self.shred_release(release_id)

    async def shred_release(self, release_id: str) -> None:
        """Remove the files, tables and codes of a release."""
        for room in (self.releases_room, self.matrices_room):
            await room.shred_all(f"blobs/{release_id}")

    async def pending(self) -> tuple[list[str], list[str]]:
        """Return the ids of the captures and datasets, and of the releases and studies, for which work is owed.

        Other names than such ids are none of ours.
        """
        captures, releases = await asyncio.gather(
            self.captures_room.names("pending"), self.releases_room.names("pending")
        )
        return ids_of(captures, *SOURCES), ids_of(releases, *WORKS)

    # Lists, numbered facts, claims ---------------------------------------------------------------------------

    async def page(self, kind: str, tenant: str, after: str | None, limit: int) -> Page:
        """Return the ids of one kind (`rel`, `cap` ..) of a tenant, newest first, that come after the cursor."""
        room = self.captures_room if kind in ("cap", "dst") else self.releases_room
        ids: list[str] = []
        for day in reversed(await room.folders(f"index/{tenant}")):
            if after is not None and day > day_of(after):
                continue
            names = [key.rsplit("/", 1)[1] for key in await room.names(f"index/{tenant}/{day}")]
            for name in sorted(names, reverse=True):
                if name.startswith(f"{kind}_") and (after is None or name < after):
                    ids.append(name)
                    if len(ids) > limit:
                        return Page(tuple(ids[:limit]), ids[limit - 1])
        return Page(tuple(ids), None)

    async def put_numbered(self, folder: str, fact: Contract) -> int:
        """Add a version to a numbered fact (`policies/<tenant>/<name>`, `gate-floor/<tenant>`); return its number."""
        while True:
            latest = await self._latest(self.releases_room, folder)
            number = 1 if latest is None else latest[0] + 1
            if await self.releases_room.create(f"{folder}/{number:09d}", fact.model_dump_json().encode()):
                return number

    async def numbered(self, folder: str, kind: type[Fact], number: int | None = None) -> tuple[int, Fact] | None:
        """Return the highest version of a numbered fact, or the one of this number."""
        if number is not None:
            raw = await self.releases_room.read(f"{folder}/{number:09d}")
            return None if raw is None else (number, kind.model_validate_json(raw))
        latest = await self._latest(self.releases_room, folder)
        return None if latest is None else (latest[0], kind.model_validate_json(latest[1]))

    async def claim(self, tenant: str, key: str, claim: Claim) -> Claim:
        """Claim an idempotency key; return the claim that holds it, ours or an earlier one of the last 24 hours."""
        folder = _claim_folder(tenant, key)
        while True:
            latest = await self._latest(self.releases_room, folder)
            if latest is not None and (held := _in_force(latest[1])) is not None:
                return held
            number = 1 if latest is None else latest[0] + 1
            if await self.releases_room.create(f"{folder}/{number:09d}", claim.model_dump_json().encode()):
                return claim

    async def claimed(self, tenant: str, key: str) -> Claim | None:
        """Return the claim that holds an idempotency key, if there is one."""
        latest = await self._latest(self.releases_room, _claim_folder(tenant, key))
        return None if latest is None else _in_force(latest[1])

    async def _latest(self, room: Room, folder: str) -> tuple[int, bytes] | None:
        keys = [key for key in await room.names(folder) if key.rsplit("/", 1)[1].isdecimal()]
        raw = await room.read(keys[-1]) if keys else None
        return None if raw is None else (int(keys[-1].rsplit("/", 1)[1]), raw)


def ids_of(keys: Iterable[str], *kinds: Prefix) -> list[str]:
    """Return the ids of these kinds that keys end with, in their order; keys that others made are left out."""
    return [name for key in keys if is_id(name := key.rsplit("/", 1)[1], *kinds)]


def index_key(tenant: str, identity: str) -> str:
    """Return where an object stands in the lists of its tenant."""
    return f"index/{tenant}/{day_of(identity)}/{identity}"


def _label_numbers(names: Iterable[str]) -> list[int]:
    numbers = [name.removeprefix("labels/") for name in names if name.startswith("labels/")]
    return [int(number) for number in numbers if number.isdecimal()]


def _digest_folder(tenant: str, pilot: str | None, sha256: str, max_packets: int | None) -> str:
    cut = "" if max_packets is None else f"-{max_packets}"
    return f"by-digest/{tenant}/{hashlib.sha256((pilot or '').encode()).hexdigest()[:16]}/{sha256}{cut}"


def _claim_folder(tenant: str, key: str) -> str:
    return f"idempotency/{tenant}/{hashlib.sha256(key.encode()).hexdigest()}"


def _in_force(raw: bytes) -> Claim | None:
    claim = Claim.model_validate_json(raw)
    return claim if now() - datetime.fromisoformat(claim.created_at) < CLAIM_KEPT else None
