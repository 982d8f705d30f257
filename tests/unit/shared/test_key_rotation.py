"""A room's storage key is changed while its blobs stay as they are; what was shredded stays shredded."""

import asyncio
import ctypes
import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pratique_shared.contracts.facts import KEY_SUFFIX, Blob
from pratique_shared.contracts.problems import Unavailable
from pratique_shared.runtime.artifacts import Rewrapped, Room, open_room
from pratique_shared.runtime.exchange import exchange
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey
from pratique_shared.runtime.settings import Settings
from tests.support.s3 import Bucket

OLD, NEW = b"o" * 32, b"n" * 32


def room_under(url: str, *ring: bytes) -> Room:
    return open_room(url, "releases", StorageKey.of(b"".join(ring)))


@pytest.fixture(params=["disk", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return tmp_path.as_uri()
    bucket: Bucket = request.getfixturevalue("bucket")
    return bucket.url


async def test_after_a_rewrapping_the_new_key_alone_reads_everything_and_no_blob_was_written(url: str) -> None:
    before, both, after = room_under(url, OLD), room_under(url, NEW, OLD), room_under(url, NEW)
    blobs = [await before.put_bytes(f"blobs/rel_{number}/x", bytes([number]) * 10) for number in range(3)]
    late = await both.put_bytes("blobs/rel_9/x", b"late")
    sealed = {blob.key: await before.read(blob.key) for blob in blobs}
    for blob in blobs:
        assert await both.blob_bytes(blob)
        with pytest.raises(BrokenSeal):
            await after.blob_bytes(blob)
    with pytest.raises(BrokenSeal):
        await before.blob_bytes(late)

    assert await both.rewrap() == Rewrapped(4, 3, 0)
    assert await both.rewrap() == Rewrapped(4, 0, 0)
    for blob in (*blobs, late):
        assert await after.blob_bytes(blob)
        with pytest.raises(BrokenSeal):
            await before.blob_bytes(blob)
    assert {blob.key: await after.read(blob.key) for blob in blobs} == sealed


async def test_a_key_that_was_wrapped_anew_is_open_to_the_same_users_as_before(tmp_path: Path) -> None:
    before, both = room_under(tmp_path.as_uri(), OLD), room_under(tmp_path.as_uri(), NEW, OLD)
    blob = await before.put_bytes("blobs/cap_1/raw", b"x")
    path = tmp_path / "releases" / f"{blob.key}{KEY_SUFFIX}"
    path.chmod(0o660)  # as in a container, where the group of the room reads it
    assert await both.rewrap() == Rewrapped(1, 1, 0)
    assert path.stat().st_mode & 0o777 == 0o660


async def test_what_was_shredded_between_the_look_and_the_writing_is_not_brought_back(url: str) -> None:
    before, both = room_under(url, OLD), room_under(url, NEW, OLD)
    blob = await before.put_bytes("blobs/rel_1/x", b"secret")
    name = f"{blob.key}{KEY_SUFFIX}"
    wrapped = await both.read(name)
    assert wrapped is not None
    await before.shred(blob)
    assert not await both.replace(name, wrapped, b"anything")
    assert await both.names("") == []
    await both.create(name, b"another")
    assert not await both.replace(name, wrapped, b"anything")
    assert await both.read(name) == b"another"


async def test_many_shreds_beside_a_rewrapping_leave_no_key(tmp_path: Path) -> None:
    before, both = room_under(tmp_path.as_uri(), OLD), room_under(tmp_path.as_uri(), NEW, OLD)
    blobs = [await before.put_bytes(f"blobs/rel_{number}/x", b"x") for number in range(40)]
    rewrapping = asyncio.create_task(both.rewrap())
    await asyncio.gather(*(before.shred(blob) for blob in blobs))
    assert (await rewrapping).broken == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_what_opens_under_no_key_is_counted_and_left(tmp_path: Path) -> None:
    url = tmp_path.as_uri()
    blob = await room_under(url, b"x" * 32).put_bytes("blobs/rel_1/x", b"x")
    assert await room_under(url, NEW, OLD).rewrap() == Rewrapped(1, 0, 1)
    assert await room_under(url, b"x" * 32).blob_bytes(blob) == b"x"


async def test_a_rewrapping_that_is_killed_leaves_everything_readable_and_goes_on(tmp_path: Path) -> None:
    before, both = room_under(tmp_path.as_uri(), OLD), room_under(tmp_path.as_uri(), NEW, OLD)
    blobs = [await before.put_bytes(f"blobs/rel_{number}/x", b"x") for number in range(200)]
    program = textwrap.dedent(
        f"""
        import asyncio
        from pratique_shared.runtime.artifacts import open_room
        from pratique_shared.runtime.sealing import StorageKey
        asyncio.run(open_room({tmp_path.as_uri()!r}, "releases", StorageKey.of({NEW + OLD!r})).rewrap())
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    first = tmp_path / "releases" / f"{blobs[0].key}{KEY_SUFFIX}"
    began, until = first.read_bytes(), time.monotonic() + 30
    while first.read_bytes() == began:
        assert time.monotonic() < until
        await asyncio.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for blob in blobs:
        assert await both.blob_bytes(blob) == b"x"
    rest = await both.rewrap()
    assert (rest.found, rest.broken) == (len(blobs), 0)
    assert rest.changed < len(blobs)
    for blob in blobs:
        assert await room_under(tmp_path.as_uri(), NEW).blob_bytes(blob) == b"x"


def test_a_key_that_was_wrapped_before_there_were_several_names_none_and_is_read() -> None:
    ring = StorageKey.of(NEW + OLD)
    wrapped = json.loads(StorageKey(OLD).wrap(b"d" * 32, "blob"))
    del wrapped["key"]
    old_form = json.dumps(wrapped).encode()
    assert ring.unwrap(old_form, "blob") == b"d" * 32
    fresh = ring.rewrapped(old_form, "blob")
    assert fresh is not None
    assert StorageKey(NEW).unwrap(fresh, "blob") == b"d" * 32
    assert ring.rewrapped(fresh, "blob") is None
    for other_name in (old_form, fresh):
        with pytest.raises(BrokenSeal):
            ring.unwrap(other_name, "other")
    for secret in (OLD, NEW):
        assert secret.hex() not in fresh.decode() + repr(ring)


def test_a_file_system_that_cannot_exchange_names_says_so_and_keeps_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        def renameat2(self, *_: object) -> int:
            ctypes.set_errno(22)
            return -1

    path = tmp_path / "x.key"
    path.write_bytes(b"old")
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Refusing())
    with pytest.raises(Unavailable):
        exchange(path, b"old", b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("between", [" ", "\n", ", "])
def test_a_setting_holds_one_key_or_several_the_first_of_which_wraps(
    between: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRATIQUE_KEY_RELEASES", between.join((NEW.hex(), OLD.hex())) + "\n")
    monkeypatch.setenv("PRATIQUE_DATA", str(tmp_path))
    blob = asyncio.run(Settings().room("releases").put_bytes("blobs/rel_1/x", b"x"))
    assert asyncio.run(room_under((tmp_path / "store").as_uri(), NEW).blob_bytes(blob)) == b"x"


@pytest.mark.parametrize("wrong", ["", "11" * 31, "11" * 64, "11" * 32 + " 22", f"{'11' * 32} {'11' * 32}", "zz" * 32])
def test_what_is_no_key_stops_the_start_and_is_not_told(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRATIQUE_KEY_RELEASES", wrong)
    with pytest.raises(ValueError, match="key_releases") as refused:
        Settings()
    assert wrong == "" or wrong not in str(refused.value)


def test_the_named_blob_of_a_fact_stays_the_same() -> None:
    assert set(Blob.model_fields) == {"key", "sha256", "bytes"}  # a new wrapping is no new fact
