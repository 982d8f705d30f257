"""Rooms of the store on a real disk: facts once, blobs sealed."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path

import pytest

from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.artifacts import Room, open_room
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey

KEY = StorageKey(b"k" * 32)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return open_room(tmp_path.as_uri(), "releases", KEY)


async def test_of_sixteen_writers_of_a_fact_one_wins_and_its_bytes_stay(room: Room) -> None:
    won = await asyncio.gather(*(room.create("facts/x", str(writer).encode()) for writer in range(16)))
    assert sum(won) == 1
    assert await room.read("facts/x") == str(won.index(True)).encode()


async def test_what_is_not_there_reads_as_none_and_lists_as_nothing(room: Room) -> None:
    assert await room.read("facts/none") is None
    assert await room.names("facts/none") == []
    await room.delete("facts/none")


async def test_names_are_sorted_and_stay_below_their_folder(room: Room) -> None:
    for key in ("a/2", "a/1", "ab/3", "a/b/4"):
        await room.create(key, b"{}")
    assert await room.names("a") == ["a/1", "a/2", "a/b/4"]
    assert await room.folders("") == ["a", "ab"]


async def test_a_key_cannot_climb_out_of_its_room(room: Room, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="illegal"):
        await room.create("../outside", b"{}")
    assert not (tmp_path / "outside").exists()


async def test_no_plain_byte_of_a_blob_is_on_the_disk(room: Room, tmp_path: Path) -> None:
    blob = await room.put_bytes("blobs/x", b"imsi 001010000000001")
    assert await room.blob_bytes(blob) == b"imsi 001010000000001"
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"001010000000001" not in on_disk


async def test_a_flipped_bit_on_the_disk_is_never_served(room: Room, tmp_path: Path) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    path = tmp_path / "releases" / "blobs" / "x"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(BrokenSeal):
        await room.blob_bytes(blob)


async def test_a_blob_that_is_another_than_its_fact_names_is_never_served(room: Room) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    lied = Blob(key=blob.key, sha256="0" * 64, bytes=blob.bytes)
    with pytest.raises(BrokenSeal):
        await room.blob_bytes(lied)


async def test_a_shredded_blob_is_gone_even_where_its_sealed_bytes_were_copied(room: Room, tmp_path: Path) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    path = tmp_path / "releases" / "blobs" / "x"
    copy = path.read_bytes()
    await room.shred(blob)
    path.write_bytes(copy)
    with pytest.raises(BrokenSeal):
        await room.blob_bytes(blob)


async def test_a_room_is_closed_to_the_key_of_another(room: Room, tmp_path: Path) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    other = open_room(tmp_path.as_uri(), "releases", StorageKey(b"o" * 32))
    with pytest.raises(BrokenSeal):
        await other.blob_bytes(blob)


async def test_a_stream_that_breaks_off_leaves_neither_bytes_nor_key(room: Room) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"the first piece"
        raise ConnectionResetError

    with pytest.raises((ConnectionResetError, Problem)):
        await room.put_blob("blobs/x", broken())
    assert await room.names("blobs") == []


async def test_drafts_that_no_fact_came_to_name_are_gone(room: Room) -> None:
    async with room.drafts() as kept:
        blob = await kept.put("blobs/kept", b"1")
        kept.keep()
    async with room.drafts() as left:
        await left.put("blobs/left", b"2")
    async with room.drafts() as late:
        await late.put("blobs/late", b"3")
        late.keep()
        late.drop()  # another fact came first
    assert await room.names("blobs") == ["blobs/kept", "blobs/kept.key"]
    assert await room.blob_bytes(blob) == b"1"


async def test_a_writer_that_is_cut_off_while_it_writes_the_fact_leaves_what_the_fact_may_name(room: Room) -> None:
    written: list[Blob] = []

    async def write() -> None:
        async with room.drafts() as drafts:
            written.append(await drafts.put("blobs/x", b"1"))
            drafts.keep()
            await room.create("facts/x", b"{}")
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await write()
    assert await room.blob_bytes(written[0]) == b"1"


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def test_no_flipped_bit_of_a_fact_on_the_disk_is_taken_for_what_was_written(room: Room, tmp_path: Path) -> None:
    written = b'{"k": 3}'
    await room.create("facts/rel_1/outcome", written)
    path = tmp_path / "releases" / "facts" / "rel_1" / "outcome"
    whole = path.read_bytes()
    taken = set()
    for place in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        with suppress(BrokenSeal):
            taken.add(await room.read("facts/rel_1/outcome"))
    # Where the mark before the digest is damaged both stay with the bytes, which are no JSON then.
    assert taken
    assert not [found for found in taken if found is None or _is_json(found)]
    path.write_bytes(whole)
    assert await room.read("facts/rel_1/outcome") == written


async def test_a_fact_from_before_there_were_digests_is_read(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "releases" / "facts" / "rel_1" / "outcome"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"k": 3}')
    assert await room.read("facts/rel_1/outcome") == b'{"k": 3}'


async def test_what_is_written_is_flushed_with_every_folder_that_leads_to_it(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []

    def seen(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().relative_to(tmp_path / "releases").as_posix())

    monkeypatch.setattr(os, "fsync", seen)

    async def flushed_by(writing: Awaitable[object]) -> list[str]:
        flushed.clear()
        await writing
        return list(flushed)

    # A file, the folder that names it, and what names a folder that is new.
    assert await flushed_by(room.create("facts/one/requested", b"1")) == [
        "facts/one/requested",
        "facts/one",
        "facts",
        ".",
    ]
    assert await flushed_by(room.create("facts/one/outcome", b"1")) == ["facts/one/outcome", "facts/one"]
    assert await flushed_by(room.create("facts/one/outcome", b"2")) == ["facts/one/outcome", "facts/one"]
    assert await flushed_by(room.create("facts/two/requested", b"1")) == ["facts/two/requested", "facts/two", "facts"]
    assert await flushed_by(room.put_bytes("facts/two/blob", b"1")) == [
        "facts/two/blob.key",
        "facts/two/blob",
        "facts/two",
    ]
    assert await flushed_by(room.delete("facts/one/outcome")) == ["facts/one"]
