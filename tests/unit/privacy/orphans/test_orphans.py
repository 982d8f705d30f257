"""Blobs that no fact names go; those that one names, or that are being written, never do."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.archive import Archive
from pratique_privacy.orphans.orphanage import Orphanage
from pratique_privacy.orphans.rule import AGE, PATIENCE, named_in, seen_twice, unnamed
from pratique_shared.contracts.facts import Blob, RecordsResolved, SourceTable
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.clock import now, stamp
from pratique_shared.runtime.sealing import StorageKey

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
KEY = StorageKey(b"k" * 32)
RELEASE = "rel_00000000000000000000000001"
ROOMS = ("captures", "releases", "matrices", "scores")


class Times:
    """A calendar and a monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.calendar, self.monotonic = now(), 0.0

    def pass_by(self, seconds: float) -> None:
        self.calendar += timedelta(seconds=seconds)
        self.monotonic += seconds


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    captures, releases, matrices, scores = (open_room(tmp_path.as_uri(), name, KEY) for name in ROOMS)  # type: ignore[arg-type]
    return Archive(captures, releases, matrices, scores)


def orphanage(archive: Archive, times: Times) -> Orphanage:
    return Orphanage(archive, lambda: times.calendar, lambda: times.monotonic)


def naming(blob: Blob) -> RecordsResolved:
    return RecordsResolved(tables=(SourceTable(origin="inline", pilot=None, blob=blob),), at=stamp())


def test_a_blob_is_named_wherever_in_a_fact_it_stands() -> None:
    fact = b'{"kind":"new","deep":[{"blob":{"key":"blobs/rel_1/a-table"}}],"files":{"csv":{"key":"blobs/rel_1/b-csv"}}}'
    assert named_in([fact, b"{}"]) == {"blobs/rel_1/a-table", "blobs/rel_1/b-csv"}


def test_every_fact_writes_the_key_of_its_blob_as_the_rule_reads_it() -> None:
    blob = Blob(key="blobs/rel_1/0a1b-table", sha256="0" * 64, bytes=1)
    assert named_in([naming(blob).model_dump_json().encode()]) == {blob.key}


def test_a_blob_is_as_old_as_the_newer_of_its_two_objects() -> None:
    old = NOON - AGE - timedelta(seconds=1)
    written = {"blobs/x/a": old, "blobs/x/a.key": old, "blobs/x/b": NOON, "blobs/x/b.key": old, "blobs/x/c.key": old}
    assert unnamed(written, frozenset(), NOON) == {"blobs/x/a", "blobs/x/c"}  # of c the writer died after the data key
    assert unnamed(written, frozenset({"blobs/x/a"}), NOON) == {"blobs/x/c"}


@settings(deadline=None, max_examples=50)
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(-10, 3 * AGE.total_seconds())),
    st.sets(st.sampled_from("abcdef")),
)
def test_whatever_is_named_or_young_is_no_orphan(ages: dict[str, float], named: set[str]) -> None:
    written = {key: NOON - timedelta(seconds=age) for key, age in ages.items()}
    found = unnamed(written, frozenset(named), NOON)
    assert not found & named
    assert all(ages[key] > AGE.total_seconds() - 1 for key in found)


def test_an_orphan_goes_at_the_second_look_and_is_forgotten_when_a_fact_named_it_meanwhile() -> None:
    remembered, ripe = seen_twice({}, frozenset("ab"), 100)
    assert (remembered, ripe) == ({"a": 100, "b": 100}, frozenset())
    remembered, ripe = seen_twice(remembered, frozenset("a"), 100 + PATIENCE)
    assert not remembered
    assert ripe == {"a"}
    remembered, ripe = seen_twice(remembered, frozenset("b"), 101 + PATIENCE)
    assert (remembered, ripe) == ({"b": 101 + PATIENCE}, frozenset())


