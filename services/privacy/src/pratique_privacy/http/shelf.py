"""The shelf: a tenant's stored policies and gate floor, by name, version and digest, beside the built-ins."""

import re
from typing import Final

from pratique_privacy.admission import NamedPolicy, of_built_in, of_stored
from pratique_privacy.archive import Archive
from pratique_privacy.http.resources import GateFloor, PolicyResource
from pratique_privacy.policy.builtin import BUILT_IN, BuiltIn, attributes_of
from pratique_privacy.policy.digest import policy_sha256
from pratique_shared.contracts.gate import Gate
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.problems import FieldError, Unprocessable, no_such
from pratique_shared.contracts.releases import StoredPolicy

# A name that looks like a digest would hide the policy of that digest.
NAME: Final = re.compile(r"(?![0-9a-f]{64}$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DIGEST: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


class Shelf:
    """What one tenant has put there."""

    def __init__(self, archive: Archive, tenant: str) -> None:
        self._archive, self._tenant = archive, tenant

    async def named(self, asked: Policy | str, where: str = "/policy") -> NamedPolicy:
        """Return an inline policy as it is, or the one of that name or digest; raises `Unprocessable`."""
        if isinstance(asked, Policy):
            return NamedPolicy(asked)
        digest = _DIGEST.fullmatch(asked)
        for built_in in BUILT_IN.values():
            if asked == built_in.name or (digest and digest[1] == policy_sha256(as_stored(built_in))):
                return of_built_in(built_in)
        if (found := await self._stored(asked)) is not None:
            return of_stored(found)
        error = FieldError(where, "names no built-in and no stored policy")
        raise Unprocessable("policy-unknown", "GET /policies lists the policies that there are.", [error])

    async def _stored(self, asked: str) -> StoredPolicy | None:
        digest = _DIGEST.fullmatch(asked)
        folder = self._by_digest(digest[1]) if digest else self._by_name(asked)
        found = await self._archive.numbered(folder, StoredPolicy)
        return None if found is None else found[1]

    async def policy(self, name: str, version: int | None = None) -> PolicyResource:
        """Return a policy by its name, the newest or the given version of it; raises `NotFound`."""
        if version is None and (built_in := BUILT_IN.get(name)) is not None:
            return PolicyResource(
                name=name,
                version=None,
                built_in=True,
                title=built_in.title,
                sha256=policy_sha256(as_stored(built_in)),
                steps=built_in.policy.steps,
                attributes=attributes_of(built_in, ()),
            )
        found = None
        if NAME.fullmatch(name):
            found = await self._archive.numbered(self._by_name(name), StoredPolicy, version)
        if found is None:
            raise no_such("policy")
        return resource(name, *found)

    async def names(self) -> list[str]:
        """Return the names of all policies, the built-ins first."""
        return [*BUILT_IN, *await self._archive.releases_room.folders(f"policies/{self._tenant}")]

    async def put(self, name: str, policy: StoredPolicy) -> PolicyResource:
        """Store a policy as the next version of its name; what stands there already is no new version."""
        present = await self._archive.numbered(self._by_name(name), StoredPolicy)
        if present is not None and present[1] == policy:
            return resource(name, *present)
        # The digest first: a name never leads to a version that its own digest does not find.
        await self._archive.put_numbered(self._by_digest(policy_sha256(policy)), policy)
        return resource(name, await self._archive.put_numbered(self._by_name(name), policy), policy)

    async def floor(self) -> tuple[int, Gate]:
        """Return the version of the gate floor and its bounds; version 0 is none at all."""
        found = await self._archive.numbered(f"gate-floor/{self._tenant}", GateFloor)
        return (0, {}) if found is None else (found[0], found[1].gate)

    async def put_floor(self, floor: GateFloor) -> int:
        """Set the gate floor."""
        return await self._archive.put_numbered(f"gate-floor/{self._tenant}", floor)

    def _by_name(self, name: str) -> str:
        return f"policies/{self._tenant}/{name}"

    def _by_digest(self, digest: str) -> str:
        return f"policies-by-digest/{self._tenant}/{digest}"


def as_stored(built_in: BuiltIn) -> StoredPolicy:
    """Return a built-in policy in the form of a stored one, with the attributes that it was published with."""
    return StoredPolicy(steps=built_in.policy.steps, attributes=attributes_of(built_in, ()))


def resource(name: str, version: int, stored: StoredPolicy) -> PolicyResource:
    """Describe a version of a stored policy."""
    return PolicyResource(
        name=name,
        version=version,
        built_in=False,
        sha256=policy_sha256(stored),
        steps=stored.steps,
        attributes=stored.attributes,
        gate=stored.gate,
        attacks=stored.attacks,
        ppi=stored.ppi,
    )
