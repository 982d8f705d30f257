"""Rooms on S3: the same promises as on a disk, and credentials that no child inherits."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest

from pratique_shared.contracts.facts import Blob
from pratique_shared.contracts.problems import Unavailable
from pratique_shared.runtime.artifacts import WRITE_PIECE, Room, open_room
from pratique_shared.runtime.clock import now
from pratique_shared.runtime.ledger import Ledger
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey
from pratique_shared.runtime.settings import Settings, read_environment
from tests.support.house import free_port
from tests.support.s3 import Bucket

KEY = StorageKey(b"k" * 32)


@pytest.fixture
def room(bucket: Bucket) -> Room:
    return open_room(bucket.url, "releases", KEY)


async def test_of_sixteen_writers_with_two_clients_one_wins_and_its_bytes_stay(room: Room, bucket: Bucket) -> None:
    other = open_room(bucket.url, "releases", KEY)
    writers = [(room, other)[number % 2].create("facts/x", str(number).encode()) for number in range(16)]
    won = await asyncio.gather(*writers)
    assert sum(won) == 1
    assert await other.read("facts/x") == str(won.index(True)).encode()


async def test_a_numbered_start_is_never_given_twice(room: Room, bucket: Bucket) -> None:
    ledgers = Ledger(room), Ledger(open_room(bucket.url, "releases", KEY))
    given = await asyncio.gather(*(ledgers[n % 2].start("rel_1", "measure") for n in range(6)))
    assert sorted(given) == [1, 2, 3, 4, 5, 6]


async def test_what_is_not_there_reads_as_none_and_lists_as_nothing(room: Room) -> None:
    assert await room.read("facts/none") is None
    assert await room.names("facts/none") == []
    await room.delete("facts/none")


async def test_names_stay_below_their_folder_and_know_when_they_were_written(room: Room) -> None:
    for key in ("a/2", "a/1", "ab/3", "a/b/4"):
        await room.create(key, b"{}")
    assert await room.names("a") == ["a/1", "a/2", "a/b/4"]
    assert await room.folders("") == ["a", "ab"]
    assert all(now() - moment < timedelta(minutes=2) for moment in (await room.written("a")).values())


async def test_a_blob_of_several_parts_comes_back_and_no_plain_byte_of_it_lies_there(
    room: Room, bucket: Bucket
) -> None:
    data = b"imsi 001010000000001 " * (2 * WRITE_PIECE // 21)
    blob = await room.put_bytes("blobs/x", data)
    assert await room.blob_bytes(blob) == data
    assert bucket.listing() == ["releases/blobs/x", "releases/blobs/x.key"]
    bare = open_room(bucket.url, "releases", KEY)
    raw = await bare.read("blobs/x")
    assert raw is not None
    assert b"001010000000001" not in raw


async def test_a_shredded_blob_is_gone(room: Room, bucket: Bucket) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    await room.shred(blob)
    assert bucket.listing() == []
    with pytest.raises(BrokenSeal):
        await room.blob_bytes(blob)


async def test_a_blob_under_the_storage_key_of_another_room_is_closed(room: Room, bucket: Bucket) -> None:
    blob = await room.put_bytes("blobs/x", b"records")
    with pytest.raises(BrokenSeal):
        await open_room(bucket.url, "releases", StorageKey(b"o" * 32)).blob_bytes(blob)
    with pytest.raises(BrokenSeal):
        await room.blob_bytes(Blob(key="blobs/none", sha256="0" * 64, bytes=0))


async def test_drafts_that_no_fact_came_to_name_are_gone(room: Room, bucket: Bucket) -> None:
    async with room.drafts() as left:
        await left.put("blobs/left", b"2")
    assert bucket.listing() == []


async def test_a_store_that_cannot_be_reached_is_an_answer_that_says_so(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    room = open_room(bucket.url, "releases", KEY)
    with pytest.raises(Unavailable, match="store-unavailable"):
        await asyncio.wait_for(room.read("facts/x"), 60)


async def test_credentials_open_a_room_and_are_gone_from_the_environment(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    (tmp_path / "aws_secret_access_key").write_text("as a file\n")
    monkeypatch.setenv("PRATIQUE_SECRETS", str(tmp_path))
    monkeypatch.setenv("PRATIQUE_STORE", bucket.url)
    monkeypatch.setenv("PRATIQUE_KEY_SCORES", "73" * 32)
    settings = read_environment(Settings)
    assert "AWS_ACCESS_KEY_ID" not in os.environ
    assert settings.aws_secret_access_key is not None
    assert settings.aws_secret_access_key.get_secret_value() == "as a file"
    assert "as a file" not in repr(settings)
    assert "an-access-key" not in repr(settings)
    assert await settings.room("scores").create("facts/x", b"{}")
    assert bucket.listing() == ["scores/facts/x"]
