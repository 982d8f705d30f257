"""Sealed blobs: what was written comes back, and nothing else does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_shared.runtime.sealing import CHUNK, MAGIC, TAG, BrokenSeal, Opener, Sealer, StorageKey, new_data_key

KEY = new_data_key()


def seal(data: bytes, piece: int = 1 << 16) -> bytes:
    sealer = Sealer(KEY)
    pieces = [data[start : start + piece] for start in range(0, len(data), piece)]
    return b"".join(map(sealer.update, pieces)) + sealer.finish()


def unseal(sealed: bytes, piece: int = 1 << 16, key: bytes = KEY) -> bytes:
    opener = Opener(key)
    pieces = [sealed[start : start + piece] for start in range(0, len(sealed), piece)]
    return b"".join(plain for part in pieces for plain in opener.update(part)) + opener.finish()


@given(st.binary(max_size=300), st.integers(1, 50), st.integers(1, 50))
@settings(deadline=None, max_examples=40)
def test_whatever_was_sealed_comes_back_however_it_is_cut(data: bytes, written: int, read: int) -> None:
    assert unseal(seal(data, written), read) == data


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7])
def test_sizes_around_a_chunk_come_back(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    assert unseal(seal(data[:size])) == data[:size]


def test_every_flipped_byte_is_noticed() -> None:
    sealed = seal(b"twenty bytes of text")
    for place in range(len(sealed)):
        damaged = bytearray(sealed)
        damaged[place] ^= 1
        with pytest.raises(BrokenSeal):
            unseal(bytes(damaged))


def test_a_blob_cut_at_a_chunk_is_noticed() -> None:
    sealed = seal(bytes(2 * CHUNK + 1))
    with pytest.raises(BrokenSeal):
        unseal(sealed[: len(MAGIC) + CHUNK + TAG])


def test_chunks_that_changed_places_are_noticed() -> None:
    sealed = seal(bytes(CHUNK) + b"\1" * CHUNK + b"end")
    first, second = len(MAGIC), len(MAGIC) + CHUNK + TAG
    swapped = MAGIC + sealed[second : second + CHUNK + TAG] + sealed[first:second] + sealed[second + CHUNK + TAG :]
    with pytest.raises(BrokenSeal):
        unseal(swapped)


def test_a_data_key_opens_only_under_its_storage_key_and_name() -> None:
    ours, other = StorageKey(b"a" * 32), StorageKey(b"b" * 32)
    wrapped = ours.wrap(KEY, "blobs/one")
    assert ours.unwrap(wrapped, "blobs/one") == KEY
    for key, name in ((other, "blobs/one"), (ours, "blobs/two")):
        with pytest.raises(BrokenSeal):
            key.unwrap(wrapped, name)


def test_a_storage_key_does_not_show_itself() -> None:
    assert "aaaa" not in repr(StorageKey(b"a" * 32))
