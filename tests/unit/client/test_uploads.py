"""A file is sent in pieces, as it was when it was measured."""

import hashlib
import tracemalloc
from pathlib import Path

import httpx
import pytest

from pratique import Client, LocalFault
from pratique.upload import PIECE, measure
from tests.unit.client.scripted import URL, Scripted, repr_digest


class Sink(httpx.BaseTransport):
    """Takes a body piece by piece and keeps its digest alone."""

    def __init__(self) -> None:
        self.largest = self.total = 0
        self.digest = hashlib.sha256()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.SyncByteStream)
        for piece in request.stream:
            self.largest = max(self.largest, len(piece))
            self.total += len(piece)
            self.digest.update(piece)
        return httpx.Response(202, json={"id": "cap_01"})


def test_a_capture_is_never_whole_in_memory(tmp_path: Path) -> None:
    file, sink = tmp_path / "large.pcap", Sink()
    with file.open("wb") as stream:
        stream.write(b"\xd4\xc3\xb2\xa1")
        stream.truncate(48 * PIECE + 5)
    tracemalloc.start()
    with Client(URL, "key", transport=sink, environ={}) as client:
        client.push_capture(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (sink.total, sink.largest) == (48 * PIECE + 5, PIECE)
    assert sink.digest.digest() == measure(file).sha256
    assert peak < 8 * PIECE


def test_length_digest_and_labels_travel_with_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "night.pcap"
    file.write_bytes(b"content")
    service = Scripted(httpx.Response(202, json={"id": "cap_01"}))
    steps: list[tuple[int, int]] = []
    with service.client() as client:
        client.push_capture(
            file, name="night shift", pilot="lab", open_to=["a", "b"], progress=lambda *s: steps.append(s)
        )
    request = service.asked[0]
    assert request.headers["Content-Length"] == "7"
    assert "Transfer-Encoding" not in request.headers
    assert request.headers["Repr-Digest"] == repr_digest(b"content")
    assert request.headers["Authorization"] == "Bearer key"
    assert list(request.url.params.multi_items()) == [
        ("name", "night shift"),
        ("pilot", "lab"),
        ("open_to", "a"),
        ("open_to", "b"),
    ]
    assert steps == [(7, 7)]


def test_what_is_appended_to_a_capture_while_it_is_sent_stays_out(tmp_path: Path) -> None:
    file = tmp_path / "growing.pcap"
    file.write_bytes(b"before")
    upload = measure(file)
    with file.open("ab") as stream:
        stream.write(b" and after")
    assert b"".join(upload.pieces()) == b"before"


def test_a_capture_that_becomes_shorter_is_not_sent_as_if_it_were_whole(tmp_path: Path) -> None:
    file = tmp_path / "shrinking.pcap"
    file.write_bytes(b"before")
    upload = measure(file)
    file.write_bytes(b"be")
    with pytest.raises(LocalFault) as caught:
        list(upload.pieces())
    assert caught.value.code == "file-changed"


def test_a_folder_is_no_capture(tmp_path: Path) -> None:
    with pytest.raises(LocalFault) as caught:
        measure(tmp_path)
    assert caught.value.code == "not-a-file"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.csv", "text/csv"), ("a.NDJSON", "application/x-ndjson"), ("a.jsonl", "application/x-ndjson")],
)
def test_the_ending_of_a_table_tells_its_media_type(tmp_path: Path, name: str, media_type: str) -> None:
    (tmp_path / name).write_bytes(b"a\n1\n")
    service = Scripted(httpx.Response(201, json={"id": "dst_01"}))
    with service.client() as client:
        client.push_dataset(tmp_path / name)
    assert service.asked[0].headers["Content-Type"] == media_type


def test_a_table_of_an_unknown_ending_is_not_sent(tmp_path: Path) -> None:
    service = Scripted()
    with service.client() as client, pytest.raises(LocalFault) as caught:
        client.push_dataset(tmp_path / "a.xlsx")
    assert (caught.value.code, service.asked) == ("unknown-table", [])
