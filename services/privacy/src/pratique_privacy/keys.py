"""Keys: API keys by their hash, and what lies under the master key: the keys of tenants, and secrets."""

import hashlib
import hmac
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from pratique_privacy.sessions import Sessions
from pratique_privacy.signing import SigningKeys
from pratique_privacy.tenant_keys import TenantKeys
from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Problem, Unauthorized, Unavailable
from pratique_shared.runtime.artifacts import Rewrapped, Room
from pratique_shared.runtime.clock import new_id, stamp
from pratique_shared.runtime.sealing import StorageKey

Role = Literal["operator", "recipient", "auditor", "admin"]
KEY_ID = re.compile(f"key_{ID}")
TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")  # it names folders
SECRETS = "secrets/"  # the folder of secrets; what they are bound to is the name below it
NAMING = "subjects"  # the secret that names the subjects of tokens
CACHED = 5  # seconds that a key's state may be stale


class ApiKey(Contract):
    """An API key as it is kept: never the secret, only its SHA-256 (the secret has 256 random bits)."""

    id: str
    tenant: str
    role: Role
    recipient: str | None = None
    name: str = ""
    secret_sha256: str
    created_at: str
    expires_at: str | None = None
    scopes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Caller:
    """Who asks: a tenant, a role, for a recipient its one name, and what it is held to within its role.

    `key_id` names an API key, or opaquely the subject of a token. Scopes of None: whatever the role may.
    """

    key_id: str
    tenant: str
    role: Role
    recipient: str | None = None
    scopes: tuple[str, ...] | None = None


def fresh_key() -> str:
    """Return the text of a new API key: its id, a point, and 256 random bits."""
    return f"{new_id('key')}.{secrets.token_urlsafe(32)}"


