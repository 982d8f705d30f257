"""Webhooks: made with a secret that is shown once, told of what happens, tried again, disabled, asked for again."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from pratique_privacy.jobs import Privacy
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.courier import Courier
from pratique_privacy.notices.lines import Lines
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.outbound.post import Outbound
from pratique_shared.contracts.facts import CaptureFailed, Failure, ReleaseFailed
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.clock import stamp
from tests.support.ahead import Ahead
from tests.support.receiver import Receiver, receiver
from tests.unit.privacy.http.world import PCAP, RELEASE, SilentBell, World, check_problem

LOOPBACK = Allowed.parse("127.0.0.0/8")
BASE = "https://pratique.example.com"


@dataclass
class Scene:
    """A worker of the world's own, and a receiver on loopback."""

    world: World
    courier: Courier
    privacy: Privacy
    there: Receiver
    clock: Ahead
    parts: tuple[NoticeArchive, Lines, SilentBell]

    async def settled(self, release: str) -> None:
        """Let the worker come to a release that has its outcome, then deliver."""
        await self.privacy.handle(Message(task="advance", id=release))
        await self.deliver()

    async def deliver(self, later: float = 0.0) -> None:
        self.clock.by += timedelta(seconds=later)
        await self.courier.look()
        await self.courier.idle()


@asynccontextmanager
async def scene(world: World) -> AsyncIterator[Scene]:
    world.app.state.services = replace(world.app.state.services, webhook_allowed=LOOPBACK)
    out, clock = Outbound(LOOPBACK, whole=2.0), Ahead()
    parts = NoticeArchive(world.archive), Lines(world.archive, world.keys, world.audit, out, out, BASE), world.bell
    courier = Courier(*parts, clock)
    announcer = Announcer(world.archive, courier.wake)
    privacy = Privacy(world.archive, world.keys, world.tables, world.tables, world.bell, announcer)
    async with receiver() as there:
        yield Scene(world, courier, privacy, there, clock, parts)
    await out.close()


async def made(operator: httpx.AsyncClient, url: str, **further: object) -> dict[str, Any]:
    answer = await operator.post("/webhooks", json={"url": url, **further})
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def released(world: World, operator: httpx.AsyncClient, **further: object) -> str:
    release: str = (await operator.post("/releases", json={**RELEASE, **further})).json()["id"]
    await world.concluded(release)
    return release


async def log_of(operator: httpx.AsyncClient, webhook: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await operator.get(f"/webhooks/{webhook['id']}/deliveries")).json()["data"]
    return entries


