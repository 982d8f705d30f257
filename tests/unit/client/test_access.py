"""Address and key are found in one order, and a key goes to no other host and into no text."""

from pathlib import Path

import pytest

from pratique import Client, LocalFault
from pratique.access import find_access


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder in which a first start has left its admin key."""
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "admin.key").write_text("key-of-data\n")
    (tmp_path / "given.key").write_text("key-of-file\n")
    (tmp_path / "env.key").write_text("key-of-env-file\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_key_is_looked_for_in_one_order(home: Path) -> None:
    environ = {"PRATIQUE_KEY": "key-of-env", "PRATIQUE_KEY_FILE": "env.key"}
    assert find_access(key="key-of-call", key_file="given.key", environ=environ).key == "key-of-call"
    assert find_access(key_file="given.key", environ=environ).key == "key-of-file"
    assert find_access(environ=environ).key == "key-of-env"
    assert find_access(environ={"PRATIQUE_KEY_FILE": "env.key"}).key == "key-of-env-file"
    assert find_access(environ={}).key == "key-of-data"


def test_the_address_is_the_one_given_then_the_environments_then_this_machine(home: Path) -> None:
    environ = {"PRATIQUE_URL": "http://localhost:9000/", "PRATIQUE_KEY": "k"}
    assert find_access(url="https://pratique.example/api/", environ=environ).url == "https://pratique.example/api"
    assert find_access(environ=environ).url == "http://localhost:9000"
    assert find_access(environ={"PRATIQUE_KEY": "k"}).url == "http://127.0.0.1:8080"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://127.8.8.8", "http://[::1]:8080", "http://localhost"])
def test_the_admin_key_of_this_machine_opens_the_service_of_this_machine(home: Path, url: str) -> None:
    assert find_access(url, environ={}).key == "key-of-data"


@pytest.mark.parametrize("url", ["http://10.0.0.1", "https://localhost.example", "http://0.0.0.0", "http://pratique"])
def test_the_admin_key_of_this_machine_goes_to_no_other_host(home: Path, url: str) -> None:
    with pytest.raises(LocalFault) as caught:
        find_access(url, environ={})
    assert caught.value.code == "no-key"


def test_the_data_folder_of_the_service_is_followed(home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "admin.key").write_text("key-of-elsewhere")
    assert find_access(environ={"PRATIQUE_DATA": "elsewhere"}).key == "key-of-elsewhere"


@pytest.mark.parametrize("key", ["two words", "gr\u00fcn", "a\nb", "\x00"])
def test_a_key_that_cannot_be_one_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(LocalFault) as caught:
        find_access(key=key, environ={})
    assert key not in str(caught.value)


def test_a_key_file_that_is_missing_or_no_text_is_named(home: Path) -> None:
    (home / "binary.key").write_bytes(b"\xff\xfe")
    for name, code in (("nowhere.key", "no-key"), ("binary.key", "bad-key")):
        with pytest.raises(LocalFault, match=name) as caught:
            find_access(key_file=name, environ={})
        assert caught.value.code == code


@pytest.mark.parametrize(
    "url",
    ["ftp://host", "127.0.0.1:8080", "http://", "http://user:secret@host", "http://h?key=secret", "http://host:port"],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(LocalFault) as caught:
        find_access(url, key="k", environ={})
    assert caught.value.code == "bad-url"
    assert "secret" not in str(caught.value)


def test_no_repr_shows_the_key() -> None:
    access = find_access(key="canary-key", environ={})
    with Client(key="canary-key", environ={}) as client:
        assert "canary-key" not in repr(access) + repr(client)