class KeyRoom:
    """The room of keys; only privacy opens it."""

    def __init__(self, room: Room, master: bytes) -> None:
        self._room, self._master = room, StorageKey.of(master)
        self._naming: bytes | None = None
        self.signing = SigningKeys(room, self._master)
        self.tenant_keys = TenantKeys(room, self._master)
        self.sessions = Sessions(room)
        self._known: dict[str, tuple[float, ApiKey]] = {}
        self._used: dict[str, str] = {}
        self._tenants: set[str] = set()

    async def new_api_key(
        self,
        tenant: str,
        role: Role,
        *,
        recipient: str | None = None,
        name: str = "",
        expires_at: str | None = None,
        scopes: tuple[str, ...] | None = None,
    ) -> tuple[ApiKey, str]:
        """Make an API key; return what is kept and the text that is shown once."""
        text = fresh_key()
        key = await self.add_api_key(
            text, tenant, role, recipient=recipient, name=name, expires_at=expires_at, scopes=scopes
        )
        return key, text

    async def add_api_key(
        self,
        text: str,
        tenant: str,
        role: Role,
        *,
        recipient: str | None = None,
        name: str = "",
        expires_at: str | None = None,
        scopes: tuple[str, ...] | None = None,
    ) -> ApiKey:
        """Let a key's text (`fresh_key`) be in force; doing it twice changes nothing."""
        key_id, _, secret = text.partition(".")
        key = ApiKey(
            id=key_id,
            tenant=tenant,
            role=role,
            recipient=recipient,
            name=name,
            secret_sha256=hashlib.sha256(secret.encode()).hexdigest(),
            created_at=stamp(),
            expires_at=expires_at,
            scopes=scopes,
        )
        await self._room.create(f"api/{key.id}/created", key.model_dump_json().encode())
        return key

    async def answers(self) -> None:
        """Raise where the room does not answer, or holds keys under another master key."""
        probe = "probe"
        await self._room.create(probe, self._master.wrap(bytes(32), probe))
        found = await self._room.read(probe)
        if found is None:
            raise Unavailable("keys-unavailable", "The room of keys does not answer: try again.")
        self._master.unwrap(found, probe)

    async def revoke(self, key_id: str) -> None:
        """Revoke an API key, within `CACHED` seconds everywhere."""
        await self._room.create(f"api/{key_id}/revoked", b"{}")
        self._known.pop(key_id, None)

    async def api_keys(self, tenant: str) -> list[tuple[ApiKey, bool]]:
        """Return the keys of a tenant and whether each was revoked."""
        found = []
        for name in await self._room.folders("api"):
            raw = await self._room.read(f"api/{name}/created")
            if raw is not None and (key := ApiKey.model_validate_json(raw)).tenant == tenant:
                found.append((key, await self._room.read(f"api/{name}/revoked") is not None))
        return found

    async def caller(self, bearer: str) -> Caller:
        """Return who holds this API key; raises `Unauthorized`."""
        key_id, _, secret = bearer.partition(".")
        key = await self._api_key(key_id) if KEY_ID.fullmatch(key_id) else None
        digest = hashlib.sha256(secret.encode()).hexdigest()
        if key is None or not hmac.compare_digest(digest, key.secret_sha256):
            raise Unauthorized("key-unknown", "Send `Authorization: Bearer <api key>` with a key that is in force.")
        await self._note_use(key.id)
        return _in_force(key)

    async def caller_of_key(self, key_id: str) -> Caller:
        """Return who holds the key that a session or ticket stands for; raises `Unauthorized` once it is revoked."""
        key = await self._api_key(key_id)
        if key is None:
            raise Unauthorized("key-unknown", "The key of this session was revoked: sign in with another.")
        return _in_force(key)

    async def caller_of_session(self, session: str) -> Caller:
        """Return for whom a session acts; raises `Unauthorized` once it or its key has ended."""
        return await self.caller_of_key(await self.sessions.key_of(session))

    async def last_used(self, key_id: str) -> str | None:
        """Return the last day (UTC) on which a key was used, None where it never was."""
        days = await self._room.names(f"api/{key_id}/used")
        return days[-1].rsplit("/", 1)[-1] if days else None

    async def _note_use(self, key_id: str) -> None:
        """Write down that a key was used today: once a day and process, and never a reason to refuse it."""
        today = stamp()[:10]
        if self._used.get(key_id) == today:
            return
        self._used[key_id] = today
        with suppress(Problem):
            await self._room.create(f"api/{key_id}/used/{today}", b"{}")

    async def name_subjects(self) -> bytes:
        """Return the key that names subjects, kept at first use: another master key changes no name."""
        if self._naming is None:
            made = hmac.digest(self._master.secret, b"pratique subjects", "sha256")
            self._naming = await self.keep_secret(NAMING, made)
        return self._naming

    async def subject(self, issuer: str, name: str) -> str:
        """Return what stands for the subject of a token: the same each time, and told by nobody without our key."""
        told = f"{len(issuer)} {issuer} {name}".encode(errors="replace")
        return f"sub_{hmac.digest(await self.name_subjects(), told, 'sha256').hex()[:26]}"

    async def add_tenant(self, tenant: str) -> bool:
        """Let there be a tenant, whose name has the form `TENANT`; return whether it is new."""
        assert TENANT.fullmatch(tenant)
        return await self._room.create(f"tenant-names/{tenant}/created", b"{}")

    async def has_tenant(self, tenant: str) -> bool:
        """Whether the operator of the house has made this tenant. None is ever removed."""
        if tenant not in self._tenants and TENANT.fullmatch(tenant):
            if await self._room.read(f"tenant-names/{tenant}/created") is None:
                return False
            self._tenants.add(tenant)
        return tenant in self._tenants

    async def tenants(self) -> list[str]:
        """Return the names of all tenants."""
        return await self._room.folders("tenant-names")

    async def _api_key(self, key_id: str) -> ApiKey | None:
        known = self._known.get(key_id)
        if known is not None and time.monotonic() - known[0] < CACHED:
            return known[1]
        raw = await self._room.read(f"api/{key_id}/created")
        if raw is None or await self._room.read(f"api/{key_id}/revoked") is not None:
            self._known.pop(key_id, None)
            return None
        key = ApiKey.model_validate_json(raw)
        self._known[key_id] = (time.monotonic(), key)
        return key

    async def keep_secret(self, name: str, secret: bytes) -> bytes:
        """Keep a secret under the master key; return the one that is kept, which may be an earlier one."""
        await self._room.create(f"{SECRETS}{name}", self._master.wrap(secret, name))
        return await self.secret(name) or secret

    async def secret(self, name: str) -> bytes | None:
        """Return a secret that was kept, None once it is forgotten."""
        wrapped = await self._room.read(f"{SECRETS}{name}")
        return None if wrapped is None else self._master.unwrap(wrapped, name)

    async def rewrap(self) -> Rewrapped:
        """Put the first master key around every key and secret that another one wraps; see `Room.rewrap`."""
        named = {name: name for folder in ("tenants", "signing") for name in await self._room.names(folder)}
        named |= {name: name.removeprefix(SECRETS) for name in await self._room.names(SECRETS.rstrip("/"))}
        return await self._room.rewrap_each({**named, "probe": "probe"}, self._master)

    async def forget_secret(self, name: str) -> None:
        """Remove a secret for good."""
        await self._room.delete(f"{SECRETS}{name}")


def _in_force(key: ApiKey) -> Caller:
    if key.expires_at is not None and key.expires_at <= stamp():
        raise Unauthorized("key-expired", "This API key has expired: ask an admin for a new one.")
    return Caller(key.id, key.tenant, key.role, key.recipient, key.scopes)
