"""The keys of a data folder are changed in one command that may be cut off and done again."""

import asyncio
import fcntl
import stat
import subprocess
from pathlib import Path

import pytest

from pratique_local.backup import back_up
from pratique_local.rekey import rekey
from pratique_local.secrets import ROOMS, Secrets, keep_secrets, secrets_in, with_fresh_keys
from pratique_privacy.keys import KeyRoom
from pratique_shared.contracts.facts import Blob
from pratique_shared.runtime.artifacts import Room, open_room
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey


def room_of(data: Path, known: Secrets, name: str) -> Room:
    key = StorageKey.of(bytes.fromhex(known.rooms[name]))  # spaces between several are skipped
    return open_room((data / "store").as_uri(), name, key)  # type: ignore[arg-type]


async def filled(data: Path) -> dict[str, Blob]:
    """A blob in each room, and a tenant's key."""
    known = secrets_in(data)
    blobs: dict[str, Blob] = {
        name: await room_of(data, known, name).put_bytes("blobs/x/y", name.encode()) for name in ROOMS
    }
    await KeyRoom(room_of(data, known, "keys"), bytes.fromhex(known.master)).tenant_keys.current("acme")
    return blobs


async def read(data: Path, known: Secrets, blobs: dict[str, Blob]) -> dict[str, bytes]:
    await KeyRoom(room_of(data, known, "keys"), bytes.fromhex(known.master)).tenant_keys.of("acme", 1)
    return {name: await room_of(data, known, name).blob_bytes(blob) for name, blob in blobs.items()}


def test_a_folder_gets_fresh_keys_and_the_earlier_ones_open_nothing_any_more(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    blobs = asyncio.run(filled(data))
    before, whole = secrets_in(data), {name: name.encode() for name in ROOMS}
    back_up(data, copy)
    assert rekey(data) == 0
    after = secrets_in(data)
    assert asyncio.run(read(data, after, blobs)) == whole
    assert after.queue_password == before.queue_password
    for name in ROOMS:
        assert after.rooms[name] != before.rooms[name]
        with pytest.raises(BrokenSeal):
            asyncio.run(room_of(data, before, name).blob_bytes(blobs[name]))
    assert before.master not in (data / "secrets.json").read_text()
    assert stat.S_IMODE((data / "secrets.json").stat().st_mode) == 0o600
    back_up(data, copy)  # wrapped keys changed in place, with the same length
    assert asyncio.run(read(copy, after, blobs)) == whole


def test_cut_off_it_keeps_both_keys_and_the_next_run_takes_the_same_fresh_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = asyncio.run(filled(tmp_path))
    fresh = with_fresh_keys(secrets_in(tmp_path))
    keep_secrets(tmp_path, fresh)
    assert with_fresh_keys(secrets_in(tmp_path)) == fresh  # no third key
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
        assert rekey(tmp_path) == 1
    assert secrets_in(tmp_path) == fresh
    assert asyncio.run(read(tmp_path, fresh, blobs))


def test_a_service_that_runs_keeps_its_keys(tmp_path: Path) -> None:
    known = secrets_in(tmp_path)
    with (tmp_path / "supervisor.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="stop it first"):
            rekey(tmp_path)
    assert secrets_in(tmp_path) == known
    with pytest.raises(SystemExit, match="no data folder"):
        rekey(tmp_path / "elsewhere")
