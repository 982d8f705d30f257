"""What was deleted cannot be read any more, by whoever copied its sealed bytes before and has the whole store after."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest_asyncio

from pratique_shared.contracts.facts import KEY_SUFFIX, Blob
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.sealing import BrokenSeal, Opener
from tests.unit.privacy.http.world import PCAP, RELEASE, STORAGE_KEY, World, build_world

ROOMS = ("captures", "releases", "matrices")


@dataclass
class Copied:
    """A world with a capture, a dataset and a release, and a copy of its sealed bytes without their keys."""

    world: World
    client: httpx.AsyncClient
    things: dict[str, str]
    copy: Path

    def sealed(self, thing: str) -> list[Path]:
        """The copied blobs of a thing."""
        return [path for path in self.copy.rglob("*") if path.is_file() and thing in path.parts]


@pytest_asyncio.fixture
async def copied(tmp_path: Path) -> AsyncIterator[Copied]:
    world = build_world(tmp_path / "store")
    client = await world.client("admin")
    capture = (await client.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    table = await client.post("/datasets", content=b"a\n1\n", headers={"Content-Type": "text/csv"})
    release = (await client.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    things = {
        f"/captures/{capture}": capture,
        f"/datasets/{table.json()['id']}": table.json()["id"],
        f"/releases/{release}": release,
    }
    for room in ROOMS:
        folder = world.folder / room / "blobs"
        shutil.copytree(folder, tmp_path / "copy" / room / "blobs", ignore=shutil.ignore_patterns(f"*{KEY_SUFFIX}"))
    yield Copied(world, client, things, tmp_path / "copy")
    await client.aclose()


def data_keys(store: Path) -> list[bytes]:
    """Every data key that the storage key opens, wherever its object lies."""
    found = []
    for path in store.rglob(f"*{KEY_SUFFIX}"):
        room = next(parent for parent in path.parents if parent.name in ROOMS)
        name = path.relative_to(room).as_posix().removesuffix(KEY_SUFFIX)
        found.append(STORAGE_KEY.unwrap(path.read_bytes(), name))
    return found


def opened(sealed: bytes, keys: list[bytes]) -> bool:
    """Whether one of the keys opens these bytes."""
    for key in keys:
        opener = Opener(key)
        try:
            b"".join(opener.update(sealed))
            opener.finish()
        except BrokenSeal:
            continue
        return True
    return False


async def test_a_copy_of_sealed_bytes_is_worth_nothing_after_the_deletion(copied: Copied) -> None:
    store = copied.world.folder
    before = data_keys(store)
    for place, thing in copied.things.items():
        sealed = copied.sealed(thing)
        assert sealed, place
        assert all(opened(path.read_bytes(), before) for path in sealed), place  # the search finds what is there

        assert (await copied.client.delete(place)).status_code == 204
        after = data_keys(store)
        assert not any(opened(path.read_bytes(), after) for path in sealed), place
    assert data_keys(store) == []


async def test_sealed_bytes_that_are_put_back_are_not_read(copied: Copied) -> None:
    for place in copied.things:
        assert (await copied.client.delete(place)).status_code == 204
    shutil.copytree(copied.copy, copied.world.folder, dirs_exist_ok=True)
    tried = 0
    for room_name in ROOMS:
        room = open_room(copied.world.folder.as_uri(), room_name, STORAGE_KEY)  # type: ignore[arg-type]
        for key in await room.names("blobs"):
            tried += 1
            try:
                data = await room.blob_bytes(Blob(key=key, sha256="", bytes=0))
            except BrokenSeal:
                continue
            raise AssertionError(f"{key} was read: {len(data)} bytes")
    assert tried >= len(copied.things)
