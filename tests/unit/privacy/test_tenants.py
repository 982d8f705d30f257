"""Tenants: made by the operator of the house with a command, each with its first admin key."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import pytest

from pratique_local.supervisor import plan
from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import breaks
from pratique_privacy.main import archive_of, first_key, key_room_of, main
from pratique_privacy.settings import PrivacySettings
from pratique_shared.runtime.settings import read_environment


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder as `make run` lays it out, and its environment."""
    for name, value in plan(tmp_path, 0, {}).programs[1].environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> str:
    """What the command prints."""
    for name, value in plan(data, 0, {}).programs[1].environment.items():
        monkeypatch.setenv(name, value)  # the command takes its secrets out of the environment
    monkeypatch.setattr(sys, "argv", ["pratique_privacy", "tenant", *words])
    capsys.readouterr()
    main()
    return capsys.readouterr().out.strip()


def test_a_tenant_is_made_with_an_admin_key_of_its_own(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = read_environment(PrivacySettings)
    key = said(monkeypatch, capsys, data, "add", "harbour")
    assert said(monkeypatch, capsys, data, "list") == "harbour"
    another = said(monkeypatch, capsys, data, "admin-key", "harbour")
    keys = key_room_of(settings)
    for text in (key, another):
        caller = asyncio.run(keys.caller(text))
        assert (caller.tenant, caller.role, caller.scopes) == ("harbour", "admin", None)
    assert key != another
    entries = asyncio.run(AuditLog(archive_of(settings).releases_room).every("harbour"))
    told = Counter((entry.phase, entry.role, entry.operation) for entry in entries if entry.phase != "opened")
    assert told == {("asked", "house", "addAdminKey"): 2, ("answered", "house", "addAdminKey"): 2}
    assert breaks(entries) == []
    assert key.partition(".")[2] not in "".join(entry.model_dump_json() for entry in entries)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", "operator"], "there is such a tenant already"),
        (["add", "../operator"], "lower-case letters"),
        (["add", ""], "lower-case letters"),
        (["add", "A" * 64], "lower-case letters"),
        (["admin-key", "harbour"], "no such tenant"),
        (["remove", "operator"], "say what to do"),
        ([], "say what to do"),
    ],
)
def test_what_cannot_be_done_is_said(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    settings = read_environment(PrivacySettings)
    asyncio.run(first_key(settings, key_room_of(settings)))
    with pytest.raises(SystemExit, match=told):
        said(monkeypatch, capsys, data, *words)
    assert asyncio.run(key_room_of(settings).tenants()) == ["operator"]
