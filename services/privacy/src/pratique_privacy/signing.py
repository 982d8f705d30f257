"""Signing keys: numbered, one row a tenant, the newest signs; every public half stays readable.

signing/<tenant>/<number>   the seed under the master key, created once
public/<kid>                the public half, written before anything is signed with it
"""

import secrets
from base64 import b64decode, b64encode

from pratique_privacy.evidence.envelope import SEED_BYTES, PublicKey, Signer
from pratique_shared.contracts.model import Contract
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import stamp
from pratique_shared.runtime.sealing import StorageKey


class PublicHalf(Contract):
    """A public key as it is kept."""

    tenant: str
    number: int
    key: str
    created_at: str

    @property
    def public(self) -> PublicKey:
        """The key itself."""
        return PublicKey(b64decode(self.key))


class SigningKeys:
    """The signing keys of all tenants, in the room of keys."""

    def __init__(self, room: Room, master: StorageKey) -> None:
        self._room, self._master = room, master

    async def current(self, tenant: str) -> Signer:
        """Return the key that signs for a tenant, made at first use; its public half is readable already."""
        numbers = await self._numbers(tenant)
        if not numbers:
            await self._add(tenant, 1)
            numbers = await self._numbers(tenant)
        signer = await self._signer(tenant, numbers[-1])
        await self._show(tenant, numbers[-1], signer)
        return signer

    async def rotate(self, tenant: str) -> PublicHalf:
        """Add a key, which signs from now on; what earlier ones signed stays valid, for their public halves stay."""
        numbers = await self._numbers(tenant)
        await self._add(tenant, numbers[-1] + 1 if numbers else 1)
        half = await self.public((await self.current(tenant)).public.kid)
        assert half is not None  # `current` has shown it
        return half

    async def of(self, tenant: str) -> list[PublicHalf]:
        """Return the public halves of a tenant's keys, of which there is one at least."""
        await self.current(tenant)
        return [half for half in await self.every() if half.tenant == tenant]

    async def own(self, tenant: str) -> list[PublicKey]:
        """Return the keys that a tenant signed with, computed from their seeds: no seal covers the public halves."""
        return [(await self._signer(tenant, number)).public for number in await self._numbers(tenant)]

    async def public(self, kid: str) -> PublicHalf | None:
        """Return the public half of a key."""
        raw = await self._room.read(_public_name(kid))
        return None if raw is None else PublicHalf.model_validate_json(raw)

    async def every(self) -> list[PublicHalf]:
        """Return the public halves of all keys of all tenants, newest first."""
        found = []
        for name in await self._room.names("public"):
            raw = await self._room.read(name)
            if raw is not None:
                found.append(PublicHalf.model_validate_json(raw))
        return sorted(found, key=lambda half: (half.created_at, half.number), reverse=True)

    async def _signer(self, tenant: str, number: int) -> Signer:
        name = _seed_name(tenant, number)
        wrapped = await self._room.read(name)
        assert wrapped is not None  # a seed is never removed
        return Signer(self._master.unwrap(wrapped, name))

    async def _show(self, tenant: str, number: int, signer: Signer) -> None:
        name = _public_name(signer.public.kid)
        if await self._room.read(name) is None:
            key = b64encode(signer.public.raw).decode()
            half = PublicHalf(tenant=tenant, number=number, key=key, created_at=stamp())
            await self._room.create(name, half.model_dump_json().encode())

    async def _numbers(self, tenant: str) -> list[int]:
        names = [name.rsplit("/", 1)[1] for name in await self._room.names(f"signing/{tenant}")]
        return [int(name) for name in names if name.isdecimal()]

    async def _add(self, tenant: str, number: int) -> None:
        """Add a key under a number; where another process was faster, its key stands."""
        name = _seed_name(tenant, number)
        await self._room.create(name, self._master.wrap(secrets.token_bytes(SEED_BYTES), name))


def _seed_name(tenant: str, number: int) -> str:
    return f"signing/{tenant}/{number:09d}"


def _public_name(kid: str) -> str:
    return f"public/{kid}"
