"""Records come once, are asked for again every time, and are used only undamaged and still allowed."""

import hashlib
from pathlib import Path

import httpx
import pytest

from pratique import Refused, Unreachable
from pratique.cache import cache_folder
from tests.unit.client.scripted import Pieces, Scripted, file_answer, problem

CONTENT = b"PAR1" + bytes(5000) + b"PAR1"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def answer() -> httpx.Response:
    return file_answer(CONTENT, ETag='"v1"')


def test_records_come_once_and_are_revalidated_by_their_tag(tmp_path: Path) -> None:
    service = Scripted(answer(), httpx.Response(304, stream=Pieces()))
    with service.client() as client:
        first, second = (client.cached_records("rel_01", folder=tmp_path) for _ in range(2))
    assert first == second
    assert (first.path.name, first.path.read_bytes()) == (DIGEST, CONTENT)
    assert [request.headers.get("If-None-Match") for request in service.asked] == [None, '"v1"']


def test_a_copy_whose_bytes_were_altered_is_received_anew(tmp_path: Path) -> None:
    service = Scripted(answer(), answer())
    with service.client() as client:
        kept = client.cached_records("rel_01", folder=tmp_path)
        kept.path.write_bytes(CONTENT[:-1] + b"2")
        assert client.cached_records("rel_01", folder=tmp_path).path.read_bytes() == CONTENT
    assert "If-None-Match" not in service.asked[1].headers


def test_an_entry_that_points_at_another_file_gives_the_file_of_the_service(tmp_path: Path) -> None:
    forged = b"PAR1 forged PAR1"
    unchanged = httpx.Response(304, headers={"Repr-Digest": answer().headers["Repr-Digest"]}, stream=Pieces())
    service = Scripted(answer(), unchanged, answer())
    with service.client() as client:
        kept = client.cached_records("rel_01", folder=tmp_path)
        other = kept.path.with_name(hashlib.sha256(forged).hexdigest())
        other.write_bytes(forged)
        (entry,) = (tmp_path / "requests").iterdir()
        entry.write_text(entry.read_text().replace(DIGEST, other.name))
        again = client.cached_records("rel_01", folder=tmp_path)
    assert (again.sha256, again.path.read_bytes()) == (DIGEST, CONTENT)
    assert not other.exists()
    assert [request.headers.get("If-None-Match") for request in service.asked] == [None, '"v1"', None]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{}",
        "[1]",
        '{"etag": "x", "sha256": "../../etc/passwd", "size": 1}',
        f'{{"etag": 5, "sha256": "{DIGEST}", "size": 1}}',
        f'{{"etag": "a\\nb", "sha256": "{DIGEST}", "size": 1}}',
        f'{{"etag": "x", "sha256": "{DIGEST}", "size": null}}',
    ],
)
def test_a_damaged_entry_is_no_entry(tmp_path: Path, damage: str) -> None:
    service = Scripted(answer(), answer())
    with service.client() as client:
        client.cached_records("rel_01", folder=tmp_path)
        (entry,) = (tmp_path / "requests").iterdir()
        entry.write_text(damage)
        assert client.cached_records("rel_01", folder=tmp_path).sha256 == DIGEST


@pytest.mark.parametrize("status", [403, 404, 410])
def test_what_may_not_be_had_any_more_leaves_the_cache(tmp_path: Path, status: int) -> None:
    service = Scripted(answer(), problem(status, "no"))
    with service.client() as client:
        kept = client.cached_records("rel_01", folder=tmp_path)
        with pytest.raises(Refused):
            client.cached_records("rel_01", folder=tmp_path)
    assert not kept.path.exists()
    assert list((tmp_path / "requests").iterdir()) == []


def test_without_the_service_the_cache_gives_nothing(tmp_path: Path) -> None:
    service = Scripted(answer(), *(httpx.ConnectError("refused") for _ in range(5)))
    with service.client() as client:
        kept = client.cached_records("rel_01", folder=tmp_path)
        with pytest.raises(Unreachable):
            client.cached_records("rel_01", folder=tmp_path)
    assert kept.path.exists()


def test_another_format_or_service_is_another_entry_and_equal_bytes_are_one_file(tmp_path: Path) -> None:
    service = Scripted(answer(), answer())
    with service.client() as client:
        client.cached_records("rel_01", folder=tmp_path)
        client.cached_records("rel_01", "csv", folder=tmp_path)
    assert len(list((tmp_path / "requests").iterdir())) == 2
    assert [path.name for path in (tmp_path / "sha256").iterdir()] == [DIGEST]
    assert (tmp_path / "sha256").stat().st_mode & 0o077 == 0


def test_the_folder_is_the_one_named_or_the_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/people/me")
    assert cache_folder({"PRATIQUE_CACHE": "/big/cache", "XDG_CACHE_HOME": "/x"}) == Path("/big/cache")
    assert cache_folder({"XDG_CACHE_HOME": "/x"}, "linux") == Path("/x/pratique")
    assert cache_folder({"XDG_CACHE_HOME": "relative"}, "linux") == Path("/people/me/.cache/pratique")
    assert cache_folder({}, "darwin") == Path("/people/me/Library/Caches/pratique")
    assert cache_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/pratique/Cache")