async def test_a_completed_release_is_told_as_a_signed_cloud_event(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        release = await released(world, operator)
        await here.settled(release)
        (taken,) = here.there.taken
        event = Verifier(webhook["secret"]).verify(taken.body, taken.headers)
        with pytest.raises(WebhookVerificationError):
            Verifier(webhook["secret"]).verify(taken.body + b" ", taken.headers)
        other = await made(operator, here.there.url)
        with pytest.raises(WebhookVerificationError):
            Verifier(other["secret"]).verify(taken.body, taken.headers)
    here_it_is = f"{BASE}/releases/{release}"
    assert event["data"] == {
        "release": release,
        "status": "completed",
        "verdict": "pass",
        "links": {
            "release": here_it_is,
            "posture": f"{here_it_is}/posture",
            "gate": f"{here_it_is}/gate",
            "records": f"{here_it_is}/records",
        },
    }
    assert (event["specversion"], event["type"], event["subject"]) == ("1.0", "release.completed", release)
    assert event["source"] == BASE
    assert taken.headers["content-type"] == "application/cloudevents+json"
    (entry,) = await log_of(operator, webhook)
    assert (entry["id"], entry["status"], entry["tries"][0]["status"]) == (
        taken.headers["webhook-id"],
        "delivered",
        204,
    )


async def test_the_secret_is_shown_once_and_lies_sealed(world: World, operator: httpx.AsyncClient) -> None:
    webhook = await made(operator, "https://hooks.example.com/x?token=abc", events=["release.completed"])
    secret = webhook["secret"]
    assert secret.startswith("whsec_")
    for path in ("/webhooks", f"/webhooks/{webhook['id']}"):
        assert secret not in (await operator.get(path)).text
    raw = base64.b64decode(secret.removeprefix("whsec_"))
    stored = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    assert secret.encode() not in stored
    assert secret.removeprefix("whsec_").encode() not in stored
    assert webhook["id"].encode() in stored, "the scan has read what is there"
    assert raw not in stored
    assert raw.hex().encode() not in stored


async def test_the_same_key_makes_one_webhook(operator: httpx.AsyncClient) -> None:
    body, once_only = {"url": "https://hooks.example.com/x"}, {"Idempotency-Key": "k"}
    once = await operator.post("/webhooks", json=body, headers=once_only)
    again = await operator.post("/webhooks", json=body, headers=once_only)
    assert once.json() == again.json()
    assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")
    assert len((await operator.get("/webhooks")).json()["data"]) == 1
    other = await operator.post("/webhooks", json={**body, "name": "other"}, headers=once_only)
    check_problem(other, 422, "idempotency-key-reused")
    await operator.delete(f"/webhooks/{once.json()['id']}")
    check_problem(await operator.post("/webhooks", json=body, headers=once_only), 410, "deleted")


async def test_every_end_of_a_release_and_of_a_capture_is_told(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await made(operator, here.there.url)
        held = (await operator.post("/releases", json=RELEASE)).json()["id"]
        await world.concluded(held, "fail")
        broken = (await operator.post("/releases", json=RELEASE)).json()["id"]
        failure = Failure(code="task-crashed", detail="It is so.")
        await world.archive.conclude(broken, ReleaseFailed(error=failure, at=stamp()))
        stopped = (await operator.post("/releases", json=RELEASE)).json()["id"]
        await operator.post(f"/releases/{stopped}/cancel")
        for release in (held, broken, stopped):
            await here.settled(release)
        await operator.delete(f"/releases/{held}")
        await here.settled(held)
        ready, bad = [(await operator.post("/captures", content=PCAP + bytes([n]))).json()["id"] for n in range(2)]
        await world.ready_capture(ready)
        await world.archive.captures.commit(bad, "outcome", CaptureFailed(error=failure, at=stamp()))
        for capture in (ready, bad):  # as ingest leaves them
            await world.archive.captures_room.create(f"announce/{capture}", b"{}")
        await here.privacy.sweep()
        await here.deliver()
        assert await world.archive.captures_room.names("announce") == []
        bodies = [json.loads(taken.body) for taken in here.there.taken]
    told = {(body["subject"], body["type"]): body["data"] for body in bodies}
    assert set(told) == {
        (held, "release.completed"),
        (held, "release.withdrawn"),
        (broken, "release.failed"),
        (stopped, "release.cancelled"),
        (ready, "capture.ready"),
        (bad, "capture.failed"),
    }
    assert told[held, "release.completed"]["verdict"] == "fail"
    assert "records" not in told[held, "release.completed"]["links"]
    assert told[broken, "release.failed"]["error"] == {"code": "task-crashed"}


async def test_a_webhook_hears_of_its_types_and_its_recipient_and_of_nothing_before_it(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        before = await released(world, operator)
        picky = await made(operator, here.there.url, events=["release.withdrawn"])
        rivals = await made(operator, here.there.url, recipient="rival")
        stranger = await world.client("operator", tenant="other")
        foreign = await made(stranger, here.there.url)
        after = await released(world, operator, name="after")
        theirs = await released(world, operator, recipient="rival")
        for release in (before, after, theirs):
            await here.settled(release)
        heard = {name: await log_of(operator, hook) for name, hook in (("picky", picky), ("rivals", rivals))}
        assert await log_of(stranger, foreign) == []
    assert heard["picky"] == []
    assert [entry["subject"] for entry in heard["rivals"]] == [theirs]


async def test_a_receiver_that_is_away_is_tried_again_until_it_takes_it(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        here.there.turns = [500, 302, 429]
        await here.settled(await released(world, operator))
        await here.deliver(1)  # too early for the second try
        assert len(here.there.taken) == 1
        for later in (5, 301, 1801):
            await here.deliver(later)
        ids = {taken.headers["webhook-id"] for taken in here.there.taken}
        stamps = [int(taken.headers["webhook-timestamp"]) for taken in here.there.taken]
        assert len(ids) == 1
        assert stamps == sorted(stamps)
    (entry,) = await log_of(operator, webhook)
    assert [one["status"] for one in entry["tries"]] == [500, 302, 429, 204]
    assert (entry["status"], entry["next_try_at"]) == ("delivered", None)


async def test_what_is_owed_outlives_the_worker_and_is_told_once(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        release = await released(world, operator)
        await here.privacy.handle(Message(task="advance", id=release))
        await here.privacy.handle(Message(task="advance", id=release))  # a doubled message
        assert here.there.taken == [], "the worker ends before it has delivered"
        other = Courier(*here.parts)
        await other.look()
        await other.idle()
        assert len(here.there.taken) == 1
    (entry,) = await log_of(operator, webhook)
    assert (entry["subject"], entry["status"]) == (release, "delivered")


async def test_gone_disables_a_webhook_and_drops_what_was_owed(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        here.there.turns = [500, 410]
        first = await released(world, operator)
        await here.settled(first)
        second = await released(world, operator, name="second")
        await here.settled(second)
        await here.deliver(6)
        third = await released(world, operator, name="third")
        await here.settled(third)
        assert len(here.there.taken) == 2
        assert (await operator.get(f"/webhooks/{webhook['id']}")).json()["status"] == "disabled"
        entries = {entry["subject"]: entry for entry in await log_of(operator, webhook)}
        assert {entry["status"] for entry in entries.values()} == {"dropped"}
        assert third not in entries
        assert await NoticeArchive(world.archive).owed() == {}
        again = await operator.post(f"/webhooks/{webhook['id']}/deliveries/{entries[first]['id']}/redeliver")
        check_problem(again, 409, "webhook-disabled")


async def test_a_delivery_is_sent_again_on_request(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        await here.settled(await released(world, operator))
        (entry,) = await log_of(operator, webhook)
        here.there.turns = [500]
        path = f"/webhooks/{webhook['id']}/deliveries/{entry['id']}/redeliver"
        again = await operator.post(path)
        assert (again.status_code, again.json()["status"]) == (202, "pending")
        assert ("privacy", "deliver", webhook["id"]) in world.bell.rung
        await here.deliver()
        await here.deliver(6)
        bodies = {taken.body for taken in here.there.taken}
        assert len(here.there.taken) == 3
        assert len(bodies) == 1, "the same event, to the byte"
        check_problem(await operator.post(path.replace(entry["id"], "dlv_" + "0" * 26)), 404, "not-found")
    (entry,) = await log_of(operator, webhook)
    assert [one["status"] for one in entry["tries"]] == [204, 500, 204]


async def test_a_deleted_webhook_hears_no_more_and_its_secret_is_gone(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        release = await released(world, operator)
        await here.privacy.handle(Message(task="advance", id=release))
        assert (await operator.delete(f"/webhooks/{webhook['id']}")).status_code == 204
        await here.deliver()
        assert here.there.taken == []
        assert await NoticeArchive(world.archive).owed() == {}
    assert await world.keys.secret(f"webhooks/{webhook['id']}") is None
    check_problem(await operator.get(f"/webhooks/{webhook['id']}"), 404, "not-found")
    assert (await operator.get("/webhooks")).json()["data"] == []


async def test_a_slow_receiver_keeps_nobody_else_waiting(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here, receiver() as slow:
        slow.delay = 1.0
        first = await made(operator, slow.url)
        second = await made(operator, here.there.url)
        release = await released(world, operator)
        await here.privacy.handle(Message(task="advance", id=release))
        await here.courier.look()
        while not await log_of(operator, second) or not (await log_of(operator, second))[0]["tries"]:
            await here.courier.look()
        assert (await log_of(operator, first))[0]["tries"] == []
        await here.courier.idle()
        assert (await log_of(operator, first))[0]["status"] == "delivered"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://hooks.example.com/"}, "address-not-allowed"),
        ({"url": "https://10.0.0.1/"}, "address-not-allowed"),
        ({"url": "https://a@hooks.example.com/"}, "address-unreadable"),
        ({"url": "https://hooks.example.com/", "events": []}, "body-invalid"),
        ({"url": "https://hooks.example.com/", "events": ["release.exploded"]}, "body-invalid"),
        ({}, "body-invalid"),
    ],
)
async def test_a_webhook_that_cannot_stand_is_refused(
    operator: httpx.AsyncClient, body: dict[str, object], code: str
) -> None:
    check_problem(await operator.post("/webhooks", json=body), 422, code)


async def test_lists_go_by_pages_newest_first(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        ids = [(await made(operator, here.there.url))["id"] for _ in range(3)]
        page = (await operator.get("/webhooks?limit=2")).json()
        rest = (await operator.get(f"/webhooks?limit=2&after={page['next']}")).json()
        assert [one["id"] for one in page["data"] + rest["data"]] == sorted(ids, reverse=True)
        releases = [await released(world, operator, name=str(n)) for n in range(3)]
        for release in releases:
            await here.settled(release)
        path = f"/webhooks/{ids[0]}/deliveries?limit=2"
        page = (await operator.get(path)).json()
        rest = (await operator.get(f"{path}&after={page['next']}")).json()
        assert [one["subject"] for one in page["data"] + rest["data"]] == releases[::-1]


async def test_a_delivery_that_cannot_be_read_stays_owed_and_keeps_no_other_waiting(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        webhook = await made(operator, here.there.url)
        releases = [await released(world, operator) for _ in range(2)]
        for release in releases:
            await here.privacy.handle(Message(task="advance", id=release))
        room = world.archive.releases_room
        first, *_ = await room.names(f"owed-notices/{webhook['id']}")
        await room.create("owed-notices/.nfs000000001", b"{}")
        await room.create(f"owed-notices/{webhook['id']}/.nfs000000001", b"{}")
        path = world.folder / "releases/facts" / webhook["id"] / "deliveries" / first.rpartition("/")[2] / "owed"
        whole = path.read_bytes()
        path.write_bytes(whole[:3] + b"?" + whole[4:])
        await here.deliver()
        assert len(here.there.taken) == 1
        path.write_bytes(whole)
        await here.deliver(later=60)
        assert len(here.there.taken) == 2
        assert [key for key in await room.names("owed-notices") if ".nfs" not in key] == []
