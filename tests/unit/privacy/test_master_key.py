"""The master key is changed while everything below it, and every name that followed from it, stays the same."""

from pathlib import Path

import pytest

from pratique_privacy.keys import KeyRoom
from pratique_privacy.main import rekey
from pratique_privacy.settings import PrivacySettings
from pratique_shared.runtime.artifacts import Rewrapped, open_room
from pratique_shared.runtime.sealing import BrokenSeal, StorageKey

OLD, NEW, STORAGE = b"o" * 32, b"n" * 32, b"s" * 32


def key_room(folder: Path, master: bytes) -> KeyRoom:
    return KeyRoom(open_room(folder.as_uri(), "keys", StorageKey(STORAGE)), master)


async def filled(folder: Path) -> tuple[object, ...]:
    """Put one of each kind under the old key; return what `told` tells of them."""
    keys = key_room(folder, OLD)
    await keys.answers()
    await keys.tenant_keys.add("acme")
    await keys.signing.rotate("acme")
    await keys.keep_secret("webhook/whk_1", b"a secret")
    return await told(keys)


async def told(keys: KeyRoom) -> tuple[object, ...]:
    await keys.answers()
    return (
        [(await keys.tenant_keys.of("acme", epoch)).secret for epoch in (1, 2)],
        (await keys.signing.current("acme")).seed,
        await keys.secret("webhook/whk_1"),
        await keys.subject("https://issuer.example.com", "alice"),
    )


async def test_after_a_rewrapping_the_new_key_alone_gives_the_same_keys_secrets_and_names(tmp_path: Path) -> None:
    known = await filled(tmp_path)
    both = key_room(tmp_path, NEW + OLD)
    assert await told(both) == known
    assert await both.rewrap() == Rewrapped(6, 6, 0)  # 2 tenant keys, a seed, a secret, the naming, a probe
    assert await both.rewrap() == Rewrapped(6, 0, 0)
    assert await told(key_room(tmp_path, NEW)) == known
    with pytest.raises(BrokenSeal):
        await key_room(tmp_path, OLD).answers()


async def test_cut_off_half_way_both_keys_read_everything_and_neither_alone_does(tmp_path: Path) -> None:
    known = await filled(tmp_path)
    both = key_room(tmp_path, NEW + OLD)
    room = both._room
    done = await room.rewrap_each({name: name for name in await room.names("tenants")}, both._master)
    assert done == Rewrapped(2, 2, 0)
    assert await told(key_room(tmp_path, NEW + OLD)) == known
    assert await told(key_room(tmp_path, OLD + NEW)) == known  # a process that was not told yet which is first
    for alone in (OLD, NEW):
        with pytest.raises(BrokenSeal):
            await told(key_room(tmp_path, alone))
    assert await both.rewrap() == Rewrapped(6, 4, 0)
    assert await told(key_room(tmp_path, NEW)) == known


async def test_the_command_names_what_no_key_opens_and_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await filled(tmp_path / "store")
    monkeypatch.setenv("PRATIQUE_DATA", str(tmp_path))
    for name in ("CAPTURES", "RELEASES", "KEYS", "MATRICES", "SCORES"):
        monkeypatch.setenv(f"PRATIQUE_KEY_{name}", STORAGE.hex())
    monkeypatch.setenv("PRATIQUE_MASTER_KEY", NEW.hex())
    with pytest.raises(SystemExit, match="earlier keys back"):
        await rekey(PrivacySettings())
    assert "master: 6 wrapped keys, 0 wrapped anew, 6 that no key opens" in capsys.readouterr().out
    monkeypatch.setenv("PRATIQUE_MASTER_KEY", f"{NEW.hex()} {OLD.hex()}")
    await rekey(PrivacySettings())
    printed = capsys.readouterr().out
    assert "master: 6 wrapped keys, 6 wrapped anew, 0 that no key opens" in printed
    assert NEW.hex() not in printed
