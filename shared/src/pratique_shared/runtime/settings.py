"""What the environment says, read once in each `main`."""

import ctypes
import os
import sys
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, Field, SecretBytes, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from pratique_shared.runtime.artifacts import Room, RoomName, open_room
from pratique_shared.runtime.sealing import KEY_BYTES, StorageKey


def _key_bytes(value: object) -> object:
    """Read keys of 32 bytes from hex text, one or several with spaces, line ends or commas between."""
    if not isinstance(value, str):
        return value
    keys = [bytes.fromhex(word) for word in value.replace(",", " ").split()]
    if not 1 <= len(keys) <= MOST_KEYS or any(len(key) != KEY_BYTES for key in keys) or len(set(keys)) < len(keys):
        raise ValueError(f"has 64 hex digits, or up to {MOST_KEYS} different keys of that form")
    return b"".join(keys)


MOST_KEYS = 8  # of a room at a time
# The keys one after the other: the first wraps, all of them unwrap (`StorageKey.of`).
Key = Annotated[SecretBytes, BeforeValidator(_key_bytes)]


def _unless_empty(value: object) -> object:
    """Read a setting that a compose file hands on without a value as one that is not set."""
    return None if value == "" else value


Port = Annotated[Annotated[int, Field(ge=1, le=65535)] | None, BeforeValidator(_unless_empty)]

PR_SET_DUMPABLE = 4
SECRET_PREFIXES = (
    "PRATIQUE_KEY_",
    "PRATIQUE_MASTER_KEY",
    "PRATIQUE_REDIS_URL",
    "PRATIQUE_ICS_TOKEN",
    "PRATIQUE_METRICS_TOKEN",
)
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")  # of a store on S3


class Settings(BaseSettings):
    """The settings that every process of Pratique reads, `PRATIQUE_` before each name.

    A secret may also be a file of its name in the folder `PRATIQUE_SECRETS`, as container engines mount them.
    """

    model_config = SettingsConfigDict(env_prefix="PRATIQUE_", frozen=True, extra="ignore", hide_input_in_errors=True)

    redis_url: str = "redis://127.0.0.1:6379/0"
    store: str = Field(default="", description="file:///folder or s3://bucket/prefix; else a folder in `data`")
    data: Path = Path(".data")
    key_captures: Key | None = None
    key_releases: Key | None = None
    key_keys: Key | None = None
    key_matrices: Key | None = None
    key_scores: Key | None = None
    log_level: str = "INFO"
    alive_file: Path | None = Field(default=None, description="a worker touches it as long as its loop turns")
    metrics_port: Port = None  # where the meters of a process are served; none where it is not set
    metrics_host: str = "127.0.0.1"
    aws_access_key_id: SecretStr | None = Field(default=None, validation_alias="AWS_ACCESS_KEY_ID")
    aws_secret_access_key: SecretStr | None = Field(default=None, validation_alias="AWS_SECRET_ACCESS_KEY")
    aws_session_token: SecretStr | None = Field(default=None, validation_alias="AWS_SESSION_TOKEN")

    def room(self, name: RoomName) -> Room:
        """Open a room; a process that was not given the room's key cannot."""
        secret: SecretBytes | None = getattr(self, f"key_{name}")
        if secret is None:
            raise SystemExit(f"PRATIQUE_KEY_{name.upper()} is missing: 64 hex digits, the storage key of this room")
        given = {name.lower(): getattr(self, name.lower()) for name in CREDENTIALS}
        return open_room(
            self.store or (self.data.absolute() / "store").as_uri(),
            name,
            StorageKey.of(secret.get_secret_value()),
            {name: value.get_secret_value().strip() for name, value in given.items() if value is not None},
        )


Given = TypeVar("Given", bound=Settings)


def read_environment(kind: type[Given]) -> Given:
    """Read the settings of a process, then take its secrets out of the environment: no child inherits them."""
    settings = kind(_secrets_dir=os.environ.get("PRATIQUE_SECRETS"))
    if sys.platform == "linux":  # nor may it read them from this process: /proc/<pid>/environ keeps what we delete
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    for name in [name for name in os.environ if name.startswith((*SECRET_PREFIXES, *CREDENTIALS))]:
        del os.environ[name]
    return settings
