"""The secrets of an installation on one machine: made once, kept in a file that only its owner reads."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

ROOMS = ("captures", "releases", "keys", "matrices", "scores")


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
        fresh = {
            "rooms": {room: secrets.token_hex(32) for room in ROOMS},
            "master": secrets.token_hex(32),
            "queue_password": secrets.token_hex(32),
        }
        data.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(fresh, indent=1))
        draft.replace(path)
    found = json.loads(path.read_text())
    return Secrets(found["rooms"], found["master"], found["queue_password"])
