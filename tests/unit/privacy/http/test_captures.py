"""Captures: what is taken in is durable, what is the same is one, what is deleted is gone."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pratique_privacy.archive import Archive
from pratique_privacy.http.services import Limits
from pratique_shared.contracts.facts import CaptureFailed, CaptureRequested, Failure
from pratique_shared.runtime.clock import stamp
from tests.unit.privacy.http.world import PCAP, World, build_world, check_problem


def blobs(world: World) -> list[Path]:
    return [path for path in (world.folder / "captures").glob("blobs/**/*") if path.is_file()]


async def test_a_capture_is_stored_named_and_rung(world: World, operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/captures?name=night&pilot=lab&open_to=a,b&open_to=c", content=PCAP)
    body = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/captures/{body['id']}"
    assert answer.headers["retry-after"] == "1"
    assert (body["sha256"], body["bytes"]) == (hashlib.sha256(PCAP).hexdigest(), 24)
    assert (body["name"], body["pilot"], body["open_to"], body["status"]) == ("night", "lab", ["a", "b", "c"], "queued")
    assert world.bell.rung == [("ingest", "profile", body["id"])]
    capture = await world.archive.capture("acme", body["id"])
    assert await world.archive.captures_room.blob_bytes(capture.requested.raw) == PCAP


@pytest.mark.parametrize("raw", [b"", b"\xd4\xc3", b"<html>", b"PK\x03\x04zip", b"\x1f", b"\xa1\xb2\xcd\x35"])
async def test_what_is_no_capture_is_turned_down_before_anything_is_stored(
    world: World, operator: httpx.AsyncClient, raw: bytes
) -> None:
    check_problem(await operator.post("/captures", content=raw), 415, "not-a-capture")
    assert blobs(world) == []


@pytest.mark.parametrize(
    "magic",
    ["a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "a1b2cd34", "34cdb2a1", "0a0d0d0a", "1f8b08", "28b52ffd"],
)
async def test_captures_are_told_by_their_magic(operator: httpx.AsyncClient, magic: str) -> None:
    assert (await operator.post("/captures", content=bytes.fromhex(magic) + b"1234")).status_code == 202


async def test_a_head_in_single_bytes_is_still_a_capture(operator: httpx.AsyncClient) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        for byte in PCAP:
            yield bytes([byte])

    answer = await operator.post("/captures", content=trickle())
    assert (answer.status_code, answer.json()["sha256"]) == (202, hashlib.sha256(PCAP).hexdigest())


async def test_a_capture_over_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    world = build_world(tmp_path, Limits(capture_bytes=100))
    client = await world.client("operator")

    async def long() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield PCAP

    check_problem(await client.post("/captures", content=long()), 413, "body-too-large")
    check_problem(await client.post("/captures", content=PCAP * 10), 413, "body-too-large")
    assert blobs(world) == []


async def test_the_digest_of_an_upload_is_held_where_it_is_sent(world: World, operator: httpx.AsyncClient) -> None:
    right = base64.b64encode(hashlib.sha256(PCAP).digest()).decode()
    wrong = base64.b64encode(bytes(32)).decode()
    answer = await operator.post("/captures", content=PCAP, headers={"Repr-Digest": f"sha-256=:{wrong}:"})
    check_problem(answer, 400, "digest-mismatch")
    assert blobs(world) == []
    assert (
        await operator.post("/captures", content=PCAP, headers={"Repr-Digest": f"sha-256=:{right}:"})
    ).status_code == 202


async def test_the_same_bytes_for_the_same_pilot_are_one_capture(world: World, operator: httpx.AsyncClient) -> None:
    first = await operator.post("/captures?pilot=lab", content=PCAP)
    again = await operator.post("/captures?pilot=lab&name=other", content=PCAP)
    elsewhere = await operator.post("/captures?pilot=field", content=PCAP)
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert (elsewhere.status_code, elsewhere.json()["id"] == first.json()["id"]) == (202, False)
    assert len(blobs(world)) == 4  # two captures, each its bytes and its key


async def test_the_same_bytes_cut_elsewhere_are_another_capture(world: World, operator: httpx.AsyncClient) -> None:
    asked = ["/captures", "/captures?max_packets=200000", "/captures?max_packets=100"]
    first = [await operator.post(path, content=PCAP) for path in asked]
    again = [await operator.post(path, content=PCAP) for path in asked]
    assert [answer.json()["max_packets"] for answer in first] == [None, 200_000, 100]
    assert len({answer.json()["id"] for answer in first}) == 3
    assert [(answer.status_code, answer.json()["id"]) for answer in again] == [
        (200, answer.json()["id"]) for answer in first
    ]
    capture = await world.archive.capture("acme", first[2].json()["id"])
    assert capture.requested.max_packets == 100


@pytest.mark.parametrize("most", ["0", "-1", "many", "1.5", "9007199254740993"])
async def test_a_slice_has_a_whole_number_of_frames(world: World, operator: httpx.AsyncClient, most: str) -> None:
    answer = await operator.post(f"/captures?max_packets={most}", content=PCAP)
    check_problem(answer, 422, "query-invalid")
    assert answer.json()["errors"][0]["pointer"] == "/max_packets"
    assert blobs(world) == []


async def test_a_capture_says_under_which_network_plan_it_was_profiled(
    world: World, operator: httpx.AsyncClient
) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(capture, plan_sha256="ab" * 32)
    assert (await operator.get(f"/captures/{capture}")).json()["plan_sha256"] == "ab" * 32


async def test_a_capture_sent_again_is_called_and_open_to_what_was_said_last(
    world: World, operator: httpx.AsyncClient
) -> None:
    async def said(query: str) -> tuple[int, str, list[str]]:
        answer = await operator.post(f"/captures?pilot=lab{query}", content=PCAP)
        kept = (await operator.get(f"/captures/{answer.json()['id']}")).json()
        assert (answer.json()["name"], answer.json()["open_to"]) == (kept["name"], kept["open_to"])
        return answer.status_code, kept["name"], kept["open_to"]

    assert await said("&name=night&open_to=a") == (202, "night", ["a"])
    assert await said("&open_to=a,b") == (200, "night", ["a", "b"])
    assert await said("&name=day") == (200, "day", ["a", "b"])
    assert await said("") == (200, "day", ["a", "b"])
    assert await said("&open_to=") == (200, "day", [])
    for _ in range(8):  # ten and more are counted as numbers
        await said("&name=x&open_to=c")
        last = await said("&name=y&open_to=d")
    assert last == (200, "y", ["d"])
    (listed,) = (await operator.get("/captures")).json()["data"]
    assert (listed["name"], listed["open_to"]) == ("y", ["d"])
    assert len(blobs(world)) == 2


async def test_a_recipient_may_ask_for_a_capture_only_while_it_is_open(
    world: World, operator: httpx.AsyncClient
) -> None:
    recipient = await world.client("recipient", recipient="agg-1")
    identity = (await operator.post("/captures?open_to=agg-2", content=PCAP)).json()["id"]
    await world.ready_capture(identity)
    request = {"source": {"capture": identity}, "policy": "C4", "recipient": "agg-1"}
    check_problem(await recipient.post("/releases", json=request), 404, "source-not-found")
    await operator.post("/captures?open_to=agg-1", content=PCAP)
    assert (await recipient.post("/releases", json=request)).status_code == 202
    await operator.post("/captures?open_to=", content=PCAP)
    check_problem(await recipient.post("/releases", json=request), 404, "source-not-found")


async def test_a_replayed_upload_changes_no_label(operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "first"}
    identity = (await operator.post("/captures?name=night", content=PCAP, headers=key)).json()["id"]
    await operator.post("/captures?name=day", content=PCAP)
    again = await operator.post("/captures?name=night", content=PCAP, headers=key)
    assert (again.json()["id"], again.json()["name"], again.headers["idempotent-replayed"]) == (identity, "day", "true")


async def test_a_failed_or_deleted_capture_is_taken_anew(world: World, operator: httpx.AsyncClient) -> None:
    first = (await operator.post("/captures", content=PCAP)).json()["id"]
    failed = CaptureFailed(error=Failure(code="not-a-capture", detail="It is none."), at=stamp())
    await world.archive.captures.commit(first, "outcome", failed)
    state = (await operator.get(f"/captures/{first}")).json()
    assert (state["status"], state["error"]["code"]) == ("failed", "not-a-capture")
    second = (await operator.post("/captures", content=PCAP)).json()["id"]
    assert (await operator.delete(f"/captures/{second}")).status_code == 204
    third = (await operator.post("/captures", content=PCAP)).json()["id"]
    assert len({first, second, third}) == 3


async def test_uploads_of_the_same_bytes_at_once_leave_one_capture(world: World, operator: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(operator.post("/captures?pilot=lab", content=PCAP) for _ in range(8)))
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sorted({answer.status_code for answer in answers}) in ([200, 202], [202])
    assert len((await operator.get("/captures")).json()["data"]) == 1
    assert len(blobs(world)) == 2


async def test_a_crash_between_capture_and_digest_costs_a_second_profile_and_nothing_else(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(self: Archive, requested: CaptureRequested) -> str:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(Archive, "name_digest", crash)
        assert (await operator.post("/captures", content=PCAP)).status_code == 500
    (pending,) = (await world.archive.pending())[0]
    capture = await world.archive.any_capture(pending)
    assert capture is not None
    assert await world.archive.captures_room.blob_bytes(capture.requested.raw) == PCAP
    assert (await operator.post("/captures", content=PCAP)).status_code == 202


async def test_an_idempotency_key_stands_for_one_upload(world: World, operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await operator.post("/captures?pilot=lab", content=PCAP, headers=key)
    again = await operator.post("/captures?pilot=lab", content=PCAP, headers=key)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    assert again.headers["idempotent-replayed"] == "true"
    other = await operator.post("/captures?pilot=lab", content=PCAP + b"x", headers=key)
    check_problem(other, 422, "idempotency-key-reused")
    assert len(blobs(world)) == 2


async def test_a_capture_is_looked_into_once_it_is_ready(world: World, operator: httpx.AsyncClient) -> None:
    identity = (await operator.post("/captures?pilot=lab", content=PCAP)).json()["id"]
    for part in ("records", "identifiers"):
        check_problem(await operator.get(f"/captures/{identity}/{part}"), 409, "not-finished")
    world.bell.told[identity] = {"packets": 3, "bytes": 12}
    running = (await operator.get(f"/captures/{identity}")).json()
    assert (running["status"], running["progress"]) == ("running", {"packets": 3, "bytes": 12, "share": 0.5})
    await world.ready_capture(identity)
    ready = (await operator.get(f"/captures/{identity}")).json()
    assert (ready["status"], ready["packets"], ready["complete"], ready["records"]) == ("ready", 9, True, 5)
    assert (ready["progress"], ready["link_types"], ready["error"]) == (None, ["ethernet"], None)
    identifiers = await operator.get(f"/captures/{identity}/identifiers")
    assert identifiers.json()["imsi"] == [{"value": "1", "packets": 2, "hosts": []}]
    assert identifiers.headers["cache-control"] == "private, no-store"


async def test_records_come_by_page_or_as_a_file(world: World, operator: httpx.AsyncClient) -> None:
    identity = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(identity)
    rows: list[Any] = []
    after, pages = "", 0
    while after is not None:
        page = (
            await operator.get(f"/captures/{identity}/records?limit=2" + (f"&after={after}" if after else ""))
        ).json()
        rows, after, pages = rows + page["data"], page["next"], pages + 1
    assert (rows, pages) == (world.tables.rows, 3)
    as_csv = await operator.get(f"/captures/{identity}/records?format=csv")
    assert as_csv.content == b"csv of 95"
    assert as_csv.headers["content-type"].startswith("text/csv")
    accepted = await operator.get(
        f"/captures/{identity}/records", headers={"Accept": "application/x-ndjson, */*;q=0.1"}
    )
    assert accepted.content == b"ndjson of 95"
    assert (await operator.get(f"/captures/{identity}/records?unit=session")).json() == {"data": [], "next": None}
    assert (await operator.get(f"/captures/{identity}/records?after=-1")).status_code == 422


async def test_deleting_shreds_and_leaves_a_tombstone(world: World, operator: httpx.AsyncClient) -> None:
    identity = (await operator.post("/captures", content=PCAP)).json()["id"]
    await world.ready_capture(identity)
    assert (await operator.delete(f"/captures/{identity}")).status_code == 204
    assert (await operator.delete(f"/captures/{identity}")).status_code == 204
    assert blobs(world) == []
    for part in ("", "/records", "/identifiers"):
        check_problem(await operator.get(f"/captures/{identity}{part}"), 410, "deleted")
    assert (await operator.get("/captures")).json()["data"] == []
    check_problem(
        await operator.post("/releases", json={"source": {"capture": identity}, "policy": "C4"}), 410, "source-gone"
    )


async def test_waiting_answers_201_with_the_profile(world: World, operator: httpx.AsyncClient) -> None:
    async def profile() -> None:
        while not world.bell.rung:
            await asyncio.sleep(0.01)
        await world.ready_capture(world.bell.rung[0][2])

    profiling = asyncio.create_task(profile())
    answer = await operator.post("/captures", content=PCAP, headers={"Prefer": "respond-async, wait=5"})
    await profiling
    assert (answer.status_code, answer.json()["status"]) == (201, "ready")
    assert answer.headers["preference-applied"] == "wait"


@pytest.mark.parametrize("query", ["pilot=-x", "pilot=" + "a" * 101, "name=" + "a" * 201, "open_to=" + "a" * 201])
async def test_wrong_labels_are_a_422(operator: httpx.AsyncClient, query: str) -> None:
    assert (await operator.post(f"/captures?{query}", content=PCAP)).status_code == 422


@pytest.mark.parametrize("identity", ["cap_x", "cap_..", "%2e%2e", "dst_" + "0" * 26, "cap_" + "0" * 26, "%00"])
async def test_an_id_that_there_is_not_is_a_404(operator: httpx.AsyncClient, identity: str) -> None:
    assert (await operator.get(f"/captures/{identity}")).status_code == 404