async def test_what_no_fact_names_is_shredded_after_a_day_and_the_rest_stays(archive: Archive, tmp_path: Path) -> None:
    room, times = archive.releases_room, Times()
    kept = await room.put_bytes(f"blobs/{RELEASE}/1-table", b"named")
    await archive.releases.commit(RELEASE, "records", naming(kept))
    codes = await archive.matrices_room.put_bytes(f"blobs/{RELEASE}/1-codes", b"named by a fact of another room")
    await archive.releases.commit(RELEASE, "measured", naming(codes))
    await room.put_bytes(f"blobs/{RELEASE}/2-table", b"left by a worker that was killed")
    await archive.captures_room.put_bytes("blobs/cap_00000000000000000000000001/raw", b"of an API that was killed")
    house = orphanage(archive, times)
    assert await house.round() == 0
    times.pass_by(AGE.total_seconds() + 60)
    assert await house.round() == 0  # seen for the first time
    times.pass_by(PATIENCE)
    assert await house.round() == 2
    assert await room.names("blobs") == [kept.key, f"{kept.key}.key"]
    assert await archive.matrices_room.blob_bytes(codes) == b"named by a fact of another room"
    assert await archive.captures_room.names("blobs") == []
    assert await house.round() == 0


async def test_a_calendar_that_jumps_ahead_takes_no_blob_from_its_writer(archive: Archive) -> None:
    times = Times()
    house = orphanage(archive, times)
    blob = await archive.releases_room.put_bytes(f"blobs/{RELEASE}/1-table", b"its fact comes in a second")
    times.calendar += timedelta(days=400)
    assert await house.round() == 0
    await archive.releases.commit(RELEASE, "records", naming(blob))
    times.monotonic += 2 * PATIENCE
    assert await house.round() == 0
    assert await archive.releases_room.blob_bytes(blob) == b"its fact comes in a second"


WRITER = """
import asyncio, sys
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.sealing import StorageKey

async def endless():
    while True:
        yield bytes(1 << 20)
        await asyncio.sleep(0.001)

room = open_room(sys.argv[1], "captures", StorageKey(b"k" * 32))
asyncio.run(room.put_blob("blobs/cap_00000000000000000000000001/raw", endless()))
"""


async def test_what_a_writer_that_was_killed_had_half_written_goes_too(archive: Archive, tmp_path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), tmp_path.as_uri()]
    writer = subprocess.Popen(command)
    folder = tmp_path / "captures/blobs/cap_00000000000000000000000001"
    try:
        until = time.monotonic() + 30
        while not any(path.stat().st_size for path in folder.glob("raw#*")):
            assert time.monotonic() < until, "nothing was written"
            time.sleep(0.02)
        times = Times()
        house = orphanage(archive, times)
        times.monotonic += PATIENCE
        assert await house.round() == 0  # it is being written
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    times.pass_by(AGE.total_seconds() + 60)
    assert await house.round() == 1  # the draft; the data key is seen for the first time
    times.pass_by(PATIENCE)
    assert await house.round() == 1
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def turned(data: bytes) -> bytes:
    return data[:3] + bytes([data[3] ^ 1]) + data[4:]


@pytest.mark.parametrize("damage", [turned, lambda data: data[:20], lambda _: b""])
async def test_no_blob_goes_because_a_fact_cannot_be_read_and_other_orphans_do(
    archive: Archive, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    kept = await archive.releases_room.put_bytes(f"blobs/{RELEASE}/1-table", b"named by what cannot be read")
    await archive.releases.commit(RELEASE, "records", naming(kept))
    path = tmp_path / "releases/facts" / RELEASE / "records"
    path.write_bytes(damage(path.read_bytes()))
    orphan = RELEASE[:-1] + "2"
    await archive.releases_room.put_bytes(f"blobs/{orphan}/1-table", b"left by a worker that was killed")
    foreign = await archive.releases_room.put_bytes("blobs/.snapshot/1-table", b"of others")
    times = Times()
    house = orphanage(archive, times)
    times.pass_by(AGE.total_seconds() + 60)
    assert await house.round() == 0
    times.pass_by(PATIENCE)
    assert await house.round() == 1
    assert await archive.releases_room.blob_bytes(kept) == b"named by what cannot be read"
    assert await archive.releases_room.blob_bytes(foreign) == b"of others"
    assert await archive.releases_room.names(f"blobs/{orphan}") == []
