"""Downloads: whole or in part, under one tag and digest; in the form that is asked for; HEAD as GET."""

import base64
import hashlib
from pathlib import Path

import httpx
import pytest

from pratique_privacy.http.app import operations
from pratique_privacy.http.ranges import Beyond, Part, range_asked
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.sealing import CHUNK, BrokenSeal, StorageKey
from tests.unit.privacy.http.world import PCAP, RELEASE, RELEASED_CSV, World, check_problem

SIZE = len(RELEASED_CSV)


def sha256_field(data: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


@pytest.fixture
async def release(world: World, operator: httpx.AsyncClient) -> str:
    identity: str = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(identity)
    return identity


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, None),
        ("bytes=0-9", Part(0, 10, 100)),
        ("bytes=90-", Part(90, 100, 100)),
        ("bytes=90-400", Part(90, 100, 100)),
        ("bytes=-8", Part(92, 100, 100)),
        ("bytes=-400", Part(0, 100, 100)),
        ("Bytes=5-5", Part(5, 6, 100)),
        ("bytes=100-", Beyond(100)),
        ("bytes=100-200", Beyond(100)),
        ("bytes=-0", Beyond(100)),
        # Answered with the whole, as any range may be: several, another unit, what is none.
        ("bytes=0-1,5-6", None),
        ("rows=0-1", None),
        ("bytes=9-0", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=99999999999999999999-", None),
    ],
)
def test_a_range_is_what_rfc_9110_says(header: str | None, found: Part | Beyond | None) -> None:
    assert range_asked(header, None, '"t"', 100) == found


def test_if_range_holds_for_the_same_strong_tag_alone() -> None:
    assert range_asked("bytes=0-1", '"t"', '"t"', 100) == Part(0, 2, 100)
    for other in ('"u"', 'W/"t"', "Sat, 29 Oct 1994 19:43:31 GMT"):
        assert range_asked("bytes=0-1", other, '"t"', 100) is None


