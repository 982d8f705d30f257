"""Releases: accepted once and for good, listed, watched, cancelled, withdrawn."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from pratique_privacy.archive import Archive
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.http import watching
from pratique_shared.contracts.captures import HOST_COLUMNS, SESSION_COLUMNS
from pratique_shared.contracts.facts import CaptureFailed, Failure, ReleaseRequested
from pratique_shared.contracts.problems import FieldError, PolicyRefused
from pratique_shared.runtime.clock import stamp
from tests.unit.privacy.http.world import PCAP, RELEASE, ROWS, World, check_problem


async def test_a_release_is_durable_owed_and_rung_when_it_is_answered(
    world: World, operator: httpx.AsyncClient
) -> None:
    answer = await operator.post("/releases", json={**RELEASE, "name": "night shift"})
    body = answer.json()
    assert (answer.status_code, body["status"], body["verdict"]) == (202, "queued", None)
    assert (answer.headers["location"], answer.headers["retry-after"]) == (f"/releases/{body['id']}", "1")
    assert body["progress"] == {"stage": "waiting for the source", "done": 0, "total": 0}
    assert body["links"]["posture"] == f"/releases/{body['id']}/posture"
    assert world.bell.rung == [("privacy", "advance", body["id"])]
    assert (await world.archive.pending())[1] == [body["id"]]
    assert (await operator.get(answer.headers["location"])).json() == body


async def test_a_release_says_when_each_of_its_facts_was_written(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]

    async def moments() -> dict[str, str]:
        found: dict[str, str] = (await operator.get(f"/releases/{release}")).json()["moments"]
        return found

    first = await moments()
    await world.measured(release)
    second = await moments()
    await world.concluded(release)
    third = await moments()
    assert list(first) == ["requested"]
    assert list(second) == ["requested", "resolved", "measured"]
    assert list(third) == ["requested", "resolved", "measured", "ended"]
    assert list(third.values()) == sorted(third.values())
    assert second.items() <= third.items()


async def test_records_of_its_own_are_sealed_and_in_no_fact(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    fact = await world.requested(release)
    assert fact.inline is not None
    assert json.loads(await world.archive.releases_room.blob_bytes(fact.inline)) == ROWS
    assert fact.source.records == ()
    written = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    assert b"192.0.2.7" not in written
    assert release.encode() in written


async def test_what_the_columns_do_not_allow_is_refused_at_once(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise PolicyRefused("attribute-unlisted", "Say what it is.", [FieldError("/attributes", "lacks a column")])

    monkeypatch.setattr(world.tables, "admit", refuse)
    body = check_problem(await operator.post("/releases", json=RELEASE), 422, "attribute-unlisted")
    assert body["errors"] == [{"pointer": "/attributes", "detail": "lacks a column"}]
    assert (await operator.get("/releases")).json()["data"] == []
    assert world.bell.rung == []


async def test_a_source_that_cannot_be_is_named(world: World, operator: httpx.AsyncClient) -> None:
    failed = (await operator.post("/captures", content=PCAP)).json()["id"]
    outcome = CaptureFailed(error=Failure(code="too-odd", detail="It is odd."), at=stamp())
    await world.archive.captures.commit(failed, "outcome", outcome)
    empty = (await operator.post("/captures", content=PCAP + b"x")).json()["id"]
    await world.ready_capture(empty, hosts=0)
    unknown = "cap_" + "0" * 26

    async def refused(source: dict[str, Any]) -> tuple[int, str, str]:
        answer = await operator.post("/releases", json={"source": source, "policy": "C4"})
        return answer.status_code, answer.json()["code"], answer.json()["errors"][0]["pointer"]

    assert await refused({"records": []}) == (422, "source-empty", "/source/records")
    assert await refused({"capture": empty}) == (422, "source-empty", "/source")
    assert await refused({"capture": failed}) == (409, "source-failed", "/source/capture")
    assert await refused({"captures": [empty, unknown]}) == (404, "source-not-found", "/source/captures/1")
    assert await refused({"captures": [empty, empty]}) == (422, "source-twice", "/source/captures/1")
    assert await refused({"dataset": "dst_" + "0" * 26}) == (404, "source-not-found", "/source/dataset")
    assert (await refused({}))[1] == "body-invalid"


async def test_a_capture_in_the_making_is_admitted_by_its_columns(world: World, operator: httpx.AsyncClient) -> None:
    capture = (await operator.post("/captures?pilot=lab", content=PCAP)).json()["id"]

    async def ask(**source: Any) -> dict[str, Any]:  # noqa: ANN401 - a body
        answer = await operator.post("/releases", json={"source": {"capture": capture, **source}, "policy": "C4"})
        assert answer.status_code == 202
        return world.tables.calls[-1][1]

    assert (await ask())["columns"] == HOST_COLUMNS
    given = await ask(unit="session")
    assert (given["columns"], given["source"]) == (SESSION_COLUMNS, None)
    await world.ready_capture(capture)
    given = await ask()
    assert (given["columns"], given["source"].media, given["source"].unit) == (None, "ndjson", "host")
    assert given["source"].pilot == "lab"


async def test_the_same_key_and_body_is_the_same_release(world: World, operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "round-12"}
    first = await operator.post("/releases", json=RELEASE, headers=key)
    await world.concluded(first.json()["id"])
    again = await operator.post("/releases", json=RELEASE, headers=key)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    other = await operator.post("/releases", json={**RELEASE, "name": "x"}, headers=key)
    check_problem(other, 422, "idempotency-key-reused")
    without = await operator.post("/releases", json=RELEASE)
    assert without.json()["id"] != first.json()["id"]


async def test_a_key_of_another_caller_or_tenant_is_another_key(world: World, operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "1"}
    ours = (await operator.post("/releases", json=RELEASE, headers=key)).json()["id"]
    for other in (await world.client("operator"), await world.client("operator", tenant="other")):
        answer = await other.post("/releases", json={**RELEASE, "name": "mine"}, headers=key)
        assert answer.status_code == 202
        assert answer.json()["id"] != ours


async def test_a_body_that_was_refused_leaves_its_key_free(operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    assert (await operator.post("/releases", json={**RELEASE, "policy": "none"}, headers=key)).status_code == 422
    assert (await operator.post("/releases", json=RELEASE, headers=key)).status_code == 202


async def test_any_replica_finishes_what_was_claimed_before_a_crash(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = ""

    async def crash(self: Archive, fact: ReleaseRequested) -> None:
        nonlocal claimed
        claimed = fact.id
        raise ConnectionError

    key = {"Idempotency-Key": "k"}
    with monkeypatch.context() as patch:
        patch.setattr(Archive, "add_release", crash)
        assert (await operator.post("/releases", json=RELEASE, headers=key)).status_code == 500
    answer = await operator.post("/releases", json=RELEASE, headers=key)
    assert (answer.status_code, answer.json()["id"]) == (202, claimed)


async def test_a_key_sent_many_times_at_once_makes_one_release(world: World, operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    answers = await asyncio.gather(*(operator.post("/releases", json=RELEASE, headers=key) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert len((await operator.get("/releases")).json()["data"]) == 1


async def test_what_the_figures_follow_from_has_one_digest(world: World, operator: httpx.AsyncClient) -> None:
    async def digest(**changed: object) -> str:
        answer = await operator.post("/releases", json={**RELEASE, **changed})
        return (await world.requested(answer.json()["id"])).digest

    same = await digest()
    assert await digest() == same
    assert await digest(attacks={"repetitions": 20, "seed": 1}) == same  # the defaults, spelt out
    assert await digest(gate={"k": {"min": 9}}, name="x", recipient="other", purpose="y") == same
    different = [
        await digest(attacks=None),
        await digest(policy="C3"),
        await digest(pilot="lab"),
        await digest(source={"records": ROWS[:1]}),
        await digest(ppi={"k_target": 6}),
    ]
    assert len({same, *different}) == 6


async def test_waiting_answers_201_with_the_verdict(world: World, operator: httpx.AsyncClient) -> None:
    async def work() -> None:
        while not world.bell.rung:
            await asyncio.sleep(0.01)
        await world.concluded(world.bell.rung[0][2])

    working = asyncio.create_task(work())
    answer = await operator.post("/releases", json=RELEASE, headers={"Prefer": "wait=5"})
    await working
    assert (answer.status_code, answer.json()["status"], answer.json()["verdict"]) == (201, "completed", "pass")
    assert answer.headers["preference-applied"] == "wait"


async def test_waiting_too_short_answers_202(operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/releases", json=RELEASE, headers={"Prefer": "wait=0"})
    assert (answer.status_code, answer.headers["retry-after"]) == (202, "1")


async def test_lists_are_newest_first_by_page_and_by_verdict(world: World, operator: httpx.AsyncClient) -> None:
    made = [(await operator.post("/releases", json=RELEASE)).json()["id"] for _ in range(5)]
    newest = sorted(made, reverse=True)
    await world.concluded(newest[1], "pass")
    await world.concluded(newest[3], "fail")
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = (await operator.get("/releases", params={"limit": 2, **({"after": after} if after else {})})).json()
        seen, after = seen + [entry["id"] for entry in page["data"]], page["next"]
    assert seen == newest

    async def ids(query: str) -> list[str]:
        return [entry["id"] for entry in (await operator.get(f"/releases?{query}")).json()["data"]]

    assert await ids("verdict=pass") == [newest[1]]
    assert await ids("status=completed") == [newest[1], newest[3]]
    assert await ids("status=completed&limit=1") == [newest[1]]
    assert await ids(f"status=completed&limit=1&after={newest[1]}") == [newest[3]]
    assert await ids("status=failed") == []


async def test_cancelling_stops_what_is_not_finished_and_nothing_else(
    world: World, operator: httpx.AsyncClient
) -> None:
    running = (await operator.post("/releases", json=RELEASE)).json()["id"]
    answer = await operator.post(f"/releases/{running}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
    check_problem(await operator.get(f"/releases/{running}/posture"), 409, "release-cancelled")
    check_problem(await operator.get(f"/releases/{running}/records"), 409, "release-cancelled")
    done = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(done)
    answer = await operator.post(f"/releases/{done}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "completed")


async def test_a_withdrawn_release_is_gone_for_every_question(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    assert (await operator.delete(f"/releases/{release}")).status_code == 204
    for part in ("", "/posture", "/gate", "/records", "/records?format=csv", "/preview", "/risk", "/suggestions"):
        check_problem(await operator.get(f"/releases/{release}{part}"), 410, "withdrawn")
    assert (await operator.get("/releases")).json()["data"] == []
    assert list((world.folder / "releases" / "blobs").glob(f"{release}/*")) == []


async def test_events_are_whole_snapshots_until_the_outcome(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]

    async def work() -> None:
        await asyncio.sleep(0.1)
        await world.measured(release)
        await asyncio.sleep(0.4)
        await world.concluded(release)

    working = asyncio.create_task(work())
    answer = await operator.get(f"/releases/{release}/events")
    await working
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [json.loads(part.split("data: ")[1]) for part in answer.text.split("\n\n") if part]
    assert [event["status"] for event in events] == ["queued", "attacking", "completed"]
    assert events[-1] == (await operator.get(f"/releases/{release}")).json()


async def test_a_watch_looks_at_names_alone_while_nothing_changes_and_ends_in_time(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    read, watched = world.archive.any_release, list[str]()

    async def counted(release_id: str) -> ReleaseFacts | None:
        watched.append(release_id)
        return await read(release_id)

    monkeypatch.setattr(world.archive, "any_release", counted)
    for name, seconds in {"FIRST_LOOK": 0.01, "LAST_LOOK": 0.02, "HEARTBEAT": 0.1, "LONGEST": 0.4}.items():
        monkeypatch.setattr(watching, name, seconds)
    answer = await operator.get(f"/releases/{release}/events")
    parts = [part for part in answer.text.split("\n\n") if part]
    assert [part for part in parts if part != ": still here"] == parts[:1]
    assert len(parts) > 1
    assert len(watched) == 2  # once before the stream, once at its first look


async def test_a_watch_ends_with_the_key_that_it_was_opened_with(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    for name, seconds in {"FIRST_LOOK": 0.01, "LAST_LOOK": 0.02, "AGAIN": 0.05}.items():
        monkeypatch.setattr(watching, name, seconds)
    key, secret = await world.keys.new_api_key("acme", "operator")
    watcher = world.anonymous({"Authorization": f"Bearer {secret}"})
    watch = asyncio.create_task(watcher.get(f"/releases/{release}/events"))
    await asyncio.sleep(0.3)
    assert not watch.done()  # the control: it is asked again and again, and goes on
    await world.keys.revoke(key.id)
    answer = await asyncio.wait_for(watch, 10)
    await world.concluded(release)
    events = [json.loads(part.split("data: ")[1]) for part in answer.text.split("\n\n") if part]
    assert [event["status"] for event in events] == ["queued"]
