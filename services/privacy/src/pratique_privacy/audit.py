"""The audit log: a chain of entries for each API process and tenant, written before anything is done or told.

    audit/<tenant>/<day>/<block>   entries as NDJSON, created once

Whoever waits while a block is being written stands together in the next one.
"""

import asyncio
from dataclasses import dataclass

from pydantic import ValidationError

from pratique_privacy.evidence.chain import AuditEntry, Break, Event, breaks, linked
from pratique_shared.contracts.problems import Problem, Unavailable
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import day_of, fresh_name, id_after, is_id, stamp
from pratique_shared.runtime.damage import passed_over
from pratique_shared.runtime.meters import AUDIT_ENTRIES
from pratique_shared.runtime.sealing import BrokenSeal

MOST_IN_BLOCK = 1000
LOOKED_BACK = 64  # blocks in which a new chain looks for the heads of others
_NEW = (-1, "")
_Waiting = list[tuple[Event, "asyncio.Future[None]"]]


@dataclass(frozen=True)
class AuditPage:
    """Entries, newest first, and the cursor of the next page."""

    entries: tuple[AuditEntry, ...]
    next: str | None


class AuditLog:
    """The log of this process."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._chains: dict[str, _Chain] = {}

    async def record(self, tenant: str, event: Event) -> None:
        """Write an entry; durable when this returns. Raises `Unavailable` or `StoreFull`: then nothing may be done."""
        chain = self._chains.setdefault(tenant, _Chain(self._room, tenant))
        await chain.add(event)

    async def page(self, tenant: str, after: str | None, limit: int) -> AuditPage:
        """Return entries of a tenant that come after the cursor, a block's name and a place in it; newest first."""
        block, _, place = (after or "").partition(".")
        found: list[tuple[str, AuditEntry]] = []
        for name in await _blocks(self._room, tenant, block or None):
            entries = await _read(self._room, name)
            identity = _identity(name)
            last = int(place) if identity == block else len(entries)
            found += [(f"{identity}.{at}", entries[at]) for at in reversed(range(min(last, len(entries))))]
            if len(found) > limit:
                break
        cursor = found[limit - 1][0] if len(found) > limit else None
        return AuditPage(tuple(entry for _, entry in found[:limit]), cursor)

    async def every(self, tenant: str) -> list[AuditEntry]:
        """Return all entries of a tenant; raises `BrokenSeal` where a block cannot be read."""
        return [entry for name in await _blocks(self._room, tenant) for entry in await _read(self._room, name)]

    async def check(self, tenant: str) -> tuple[list[AuditEntry], list[Break]]:
        """Return all entries of a tenant that can be read, and every place where the log does not hold.

        A block that cannot be read is one, under its own name: of which chain it was nobody can tell.
        """
        entries: list[AuditEntry] = []
        damaged: list[Break] = []
        for name in await _blocks(self._room, tenant):
            try:
                entries += await _read(self._room, name)
            except BrokenSeal:
                damaged.append(Break(chain=_identity(name), number=0, fault="damaged"))
        return entries, [*damaged, *breaks(entries)]


class _Chain:
    """One chain and those who wait for their entry."""

    def __init__(self, room: Room, tenant: str) -> None:
        self._room, self._tenant = room, tenant
        self._name, self._last, self._block = fresh_name(), _NEW, ""
        self._waiting: _Waiting = []
        self._writer: asyncio.Task[None] | None = None

    async def add(self, event: Event) -> None:
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((event, done))
        # The writer is a task of its own: a caller that goes away leaves no half of a block.
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all())
        await done

    async def _write_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_IN_BLOCK], self._waiting[MOST_IN_BLOCK:]
            problem: Problem | None = Unavailable("audit-unavailable", "The audit log does not answer: try again.")
            try:
                await self._write([event for event, _ in batch])
                problem = None
            except Problem as found:
                problem = found
            finally:
                if problem is not None:  # the block may be there or not: a new chain does not depend on it
                    self._name, self._last = fresh_name(), _NEW
                _settle(batch, problem)

    async def _write(self, events: list[Event]) -> None:
        if self._last == _NEW:
            events = [Event("opened", heads=await self._heads()), *events]
        entries = linked(self._name, self._last, events, stamp())
        block = id_after("aud", self._block)
        data = "".join(f"{entry.model_dump_json()}\n" for entry in entries).encode()
        await self._room.create(f"audit/{self._tenant}/{day_of(block)}/{block}", data)
        self._block, self._last = block, (entries[-1].number, entries[-1].hash)

    async def _heads(self) -> tuple[tuple[str, str], ...]:
        """Return the last entries of the chains that were written to of late.

        A block that cannot be read names no head, and nobody is refused for it: the check of the log tells of it.
        """
        heads: dict[str, str] = {}
        for name in (await _blocks(self._room, self._tenant, most=LOOKED_BACK))[:LOOKED_BACK]:
            with passed_over(_identity(name)):
                entry = (await _read(self._room, name))[-1]
                heads.setdefault(entry.chain, entry.hash)
        return tuple(sorted(heads.items()))


def _settle(batch: _Waiting, problem: Problem | None) -> None:
    AUDIT_ENTRIES.labels("written" if problem is None else "failed").inc(len(batch))
    for _, done in batch:
        if done.done():  # whoever waited has gone
            continue
        if problem is None:
            done.set_result(None)
        else:
            done.set_exception(problem)


async def _blocks(room: Room, tenant: str, last: str | None = None, most: int | None = None) -> list[str]:
    """Return the keys of blocks, newest first: from the block `last` on, or at least the `most` newest."""
    found: list[str] = []
    for day in reversed(await room.folders(f"audit/{tenant}")):
        if last is None or day <= day_of(last):
            names = sorted(await room.names(f"audit/{tenant}/{day}"), reverse=True)
            blocks = [name for name in names if is_id(_identity(name), "aud")]
            found += [name for name in blocks if last is None or _identity(name) <= last]
        if most is not None and len(found) >= most:
            break
    return found


async def _read(room: Room, name: str) -> list[AuditEntry]:
    """Return the entries of a block, of which there is one at least; raises `BrokenSeal`."""
    lines = (await room.read(name) or b"").splitlines()
    if not lines:
        raise BrokenSeal(name)
    try:
        return [AuditEntry.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise BrokenSeal(name) from error


def _identity(name: str) -> str:
    return name.rsplit("/", 1)[1]
