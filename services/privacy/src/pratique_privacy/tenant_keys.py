"""Tenant keys: the pseudonymisation keys of all tenants by epoch, the newest for what is asked for from now on.

tenants/<tenant>/<epoch>          the key under the master key, created once and never removed
tenant-marks/<tenant>/<epoch>     its fingerprint, and when it was added
"""

import secrets
from dataclasses import dataclass, field

from pratique_privacy.key_marks import key_mark
from pratique_privacy.policy.keys import KEY_BYTES
from pratique_shared.contracts.facts import FIRST_EPOCH, KeyMark
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Unavailable
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import stamp
from pratique_shared.runtime.sealing import StorageKey


class KeyAdded(Contract):
    """A key as it is shown; of one from before there were epochs it is not known when it was added."""

    epoch: int
    fingerprint: str
    created_at: str | None


@dataclass(frozen=True)
class TenantKey:
    """A pseudonymisation key and what may be said of it."""

    secret: bytes = field(repr=False)
    mark: KeyMark


class TenantKeys:
    """The key ring of every tenant, in the room of keys."""

    def __init__(self, room: Room, master: StorageKey) -> None:
        self._room, self._master = room, master

    async def current(self, tenant: str) -> TenantKey:
        """Return the key of the newest epoch, made at first use."""
        epochs = await self._epochs(tenant)
        return await self._made(tenant, epochs[-1] if epochs else FIRST_EPOCH)

    async def of(self, tenant: str, epoch: int) -> TenantKey:
        """Return the key of one epoch; the first is made at first use. Raises `Unavailable` for one that is not there.

        What was asked for under an epoch keeps it: the same request gives the same bytes however often keys change.
        """
        if epoch == FIRST_EPOCH:
            return await self._made(tenant, epoch)
        found = await self._read(tenant, epoch)
        if found is None:
            raise Unavailable("key-missing", "A pseudonymisation key is not in the room of keys: restore it.")
        return found

    async def add(self, tenant: str) -> KeyAdded:
        """Begin an epoch. Of two that begin one at the same time both come to the same key."""
        epoch = (await self.current(tenant)).mark.epoch + 1
        return await self._shown((await self._made(tenant, epoch)).mark, tenant)

    async def every(self, tenant: str) -> list[KeyAdded]:
        """Return all keys of a tenant, newest first; there is one at least."""
        newest = (await self.current(tenant)).mark.epoch
        keys = [await self.of(tenant, epoch) for epoch in range(newest, 0, -1)]
        return [await self._shown(key.mark, tenant) for key in keys]

    async def _made(self, tenant: str, epoch: int) -> TenantKey:
        if (found := await self._read(tenant, epoch)) is not None:
            return found
        name = _name(tenant, epoch)
        ours = await self._room.create(name, self._master.wrap(secrets.token_bytes(KEY_BYTES), name))
        found = await self._read(tenant, epoch)
        assert found is not None  # a key is never removed
        if ours:
            added = KeyAdded(epoch=epoch, fingerprint=found.mark.fingerprint, created_at=stamp())
            await self._room.create(_mark_name(tenant, epoch), added.model_dump_json().encode())
        return found

    async def _read(self, tenant: str, epoch: int) -> TenantKey | None:
        name = _name(tenant, epoch)
        if (wrapped := await self._room.read(name)) is None:
            return None
        secret = self._master.unwrap(wrapped, name)
        return TenantKey(secret, key_mark(secret, epoch))

    async def _shown(self, mark: KeyMark, tenant: str) -> KeyAdded:
        raw = await self._room.read(_mark_name(tenant, mark.epoch))
        if raw is not None:
            return KeyAdded.model_validate_json(raw)
        return KeyAdded(epoch=mark.epoch, fingerprint=mark.fingerprint, created_at=None)

    async def _epochs(self, tenant: str) -> list[int]:
        names = [name.rsplit("/", 1)[1] for name in await self._room.names(f"tenants/{tenant}")]
        return sorted(int(name) for name in names if name.isdecimal())


def _name(tenant: str, epoch: int) -> str:
    return f"tenants/{tenant}/{epoch}"


def _mark_name(tenant: str, epoch: int) -> str:
    return f"tenant-marks/{tenant}/{epoch}"
