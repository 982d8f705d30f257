"""The ledger: folders of facts, each created if absent and never changed."""

from datetime import timedelta
from typing import TypeVar

from pratique_shared.contracts.facts import Attempt
from pratique_shared.contracts.model import Contract
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import stamp

Fact = TypeVar("Fact", bound=Contract)
ORPHANED = timedelta(hours=1)  # a marker of owed work without its request that is older belongs to a crash
MAX_DEATHS = 2  # children of one task that may die before it fails for good
MAX_STARTS = 10  # starts without an end: a task that takes its worker along each time


class Ledger:
    """The facts of one room, below `facts/<id>/`."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def commit(self, entity: str, name: str, fact: Contract) -> bool:
        """Write a fact; return whether it was the first. The loser's fact leaves no trace."""
        return await self._room.create(f"facts/{entity}/{name}", fact.model_dump_json().encode())

    async def names(self, entity: str) -> frozenset[str]:
        """Return the names of the facts that exist."""
        prefix = f"facts/{entity}/"
        return frozenset(key.removeprefix(prefix) for key in await self._room.names(prefix.rstrip("/")))

    async def read(self, entity: str, name: str, kind: type[Fact]) -> Fact | None:
        """Read a fact, or None."""
        raw = await self.raw(entity, name)
        return None if raw is None else kind.model_validate_json(raw)

    async def raw(self, entity: str, name: str) -> bytes | None:
        """Return the bytes of a fact, or None."""
        return await self._room.read(f"facts/{entity}/{name}")

    async def start(self, entity: str, task: str) -> int:
        """Note that a task starts; return how many starts it has had, this one included."""
        return await self._number(entity, f"starts/{task}")

    async def died(self, entity: str, task: str) -> int:
        """Note that a task's child died under a living parent; return how often that has happened."""
        return await self._number(entity, f"attempts/{task}")

    async def waited(self, entity: str, task: str) -> int:
        """Note that a start came to nothing through no fault of the task; return how often that has happened."""
        return await self._number(entity, f"waits/{task}")

    async def waits(self, entity: str, task: str) -> int:
        """Return how many starts came to nothing through no fault of the task."""
        return len(await self._room.names(f"facts/{entity}/waits/{task}"))

    async def _number(self, entity: str, folder: str) -> int:
        count = 1 + len(await self._room.names(f"facts/{entity}/{folder}"))
        while not await self.commit(entity, f"{folder}/{count}", Attempt(at=stamp())):
            count += 1
        return count
