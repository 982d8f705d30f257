"""Idempotency: one key, one body, one thing made, for a day."""

import hashlib
from dataclasses import dataclass
from typing import Annotated

from fastapi import Header

from pratique_privacy.archive import Archive
from pratique_privacy.keys import Caller
from pratique_shared.contracts.facts import Claim
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.runtime.clock import stamp

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key and body again: the first answer again, nothing made twice; kept for 24 hours.",
    ),
]


@dataclass(frozen=True)
class Slot:
    """The claim on an `Idempotency-Key` by one caller for one kind of resource; without a key it claims nothing."""

    archive: Archive
    tenant: str
    key: str | None
    body_sha256: str

    async def held(self) -> str | None:
        """Return the id that an earlier request was given; raises `Unprocessable` if that had another body."""
        if self.key is None:
            return None
        found = await self.archive.claimed(self.tenant, self.key)
        return None if found is None else self._same(found)

    async def claim(self, identity: str) -> str:
        """Claim the key for `identity`; return the id that holds it, ours or that of whoever came first."""
        if self.key is None:
            return identity
        ours = Claim(body_sha256=self.body_sha256, id=identity, created_at=stamp())
        return self._same(await self.archive.claim(self.tenant, self.key, ours))

    def _same(self, claim: Claim) -> str:
        if claim.body_sha256 != self.body_sha256:
            detail = "This Idempotency-Key stands for another body: send a fresh key with it."
            raise Unprocessable("idempotency-key-reused", detail)
        return claim.id


def slot_of(archive: Archive, caller: Caller, kind: str, key: str | None, *body: bytes) -> Slot:
    """Return the slot of a request; callers and kinds never meet in one."""
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in body)).hexdigest()
    return Slot(archive, caller.tenant, None if key is None else f"{kind}\n{caller.key_id}\n{key}", digest)
