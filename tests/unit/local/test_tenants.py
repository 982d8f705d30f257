"""The tenant command of this machine: the service's own, with the secrets of its data folder."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from pratique_local.secrets import secrets_in
from pratique_local.tenants import tenants


def test_a_folder_that_is_none_of_ours_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is no data folder"):
        tenants(tmp_path, ["add", "harbour"])
    assert list(tmp_path.iterdir()) == []


def test_the_command_is_the_services_own_with_the_secrets_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets, ran = secrets_in(tmp_path), list[tuple[list[str], Mapping[str, str]]]()

    def run(command: list[str], env: Mapping[str, str], check: bool) -> subprocess.CompletedProcess[bytes]:
        assert not check
        ran.append((command, env))
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(subprocess, "run", run)
    assert tenants(tmp_path, ["add", "harbour"]) == 3
    ((command, environment),) = ran
    assert command[1:] == ["-m", "pratique_privacy", "tenant", "add", "harbour"]
    assert environment["PRATIQUE_MASTER_KEY"] == secrets.master
    assert environment["PRATIQUE_DATA"] == str(tmp_path)
