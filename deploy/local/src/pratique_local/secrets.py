"""The secrets of an installation on one machine: made once, kept in a file that only its owner reads."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

from pratique_shared.runtime.artifacts import RoomName
from pratique_shared.runtime.secret_files import flush_folder, write_secret

ROOMS: tuple[RoomName, ...] = get_args(RoomName)


@dataclass(frozen=True)
class Secrets:
    """A storage key a room, the master key of the tenants' keys, and the password of the queue server.

    While keys are changed a room, or the master key, has two with a space between: the first one wraps.
    """

    rooms: dict[str, str] = field(repr=False)
    master: str = field(repr=False)
    queue_password: str = field(repr=False)


def secrets_in(data: Path) -> Secrets:
    """Return the secrets of the data folder, made at the first start. Losing the file loses every sealed blob."""
    path = data / "secrets.json"
    if not path.exists():
        if (data / "store").exists():
            raise SystemExit(
                f"{path} is missing, and {data / 'store'} is sealed with what was in it: restore it from your backup"
            )
        fresh = {
            "rooms": {room: secrets.token_hex(32) for room in ROOMS},
            "master": secrets.token_hex(32),
            "queue_password": secrets.token_hex(32),
        }
        write_secret(path, json.dumps(fresh, indent=1) + "\n")
    found = json.loads(path.read_text())
    return Secrets(found["rooms"], found["master"], found["queue_password"])


def with_fresh_keys(known: Secrets) -> Secrets:
    """Return secrets in which a fresh key stands before each; one that has several already has its fresh one."""
    return Secrets({room: _led(keys) for room, keys in known.rooms.items()}, _led(known.master), known.queue_password)


def with_first_keys(known: Secrets) -> Secrets:
    """Return secrets with the first key of each alone."""
    rooms = {room: keys.split()[0] for room, keys in known.rooms.items()}
    return Secrets(rooms, known.master.split()[0], known.queue_password)


def keep_secrets(data: Path, known: Secrets) -> None:
    """Put secrets into the place of those of the data folder, in one step."""
    path = data / "secrets.json"
    draft = data / "secrets.json.next"
    draft.unlink(missing_ok=True)
    write_secret(draft, json.dumps(asdict(known), indent=1) + "\n")
    draft.replace(path)
    flush_folder(data)


def _led(keys: str) -> str:
    return keys if " " in keys else f"{secrets.token_hex(32)} {keys}"