async def test_a_part_of_a_file_names_its_place_and_the_whole(operator: httpx.AsyncClient, release: str) -> None:
    path = f"/releases/{release}/records?format=csv"
    whole = await operator.get(path)
    assert whole.headers["accept-ranges"] == "bytes"
    part = await operator.get(path, headers={"Range": "bytes=3-7", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, RELEASED_CSV[3:8])
    assert part.headers["content-range"] == f"bytes 3-7/{SIZE}"
    assert part.headers["etag"] == whole.headers["etag"]
    assert part.headers["repr-digest"] == sha256_field(RELEASED_CSV)
    assert part.headers["content-digest"] == sha256_field(RELEASED_CSV[3:8])
    beyond = await operator.get(path, headers={"Range": f"bytes={SIZE}-"})
    check_problem(beyond, 416, "range-not-satisfiable")
    assert beyond.headers["content-range"] == f"bytes */{SIZE}"
    known = await operator.get(path, headers={"Range": "bytes=0-1", "If-None-Match": whole.headers["etag"]})
    assert known.status_code == 304
    assert known.headers["repr-digest"] == whole.headers["repr-digest"]


async def test_a_download_that_was_cut_off_goes_on_where_it_ended(operator: httpx.AsyncClient, release: str) -> None:
    for path in (f"/releases/{release}/records", f"/releases/{release}/bundle"):
        whole = await operator.get(path)
        kept = whole.content[: len(whole.content) // 2]
        headers = {"Range": f"bytes={len(kept)}-", "If-Range": whole.headers["etag"]}
        rest = await operator.get(path, headers=headers)
        assert (rest.status_code, kept + rest.content) == (206, whole.content)
        other = await operator.get(path, headers={**headers, "If-Range": '"another"'})
        assert (other.status_code, other.content) == (200, whole.content)


async def test_a_part_of_a_damaged_file_is_not_served(world: World, operator: httpx.AsyncClient, release: str) -> None:
    path = world.folder / "releases" / "blobs" / release / "file-csv"
    good = path.read_bytes()
    for damaged in (good[:20] + bytes([good[20] ^ 1]) + good[21:], good[:-1], b""):
        path.write_bytes(damaged)
        answer = await operator.get(f"/releases/{release}/records?format=csv", headers={"Range": "bytes=0-3"})
        check_problem(answer, 500, "stored-bytes-damaged")


async def test_a_range_reads_the_chunks_that_hold_it_and_proves_each(tmp_path: Path) -> None:
    room = open_room(tmp_path.as_uri(), "releases", StorageKey(b"s" * 32))
    data = bytes(number % 251 for number in range(2 * CHUNK + 10))
    blob = await room.put_bytes("blobs/x", data)
    ends = [(0, 1), (CHUNK - 1, CHUNK + 1), (CHUNK, 2 * CHUNK), (2 * CHUNK, len(data)), (5, len(data))]
    for start, stop in ends:
        assert await room.blob_range(blob, start, stop) == data[start:stop]
    exact = await room.put_bytes("blobs/y", data[:CHUNK])
    assert await room.blob_range(exact, CHUNK - 3, CHUNK) == data[CHUNK - 3 : CHUNK]
    path = tmp_path / "releases" / "blobs" / "x"
    sealed = bytearray(path.read_bytes())
    sealed[8 + CHUNK + 16 + 5] ^= 1  # in the second chunk
    path.write_bytes(sealed)
    assert await room.blob_range(blob, 0, CHUNK) == data[:CHUNK]
    with pytest.raises(BrokenSeal):
        await room.blob_range(blob, CHUNK - 1, CHUNK + 1)


async def test_head_says_what_get_says_without_the_content(
    world: World, operator: httpx.AsyncClient, release: str
) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    parts = ("", "/posture", "/gate", "/risk", "/records", "/records?format=json", "/bundle", "/report", "/certificate")
    paths = [f"/releases/{release}{part}" for part in parts]
    for path in (*paths, f"/captures/{capture}", "/captures", "/livez", "/keys/jwks.json", "/openapi.json"):
        get, head = await operator.get(path), await operator.head(path)
        assert (head.status_code, head.content) == (get.status_code, b""), path
        differing = {name for name in get.headers if get.headers[name] != head.headers.get(name)}
        assert differing <= {"x-request-id"}, path
    events = await operator.head(f"/releases/{release}/events")
    assert (events.status_code, events.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    ranged = await operator.head(f"/releases/{release}/records", headers={"Range": "bytes=0-1"})
    assert ranged.status_code == 200  # ranges are for GET
    check_problem(await operator.get("/releases/none"), 404, "not-found")
    assert (await operator.head("/releases/none")).status_code == 404
    check_problem(await operator.post("/livez"), 405, "method-not-allowed")


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("text/csv, */*", "text/csv; charset=utf-8"),
        ("text/*", "text/csv; charset=utf-8"),
        ("application/*;q=0.1, text/csv;q=0.5", "text/csv; charset=utf-8"),
        ("application/x-parquet, text/csv;q=0.5", "application/vnd.apache.parquet"),
        ("*/*;q=0.1, application/vnd.apache.parquet;q=0", "application/vnd.apache.arrow.stream"),
        ("application/ndjson", "application/x-ndjson"),
        ("text/csv;header=present;q=0.4, application/json;q=0.3", "text/csv; charset=utf-8"),
        ("nonsense", "application/vnd.apache.parquet"),
    ],
)
async def test_the_closest_range_of_accept_decides(
    operator: httpx.AsyncClient, release: str, accept: str, media: str
) -> None:
    answer = await operator.get(f"/releases/{release}/records", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, media)


async def test_what_nobody_accepts_is_refused_with_what_there_is(
    world: World, operator: httpx.AsyncClient, release: str
) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    for path in (f"/releases/{release}/records", f"/captures/{capture}/records"):
        for accept in ("text/html", "image/*", "text/csv;q=0"):
            body = check_problem(await operator.get(path, headers={"Accept": accept}), 406, "not-acceptable")
            assert "application/vnd.apache.parquet" in body["detail"]
        named = await operator.get(f"{path}?format=ndjson", headers={"Accept": "text/html"})
        assert named.headers["content-type"] == "application/x-ndjson"


async def test_an_upload_has_the_digests_that_were_sent_with_it_or_nothing_is_kept(
    world: World, operator: httpx.AsyncClient
) -> None:
    table = b"a,b\n1,x\n2,y\n"
    longer = base64.b64encode(hashlib.sha512(table).digest()).decode()
    csv = {"Content-Type": "text/csv"}
    for path, content, headers in (("/captures", PCAP, {}), ("/datasets", table, csv)):
        for name in ("Repr-Digest", "Content-Digest"):
            wrong = await operator.post(path, content=content, headers={**headers, name: sha256_field(b"other")})
            check_problem(wrong, 400, "digest-mismatch")
            unread = await operator.post(path, content=content, headers={**headers, name: "sha-256=nothing"})
            check_problem(unread, 400, "digest-malformed")
        assert (await operator.get(path)).json()["data"] == []
    assert [blob for blob in (world.folder / "captures").rglob("*") if blob.is_file()] == []
    right = {"Content-Digest": sha256_field(PCAP), "Repr-Digest": f"unixsum=:AAA=:, {sha256_field(PCAP)}"}
    assert (await operator.post("/captures", content=PCAP, headers=right)).status_code == 202
    both = {**csv, "Content-Digest": f"sha-512=:{longer}:, {sha256_field(table)}"}
    assert (await operator.post("/datasets", content=table, headers=both)).status_code == 201


async def test_what_does_not_change_has_a_tag_and_spares_the_next_answer(
    world: World, operator: httpx.AsyncClient, release: str
) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture)
    await operator.put("/policies/mine", json={"steps": [{"column": "ip", "op": "ip_prefix"}]})
    parts = ("risk", "suggestions", "certificate", "bundle", "report", "records", "records?format=ndjson")
    paths = [f"/releases/{release}/{part}" for part in parts]
    paths += [f"/captures/{capture}/{part}" for part in ("records", "records?format=csv", "identifiers")]
    paths += ["/policies/C4", "/policies/mine", "/policies/mine?version=1", "/gate-floor", "/keys/jwks.json"]
    for path in paths:
        first = await operator.get(path)
        again = await operator.get(path, headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
        assert (first.status_code, again.status_code, again.content) == (200, 304, b""), path
        assert not first.headers["etag"].startswith("W/")
        assert path.startswith("/keys") or "Authorization" in first.headers["vary"], path
        if "policies" not in path and "floor" not in path:
            assert first.headers["repr-digest"] == sha256_field(first.content), path


async def test_an_earlier_version_of_a_policy_stays(operator: httpx.AsyncClient) -> None:
    for width in (24, 16):
        await operator.put("/policies/mine", json={"steps": [{"column": "ip", "op": "ip_prefix", "v4": width}]})
    first = (await operator.get("/policies/mine?version=1")).json()
    assert (first["version"], first["steps"][0]["v4"]) == (1, 24)
    assert (await operator.get("/policies/mine")).json()["version"] == 2
    check_problem(await operator.get("/policies/mine?version=3"), 404, "not-found")
    check_problem(await operator.get("/policies/C4?version=1"), 404, "not-found")


async def test_a_parameter_that_an_operation_does_not_know_is_refused_and_not_repeated(
    world: World, operator: httpx.AsyncClient, release: str
) -> None:
    answer = await operator.get(f"/releases/{release}/records?fromat=csv")
    body = check_problem(answer, 422, "parameter-unknown")
    assert "after, format, limit" in body["detail"]
    assert "fromat" not in answer.text
    check_problem(await operator.get("/releases?limit=1&limit=2"), 422, "parameter-twice")
    check_problem(await world.anonymous().get("/livez?x=1"), 422, "parameter-unknown")
    check_problem(await world.anonymous().get("/releases?x=1"), 401, "key-missing")
    assert (await operator.post("/captures?open_to=a&open_to=b", content=PCAP)).status_code == 202


async def test_every_operation_without_a_path_of_its_own_refuses_unknown_parameters(world: World) -> None:
    admin = await world.client("admin")
    for route in operations():
        for method in route.methods or ():
            if "{" not in route.path and not route.path.startswith("/ics"):
                answer = await admin.request(method, f"{route.path}?no-such-parameter=1")
                check_problem(answer, 422, "parameter-unknown")
