"""Sessions: an API key lent to a browser for twelve hours, and the tickets that open one.

sessions/<id>   the SHA-256 of a session's secret and the key that it acts for
tickets/<id>    the same of a ticket, which opens one session within ten minutes
tickets/<id>.used   whoever creates it has used the ticket
"""

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Unauthorized
from pratique_shared.runtime.artifacts import Room
from pratique_shared.runtime.clock import made_at, new_id, now, stamp, text_of

SESSION_LIFE: Final = timedelta(hours=12)
TICKET_LIFE: Final = timedelta(minutes=10)
CACHED: Final = 5  # seconds that a session's state may be stale

_Kind = Literal["ses", "tkt"]
_FOLDER: Final[dict[_Kind, str]] = {"ses": "sessions", "tkt": "tickets"}
_LIFE: Final[dict[_Kind, timedelta]] = {"ses": SESSION_LIFE, "tkt": TICKET_LIFE}
_ID: Final = re.compile(f"(ses|tkt)_{ID}")


class Pass(Contract):
    """A session or a ticket as it is kept: never its secret, only the SHA-256 of it (256 random bits)."""

    id: str
    key_id: str
    secret_sha256: str
    expires_at: str


@dataclass(frozen=True)
class Issued:
    """A pass just made; `text` is handed out this once."""

    kept: Pass
    text: str = field(repr=False)


class Sessions:
    """The sessions and tickets in the room of keys. What a pass may do is what its key may do when it is used."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._known: dict[str, tuple[float, Pass]] = {}

    async def open(self, key_id: str) -> Issued:
        """Open a session for a key; those that have run out are swept on the way."""
        await self._sweep()
        return await self._issue("ses", key_id)

    async def ticket(self, key_id: str) -> Issued:
        """Make a ticket that opens one session for a key."""
        return await self._issue("tkt", key_id)

    async def redeem(self, text: str) -> str:
        """Return the key that a ticket stands for, and use it up; raises `Unauthorized` (`ticket-unknown`)."""
        refused = Unauthorized("ticket-unknown", "This link was used or has run out: ask for a new one.")
        found = await self._find("tkt", text)
        if found is None or not await self._room.create(f"tickets/{found.id}.used", b"{}"):
            raise refused
        return found.key_id

    async def key_of(self, text: str) -> str:
        """Return the key that a session acts for; raises `Unauthorized` (`session-unknown`)."""
        found = await self._find("ses", text)
        if found is None:
            raise Unauthorized("session-unknown", "The session has ended: sign in again.")
        return found.key_id

    async def close(self, text: str) -> None:
        """End a session, within `CACHED` seconds everywhere; one that is unknown is none."""
        found = await self._find("ses", text)
        if found is not None:
            self._known.pop(found.id, None)
            await self._room.delete(f"sessions/{found.id}")

    async def _issue(self, kind: _Kind, key_id: str) -> Issued:
        identity, secret = new_id(kind), secrets.token_urlsafe(32)
        kept = Pass(id=identity, key_id=key_id, secret_sha256=_digest(secret), expires_at=text_of(now() + _LIFE[kind]))
        await self._room.create(f"{_FOLDER[kind]}/{identity}", kept.model_dump_json().encode())
        return Issued(kept, f"{identity}.{secret}")

    async def _find(self, kind: _Kind, text: str) -> Pass | None:
        identity, _, secret = text.partition(".")
        if not _ID.fullmatch(identity) or not identity.startswith(kind):
            return None
        found = await self._read(kind, identity)
        if found is None or not hmac.compare_digest(_digest(secret), found.secret_sha256):
            return None
        return found if found.expires_at > stamp() else None

    async def _read(self, kind: _Kind, identity: str) -> Pass | None:
        at, known = self._known.get(identity, (-CACHED, None))
        if known is not None and time.monotonic() - at < CACHED:
            return known
        self._known.pop(identity, None)
        raw = await self._room.read(f"{_FOLDER[kind]}/{identity}")
        if raw is None:
            return None
        found = Pass.model_validate_json(raw)
        if kind == "ses":
            self._known[identity] = (time.monotonic(), found)
        return found

    async def _sweep(self) -> None:
        """Delete what has run out, told by the time in its id."""
        for kind, folder in _FOLDER.items():
            for path in await self._room.names(folder):
                identity = path.removeprefix(f"{folder}/").removesuffix(".used")
                if _ID.fullmatch(identity) and made_at(identity) + _LIFE[kind] < now():
                    self._known.pop(identity, None)
                    await self._room.delete(path)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
