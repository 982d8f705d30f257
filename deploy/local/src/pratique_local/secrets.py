"""The secrets of an installation on one machine: made once, kept in a file that only its owner reads."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from pratique_shared.runtime.artifacts import RoomName
from pratique_shared.runtime.secret_files import write_secret

ROOMS: tuple[RoomName, ...] = get_args(RoomName)


@dataclass(frozen=True)
class Secrets:
    """A storage key a room, the master key of the tenants' keys, and the password of the queue server."""

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
