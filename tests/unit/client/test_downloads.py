"""Records appear under their name only whole, and only with the digest that was announced."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pratique import DigestMismatch, LocalFault, Refused
from pratique.download import announced_sha256
from tests.unit.client.scripted import Pieces, Scripted, file_answer, problem, repr_digest

CONTENT = b"PAR1" + bytes(5000) + b"PAR1"


def test_a_download_with_the_announced_digest_is_kept(tmp_path: Path) -> None:
    target, steps = tmp_path / "r.parquet", list[tuple[int, int]]()
    service = Scripted(file_answer(CONTENT))
    with service.client() as client:
        kept = client.download_records("rel_01", target, progress=lambda *step: steps.append(step))
    assert target.read_bytes() == CONTENT
    assert (kept.path, kept.size, kept.sha256) == (target, len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_a_digest_mismatch_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    service = Scripted(file_answer(CONTENT[:-1] + b"2", announced=CONTENT))
    with service.client() as client, pytest.raises(DigestMismatch):
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_download_leaves_the_file_of_yesterday_alone(tmp_path: Path) -> None:
    target = tmp_path / "r.parquet"
    target.write_bytes(b"yesterday")
    service = Scripted(file_answer(CONTENT, announced=b"other"))
    with service.client() as client, pytest.raises(DigestMismatch):
        client.download_records("rel_01", target)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"r.parquet": b"yesterday"}


@pytest.mark.parametrize("header", [None, "", "sha-512=:AAAA:", "sha-256=:AAAA:", "sha-256=:====:", "xsha-256=:AAAA:"])
def test_an_answer_without_a_sha256_is_refused(header: str | None) -> None:
    with pytest.raises(DigestMismatch) as caught:
        announced_sha256(header)
    assert caught.value.code == "digest-missing"


def test_the_sha256_is_found_among_other_digests() -> None:
    header = f"unixsum=:AAAA:, {repr_digest(CONTENT)}, sha-512=:AAAA:"
    assert announced_sha256(header) == hashlib.sha256(CONTENT).digest()


def test_a_download_that_breaks_off_is_begun_anew(tmp_path: Path) -> None:
    def half() -> Iterator[bytes]:
        yield CONTENT[:2000]
        raise httpx.ReadError("gone")

    broken = httpx.Response(200, content=half(), headers={"Repr-Digest": repr_digest(CONTENT)})
    service = Scripted(broken, file_answer(CONTENT))
    with service.client() as client:
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert (tmp_path / "r.parquet").read_bytes() == CONTENT
    assert len(list(tmp_path.iterdir())) == 1


def test_a_gate_that_did_not_pass_gives_no_file(tmp_path: Path) -> None:
    service = Scripted(problem(403, "gate-failed"))
    with service.client() as client, pytest.raises(Refused) as caught:
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert caught.value.code == "gate-failed"
    assert list(tmp_path.iterdir()) == []


def test_the_format_is_asked_for_and_the_bytes_travel_as_they_were_announced(tmp_path: Path) -> None:
    service = Scripted(file_answer(b"a\n1\n"))
    with service.client() as client:
        client.download_records("rel_01", tmp_path / "r.csv", "csv")
    request = service.asked[0]
    assert (request.url.path, request.url.params["format"]) == ("/releases/rel_01/records", "csv")
    assert (request.headers["Accept"], request.headers["Accept-Encoding"]) == ("text/csv", "identity")


def test_an_unknown_format_is_not_asked_for(tmp_path: Path) -> None:
    service = Scripted()
    with service.client() as client, pytest.raises(LocalFault):
        client.download_records("rel_01", tmp_path / "r.xlsx", "xlsx")
    assert service.asked == []


def broken(after: int, **headers: str) -> httpx.Response:
    sent = {"Repr-Digest": repr_digest(CONTENT), "Content-Length": str(len(CONTENT)), **headers}
    return httpx.Response(200, stream=Pieces(CONTENT[:after], httpx.ReadError("gone")), headers=sent)


def rest(first: int, content: bytes = CONTENT) -> httpx.Response:
    sent = {
        "Repr-Digest": repr_digest(CONTENT),
        "Content-Range": f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}",
        "Content-Length": str(len(CONTENT) - first),
    }
    return httpx.Response(206, stream=Pieces(content[first:]), headers=sent)


RANGES = {"Accept-Ranges": "bytes", "ETag": '"v1"'}


def test_a_download_goes_on_where_it_broke_off_if_the_service_gives_ranges(tmp_path: Path) -> None:
    service = Scripted(broken(2000, **RANGES), broken(0), rest(2000))
    service.turns[1] = httpx.ConnectError("refused")
    with service.client() as client:
        kept = client.download_records("rel_01", tmp_path / "r.parquet")
    assert (kept.path.read_bytes(), kept.size) == (CONTENT, len(CONTENT))
    asked = [(request.headers.get("Range"), request.headers.get("If-Range")) for request in service.asked]
    assert asked == [(None, None), ("bytes=2000-", '"v1"'), ("bytes=2000-", '"v1"')]


def test_a_file_that_changed_meanwhile_comes_whole(tmp_path: Path) -> None:
    service = Scripted(broken(2000, **RANGES), file_answer(b"other", ETag='"v2"'))
    with service.client() as client:
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert (tmp_path / "r.parquet").read_bytes() == b"other"


@pytest.mark.parametrize("headers", [{}, {"Accept-Ranges": "none", "ETag": '"v1"'}, {**RANGES, "ETag": 'W/"v1"'}])
def test_without_ranges_or_a_strong_tag_a_download_begins_anew(tmp_path: Path, headers: dict[str, str]) -> None:
    service = Scripted(broken(2000, **headers), file_answer(CONTENT))
    with service.client() as client:
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert "Range" not in service.asked[1].headers
    assert (tmp_path / "r.parquet").read_bytes() == CONTENT


@pytest.mark.parametrize("wrong", [rest(1999), rest(2000, b"x" * len(CONTENT)), httpx.Response(206, content=b"x")])
def test_a_rest_that_does_not_fit_leaves_no_file(tmp_path: Path, wrong: httpx.Response) -> None:
    with Scripted(broken(2000, **RANGES), wrong).client() as client, pytest.raises(DigestMismatch):
        client.download_records("rel_01", tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_another_file_than_the_posture_names_is_not_begun(tmp_path: Path) -> None:
    with Scripted(file_answer(CONTENT)).client() as client, pytest.raises(DigestMismatch):
        client.download_records("rel_01", tmp_path / "r.parquet", expect="00" * 32)
    assert list(tmp_path.iterdir()) == []
