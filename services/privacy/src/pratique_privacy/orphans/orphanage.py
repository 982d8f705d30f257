"""The orphanage: goes round the store and removes the blobs that a killed process left and no fact came to name."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from datetime import datetime

from pratique_privacy.archive import SOURCES, WORKS, Archive
from pratique_privacy.orphans.rule import AGE, PATIENCE, named_in, seen_twice, unnamed
from pratique_shared.contracts.facts import Blob
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import is_id, now
from pratique_shared.runtime.damage import one_round, passed_over
from pratique_shared.runtime.sealing import BrokenSeal

BETWEEN = 3600.0  # seconds between two rounds
PAUSE = 0.05  # seconds between two folders: a round of a large store takes hours and disturbs nobody

_log = logging.getLogger("pratique.orphans")


class Orphanage:
    """Looks at every folder of blobs, again and again. Several of them on one store do no harm."""

    def __init__(
        self,
        archive: Archive,
        clock: Callable[[], datetime] = now,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rooms = {
            "captures": archive.captures_room,
            "releases": archive.releases_room,
            "matrices": archive.matrices_room,
        }
        self._clock, self._monotonic = clock, monotonic
        self._first_seen: dict[tuple[str, str], dict[str, float]] = {}

    async def run(self) -> None:
        """Go round until cancelled."""
        await asyncio.sleep(PATIENCE)  # a start has other things to do
        while True:
            with one_round("orphans"):
                await self.round(PAUSE)
            await asyncio.sleep(BETWEEN)

    async def round(self, pause: float = 0) -> int:
        """Look at every folder once; return how many blobs and drafts were removed.

        A folder that is named by no id is another's, and the blobs of an object of which a fact cannot be read stay:
        it may be the fact that names them.
        """
        removed = 0
        for name, room in self._rooms.items():
            for entity in await room.folders("blobs"):
                if is_id(entity, *SOURCES, *WORKS):
                    with passed_over(entity):
                        removed += await self._look(name, room, entity)
                await asyncio.sleep(pause)
        if removed:
            _log.info("blobs that no fact names were removed", extra={"count": removed})
        return removed

    async def _look(self, name: str, room: Room, entity: str) -> int:
        """Remove what is ripe in one folder.

        The blobs are listed before the facts are read: a fact that comes in between counts.
        """
        folder = f"blobs/{entity}"
        at = self._clock()
        drafts = await room.clear_drafts(folder, at - AGE)
        written = await room.written(folder)
        found = unnamed(written, frozenset(), at)
        if found:
            found = unnamed(written, await self._named(entity), at)
        remembered, ripe = seen_twice(self._first_seen.get((name, entity), {}), found, self._monotonic())
        for key in sorted(ripe):
            await room.shred(Blob(key=key, sha256="", bytes=0))
        if remembered:
            self._first_seen[name, entity] = remembered
        else:
            self._first_seen.pop((name, entity), None)
        return drafts + len(ripe)

    async def _named(self, entity: str) -> frozenset[str]:
        """Return the blobs that the facts of an object name, in whatever room a fact lies; raises `BrokenSeal`."""
        facts: list[bytes] = []
        for room in self._rooms.values():
            for key in await room.names(f"facts/{entity}"):
                fact = await room.read(key)
                if fact is not None:
                    facts.append(_whole(fact, key))
        return named_in(facts)


def _whole(fact: bytes, key: str) -> bytes:
    """Return a fact if it is JSON: one that lost its digest may have lost the names of its blobs with it."""
    try:
        json.loads(fact)
    except ValueError as error:
        raise BrokenSeal(key) from error
    return fact
