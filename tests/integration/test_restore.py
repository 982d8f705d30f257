"""The restore rehearsal: a copy of a running store, started elsewhere, serves what was served and verifies."""

import asyncio
import itertools
import json
import shutil
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pratique import Client, Refused
from pratique.verify import verify
from pratique_local.backup import Copied, back_up
from pratique_local.secrets import ROOMS, secrets_in
from pratique_privacy.archive import Archive
from pratique_privacy.orphans.orphanage import Orphanage
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.clock import now
from pratique_shared.runtime.sealing import StorageKey
from tests.assurance.rehearsal import REQUEST
from tests.support.house import House, house


def made(client: Client) -> str:
    identity: str = client.create_release(REQUEST)["id"]
    assert client.wait_release(identity)["verdict"] == "pass"
    return identity


async def swept(data: Path) -> int:
    """Let two days pass over a store and remove its orphans; return how many there were."""
    secrets, days = secrets_in(data), itertools.count()
    keys = {name: StorageKey(bytes.fromhex(secrets.rooms[name])) for name in ROOMS}
    store = (data / "store").as_uri()
    archive = Archive(*(open_room(store, name, keys[name]) for name in ("captures", "releases", "matrices", "scores")))
    later = now() + timedelta(days=2)
    orphanage = Orphanage(archive, lambda: later, lambda: float(next(days) * 86_400))
    return sum([await orphanage.round(), await orphanage.round()])


def test_a_store_that_was_copied_while_it_served_serves_the_same_from_another_folder(
    running: House, tmp_path: Path
) -> None:
    with running.client() as client:
        kept, withdrawn = made(client), made(client)
        writers = [threading.Thread(target=lambda: made(client)) for _ in range(2)]
        for writer in writers:
            writer.start()
        first = back_up(running.data, tmp_path / "backup", tmp_path / "secrets")
        client.withdraw(withdrawn)
        for writer in writers:
            writer.join()
        second = back_up(running.data, tmp_path / "backup", tmp_path / "secrets")
        assert first.files > second.files > 0
        assert second.removed > 0  # the deletion reaches the backup
        before = {key: value for key, value in client.posture(kept).items() if key != "links"}
        client.download_evidence(kept, tmp_path / "before.json")
        keys = client.public_keys()
    started = time.monotonic()
    shutil.copytree(tmp_path / "backup", tmp_path / "restored")
    for secret in (tmp_path / "secrets").iterdir():
        shutil.copy2(secret, tmp_path / "restored")
    print(f"{asyncio.run(swept(tmp_path / 'restored'))} orphans swept")
    with house(tmp_path / "restored") as restored, restored.client() as client:
        print(f"restored and serving after {time.monotonic() - started:.1f} s")
        after = {key: value for key, value in client.posture(kept).items() if key != "links"}
        assert after == before
        records = client.download_records(kept, tmp_path / "records.parquet")
        client.download_evidence(kept, tmp_path / "after.json")
        assert (tmp_path / "after.json").read_bytes() == (tmp_path / "before.json").read_bytes()
        (tmp_path / "keys.json").write_text(json.dumps(keys))
        found = verify(tmp_path / "after.json", tmp_path / "keys.json", [records.path])
        assert records.sha256 in found.certificate.subjects.values() or records.sha256 in found.certificate.subjects
        with pytest.raises(Refused):
            client.posture(withdrawn)
        for release in client.releases():  # the sweep took nothing that a fact names
            if release["verdict"] == "pass":
                client.download_records(release["id"], tmp_path / "any.parquet")
        assert made(client)  # and it goes on: keys, policies and queue are there


def planted(store: Path, *keys: str) -> None:
    for key in keys:
        (store / key).parent.mkdir(parents=True, exist_ok=True)
        (store / key).write_text(key)


def test_a_fact_that_comes_during_the_copy_is_copied_with_its_blob_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "data/store"
    planted(store, "releases/facts/rel_1/requested", "releases/blobs/rel_1/a-table", "releases/blobs/rel_1/b#1")
    copy2: Callable[..., Any] = shutil.copy2

    def while_it_copies(path: Path, to: Path) -> None:
        planted(store, "releases/blobs/rel_2/a-table", "releases/facts/rel_2/measured")  # a writer: blob, then fact
        copy2(path, to)

    monkeypatch.setattr(shutil, "copy2", while_it_copies)
    back_up(tmp_path / "data", tmp_path / "to")
    names = {str(path.relative_to(tmp_path / "to/store")) for path in (tmp_path / "to").rglob("*") if path.is_file()}
    assert "releases/facts/rel_2/measured" not in names  # it came after the facts were listed; the next run has it
    assert {"releases/facts/rel_1/requested", "releases/blobs/rel_1/a-table"} <= names
    assert not [name for name in names if "#" in name]
    monkeypatch.undo()
    assert back_up(tmp_path / "data", tmp_path / "to") == Copied(files=1, bytes=29, removed=0)
    assert back_up(tmp_path / "data", tmp_path / "to") == Copied(files=0, bytes=0, removed=0)
