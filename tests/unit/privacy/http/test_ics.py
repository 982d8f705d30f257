"""The O-RAN data producer against a fake coordinator: registered, reconciled, delivering, and telling nobody else."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from pratique_privacy.ics.bodies import POSTURE, PROFILES
from pratique_privacy.ics.registrar import Registrar
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.jobs import Privacy
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.courier import Courier
from pratique_privacy.notices.lines import Lines
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.notices.subscription import subscription_id
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.outbound.post import Outbound
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.problems import Unavailable
from tests.support.ahead import Ahead
from tests.support.fake_ics import FakeIcs
from tests.support.receiver import Receiver, receiver
from tests.unit.privacy.http.world import RELEASE, World, check_problem, refuse_entries

ICS, BASE, TOKEN = "http://ics.lab:8083", "http://pratique", "of-the-coordinator"
LOOPBACK = Allowed.parse("127.0.0.0/8")


@dataclass
class Scene:
    """The coordinator, our worker, and a consumer on loopback."""

    world: World
    terms: IcsTerms
    ics: FakeIcs
    registrar: Registrar
    courier: Courier
    privacy: Privacy
    consumer: Receiver
    clock: Ahead

    async def ask(self, name: str, kind: str = POSTURE, **definition: object) -> int:
        """Put a job as a consumer does; return the coordinator's status."""
        body = {
            "info_type_id": kind,
            "job_owner": "posture-watch",
            "job_definition": definition,
            "job_result_uri": self.consumer.url,
        }
        async with httpx.AsyncClient(transport=self.ics.transport(), base_url=ICS) as consumer:
            return (await consumer.put(f"/data-consumer/v1/info-jobs/{name}", json=body)).status_code

    async def drop(self, name: str) -> None:
        async with httpx.AsyncClient(transport=self.ics.transport(), base_url=ICS) as consumer:
            assert (await consumer.delete(f"/data-consumer/v1/info-jobs/{name}")).status_code == 204

    async def known(self) -> list[str]:
        return sorted(one.remote for one in await Subscribers(self.world.archive).of_tenant(self.terms.tenant))

    async def release(self, operator: httpx.AsyncClient, verdict: str = "pass", **further: object) -> str:
        """A release that came to its end, and what follows from it."""
        release: str = (await operator.post("/releases", json={**RELEASE, **further})).json()["id"]
        await self.world.concluded(release, "pass" if verdict == "pass" else "fail")
        await self.privacy.handle(Message(task="advance", id=release))
        return release

    async def deliver(self, later: float = 0.0) -> list[Any]:
        """Deliver what is due; return the bodies that the consumer has by then."""
        self.clock.by += timedelta(seconds=later)
        await self.privacy.sweep()
        await self.courier.look()
        await self.courier.idle()
        return [json.loads(taken.body) for taken in self.consumer.taken]


@asynccontextmanager
async def scene(world: World, token: str | None = TOKEN) -> AsyncIterator[Scene]:
    terms = IcsTerms(url=ICS, callback=BASE, tenant="acme", recipient="hospital", token=token, allowed=LOOPBACK)
    world.app.state.services = replace(world.app.state.services, ics=terms)
    ics = FakeIcs(world.anonymous(), token)
    out = Outbound(LOOPBACK, whole=0.5)
    lines = Lines(world.archive, world.keys, world.audit, out, out, BASE)
    async with receiver() as consumer:
        clock = Ahead()
        registrar = Registrar(
            terms,
            Subscribers(world.archive),
            world.bell,
            world.audit,
            transport=ics.transport(),
            share=lambda: 0.5,
            clock=clock,
        )
        courier = Courier(NoticeArchive(world.archive), lines, world.bell, clock)
        announcer = Announcer(world.archive, courier.wake)
        privacy = Privacy(world.archive, world.keys, world.tables, world.tables, world.bell, announcer)
        here = Scene(world, terms, ics, registrar, courier, privacy, consumer, clock)
        yield here
    await out.close()


async def told(operator: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await operator.get("/integrations/ics")).json()
    return found


# Registration


async def test_we_register_our_types_then_ourselves_once(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.registrar.turn()
        assert here.ics.asked == [f"PUT type {POSTURE}", f"PUT type {PROFILES}", "PUT producer pratique"]
        assert here.ics.producers["pratique"] == {
            "supported_info_types": [PROFILES, POSTURE],
            "info_job_callback_url": f"{BASE}/ics/info-jobs",
            "info_producer_supervision_callback_url": f"{BASE}/ics/health",
        }
        found = await told(operator)
    assert found["registration"]["registered"] is True
    assert found["registration"]["registrations"] == 1
    assert (found["types"], found["jobs"]) == ([PROFILES, POSTURE], [])


async def test_a_coordinator_that_forgot_us_or_knows_us_otherwise_is_told_again(world: World) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("one")
        here.ics.restart()
        await here.registrar.turn()
        assert "pratique" in here.ics.producers
        here.ics.producers["pratique"]["info_job_callback_url"] = "http://old/ics/info-jobs"
        await here.registrar.turn()
        assert here.ics.producers["pratique"]["info_job_callback_url"] == f"{BASE}/ics/info-jobs"
        assert here.ics.asked.count("PUT producer pratique") == 3
        assert await here.known() == ["one"], "its job was posted anew and is one job still"


async def test_a_coordinator_that_is_away_is_told_of_and_asked_again(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:

        def away(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("away", request=request)

        parts = here.terms, Subscribers(world.archive), world.bell, world.audit
        lonely = Registrar(*parts, transport=httpx.MockTransport(away))
        await lonely.turn()
        assert (await told(operator))["registration"]["error"] == "no-answer"
        other = httpx.MockTransport(lambda _: httpx.Response(200, text="a page"))
        await Registrar(*parts, transport=other).turn()
        assert (await told(operator))["registration"]["error"] == "not-ics"
        await here.registrar.turn()
        assert (await told(operator))["registration"]["error"] is None


async def test_three_failed_supervisions_deregister_us_and_the_next_turn_mends_it(world: World) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("one")
        await here.ics.supervise()
        assert here.ics.strikes == {}
        here.ics.token = "wrong"
        for left in (1, 1, 0):
            await here.ics.supervise()
            assert len(here.ics.producers) == left
        here.ics.token = TOKEN
        await here.registrar.turn()
        assert "pratique" in here.ics.producers
        assert await here.known() == ["one"]


# Jobs


async def test_a_job_is_taken_in_once_however_often_it_is_posted(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        here.ics.doubled = True
        await here.registrar.turn()
        assert await here.ask("one", verdicts=["fail"]) == 201
        assert await here.ask("one", verdicts=["pass"]) == 200
        await here.registrar.turn()
        assert await here.known() == ["one"]
        (job,) = await Subscribers(world.archive).of_tenant("acme")
        assert job.verdicts == ("pass",)
        versions = await world.archive.releases_room.names(f"subscriptions/{job.id}")
        assert len(versions) == 2, "a version for each change, none for a repetition"


@pytest.mark.parametrize("lossy", [False, True])
async def test_a_job_that_ended_is_dropped_though_its_delete_was_lost(world: World, lossy: bool) -> None:
    async with scene(world) as here:
        here.ics.lossy = lossy
        await here.registrar.turn()
        await here.ask("one")
        await here.drop("one")
        assert await here.known() == (["one"] if lossy else [])
        await here.registrar.turn()
        assert await here.known() == (["one"] if lossy else []), "what was posted just now may not be listed yet"
        here.clock.by = timedelta(seconds=31)
        await here.registrar.turn()
        assert await here.known() == []


async def test_a_job_whose_post_was_lost_is_found_in_the_list(world: World) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        here.ics.token = "wrong"
        await here.ask("one")
        assert await here.known() == []
        await here.registrar.turn()
        assert await here.known() == ["one"]


async def test_without_a_token_only_the_coordinators_own_list_is_believed(world: World) -> None:
    async with scene(world, token=None) as here:
        await here.registrar.turn()
        forged = {"info_job_identity": "forged", "info_type_identity": POSTURE, "target_uri": here.consumer.url}
        stranger = world.anonymous()
        assert (await stranger.post("/ics/info-jobs", json=forged)).status_code == 200
        assert await here.known() == []
        await here.ask("one")
        await here.registrar.turn()
        assert await here.known() == ["one"]
        assert (await stranger.delete("/ics/info-jobs/one")).status_code == 200
        await here.registrar.turn()
        assert await here.known() == ["one"]
        assert [task for _, task, _ in world.bell.rung if task == "reconcile"] == ["reconcile"] * 3


async def test_a_stranger_and_an_unconfigured_service_are_refused(world: World, operator: httpx.AsyncClient) -> None:
    stranger = world.anonymous()
    job = {"info_job_identity": "x", "info_type_identity": POSTURE, "target_uri": "https://rapp.example.com/"}
    for method, path in (("POST", "/ics/info-jobs"), ("DELETE", "/ics/info-jobs/x"), ("GET", "/ics/health")):
        check_problem(await stranger.request(method, path, json=job), 404, "ics-not-configured")
    assert (await told(operator))["configured"] is False
    async with scene(world):
        for method, path in (("POST", "/ics/info-jobs"), ("DELETE", "/ics/info-jobs/x"), ("GET", "/ics/health")):
            check_problem(await stranger.request(method, path, json=job), 401, "key-unknown")
        ours = await world.client("operator", tenant="other")
        assert (await told(ours))["configured"] is False


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"info_type_identity": "pm_data_1.0.0"}, "info-type-unknown"),
        ({"info_type_identity": None}, "info-type-unknown"),
        ({"info_job_data": {"gate": {}}}, "job-data-invalid"),
        ({"info_job_data": {"verdicts": ["maybe"]}}, "job-data-invalid"),
        ({"info_job_data": [1]}, "job-data-invalid"),
        ({"target_uri": None}, "target-missing"),
        ({"target_uri": "http://192.168.0.1/"}, "address-not-allowed"),
        ({"info_job_data": {"deliveryInfo": {"targetUri": "https://169.254.169.254/"}}}, "address-not-allowed"),
        ({"info_job_identity": ""}, "body-invalid"),
    ],
)
async def test_a_job_that_cannot_stand_is_refused(world: World, changed: dict[str, Any], code: str) -> None:
    async with scene(world) as here:
        job = {"info_job_identity": "x", "info_type_identity": POSTURE, "target_uri": here.consumer.url, **changed}
        client = world.anonymous({"Authorization": f"Bearer {TOKEN}"})
        check_problem(await client.post("/ics/info-jobs", json=job), 422, code)


async def test_an_address_that_is_refused_is_pointed_at_where_it_was_given(world: World) -> None:
    inside = "https://169.254.169.254/"
    given: dict[str, dict[str, Any]] = {
        "/target_uri": {"target_uri": inside},
        "/info_job_data/deliveryInfo/targetUri": {"info_job_data": {"deliveryInfo": {"targetUri": inside}}},
    }
    async with scene(world) as here:
        client = world.anonymous({"Authorization": f"Bearer {TOKEN}"})
        for pointer, changed in given.items():
            job = {"info_job_identity": "x", "info_type_identity": POSTURE, "target_uri": here.consumer.url, **changed}
            refused = check_problem(await client.post("/ics/info-jobs", json=job), 422, "address-not-allowed")
            assert [error["pointer"] for error in refused["errors"]] == [pointer]


# Delivery


async def test_postures_are_delivered_as_cloud_events_of_the_verdicts_and_pilots_asked_for(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("failing", verdicts=["fail"], pilots=["lab"])
        await here.release(operator, "pass", pilot="lab")
        await here.release(operator, "fail", pilot="field")
        release = await here.release(operator, "fail", pilot="lab")
        (event,) = await here.deliver()
        assert (await told(operator))["jobs"][0]["counts"] == {
            "owed": 1,
            "delivered": 1,
            "failed_tries": 0,
            "dropped": 0,
        }
    assert (event["type"], event["subject"]) == ("privacy.posture", release)
    assert (event["data"]["verdict"], event["data"]["after"]["k"]) == ("fail", 2)
    assert "before" not in event["data"]
    assert here.consumer.taken[0].headers["content-type"] == "application/json"


async def test_history_is_delivered_to_who_asks_for_it_and_once(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        earlier = [await here.release(operator, name=str(number)) for number in range(2)]
        await here.ask("new")
        await here.ask("all", includeHistory=True)
        events = await here.deliver()
        assert sorted(event["subject"] for event in events) == earlier
        await here.registrar.turn()
        assert len(await here.deliver()) == 2
        await here.drop("all")
        await here.ask("all", includeHistory=True)
        assert len(await here.deliver()) == 4, "a job that was ended and made again asks again"


async def test_profiles_go_by_reference_to_their_recipient_and_only_of_a_pass(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("profiles", PROFILES)
        release = await here.release(operator)
        await here.release(operator, "fail")
        await here.release(operator, recipient="rival")
        await here.release(operator, recipient=None)
        (event,) = await here.deliver()
        outcome = (await world.archive.release("acme", release)).outcome
    assert event["type"] == "anonymised.profiles"
    assert event["data"] == {
        "release": release,
        "records_url": f"{BASE}/releases/{release}/records",
        "sha256": outcome.files["parquet"].sha256,  # type: ignore[union-attr]
    }


async def test_records_go_inline_with_the_columns_and_roles_asked_for(
    world: World, operator: httpx.AsyncClient
) -> None:
    rows = b'{"role":"AMF","ip":"192.0.2.0/24","n":1}\n{"role":"UE","ip":"192.0.2.0/24","n":2}\n'
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("as-json", PROFILES, format="json", roles=["UE"], columns=["role", "n"])
        await here.ask("as-lines", PROFILES, format="ndjson")
        world.released_lines = rows
        await here.release(operator)
        events = {
            frozenset(event["data"]) - {"release", "records_url", "sha256"}: event["data"]
            for event in await here.deliver()
        }
    assert events[frozenset({"records"})]["records"] == [{"role": "UE", "n": 2}]
    lines = events[frozenset({"ndjson"})]["ndjson"].splitlines()
    assert [json.loads(line) for line in lines] == [json.loads(line) for line in rows.splitlines()]


async def test_what_was_withdrawn_before_it_was_delivered_does_not_leave(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("profiles", PROFILES, format="json")
        release = await here.release(operator)
        await operator.delete(f"/releases/{release}")
        assert await here.deliver() == []
        assert (await told(operator))["jobs"][0]["counts"]["dropped"] == 1


async def test_a_release_that_cannot_be_read_stays_owed_and_the_rest_of_its_bundle_is_sent(
    world: World, operator: httpx.AsyncClient
) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("buffered", bufferTimeout={"maxSize": 2, "maxTimeMilliseconds": 10_000})
        broken, whole = [await here.release(operator, name=name) for name in "ab"]
        path = world.folder / "releases/facts" / broken / "outcome"
        written = path.read_bytes()
        path.write_bytes(written[:3] + b"?" + written[4:])
        assert [[event["subject"] for event in body] for body in await here.deliver()] == [[whole]]
        path.write_bytes(written)
        bodies = await here.deliver(61)
        assert [[event["subject"] for event in body] for body in bodies] == [[whole], [broken]]


async def test_a_job_that_cannot_be_read_keeps_no_other_from_being_taken_in(world: World) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("broken")
        await here.registrar.turn()
        (folder,) = (world.folder / "releases/subscriptions").iterdir()
        (folder / "000000001").write_bytes(b"?")
        (folder.parent.parent / "subscribers" / ".nfs000000001").write_bytes(b"")
        await here.ask("whole")
        await here.registrar.turn()
        assert await here.known() == ["whole"]


async def test_a_buffer_gathers_items_into_an_array(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("buffered", bufferTimeout={"maxSize": 2, "maxTimeMilliseconds": 10_000})
        releases = [await here.release(operator, name=str(number)) for number in range(3)]
        bodies = await here.deliver()
        assert [[event["subject"] for event in body] for body in bodies] == [releases[:2]]
        bodies = await here.deliver(11)
        assert [event["subject"] for event in bodies[1]] == releases[2:]


async def test_a_consumer_is_tried_three_times_five_seconds_apart(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("away")
        here.consumer.turns = [500, 503, 500]
        await here.release(operator)
        assert [len(await here.deliver(later)) for later in (0, 1, 4.5, 5.5, 60)] == [1, 1, 2, 3, 3]
        counts = (await told(operator))["jobs"][0]["counts"]
        assert counts == {"owed": 1, "delivered": 0, "failed_tries": 3, "dropped": 0}
        assert await NoticeArchive(world.archive).owed() == {}


async def test_a_slow_consumer_costs_its_own_items_only(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here, receiver() as slow:
        slow.delay = 2.0
        await here.registrar.turn()
        await here.ask("slow", deliveryInfo={"targetUri": slow.url})
        await here.ask("quick")
        await here.release(operator)
        assert len(await here.deliver()) == 1
        counts = {job["id"]: job["counts"] for job in (await told(operator))["jobs"]}
    assert (counts["slow"]["failed_tries"], counts["quick"]["delivered"]) == (1, 1)


async def test_what_is_owed_to_a_job_that_ended_is_dropped(world: World, operator: httpx.AsyncClient) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("one")
        await here.release(operator)
        await here.drop("one")
        assert await here.deliver() == []
        assert await NoticeArchive(world.archive).owed() == {}


# The audit log

AWAY = Unavailable("store-unavailable", "The artifact store did not answer: try again.")


async def noted(world: World, *operations: str) -> list[tuple[Any, ...]]:
    """What the log tells of these operations, oldest first."""
    entries = sorted(await world.audit.every("acme"), key=lambda one: one.number)
    return [(one.phase, one.role, one.object, one.status) for one in entries if one.operation in operations]


async def test_jobs_that_the_coordinator_starts_and_stops_are_audited_and_those_of_strangers_are_not(
    world: World,
) -> None:
    async with scene(world) as here:
        identity, job = subscription_id("acme", "one"), {"info_job_identity": "one", "info_type_identity": "other"}
        ours = world.anonymous({"Authorization": f"Bearer {TOKEN}"})
        assert (await world.anonymous().post("/ics/info-jobs", json=job)).status_code == 401
        assert (await ours.post("/ics/info-jobs", json=job)).status_code == 422
        job |= {"info_type_identity": POSTURE, "target_uri": here.consumer.url}
        assert (await ours.post("/ics/info-jobs", json=job)).status_code == 200
        assert (await ours.get("/ics/health")).status_code == 200
        assert (await ours.delete("/ics/info-jobs/one")).status_code == 200
        asked, refused, again, taken, ending, ended = await noted(world, "putInfoJob", "deleteInfoJob", "icsHealth")
    who = "coordinator"
    assert asked == again == ("asked", who, None, None)
    assert (refused, taken) == (("answered", who, None, 422), ("answered", who, identity, 200))
    assert (ending[0], ended) == ("asked", ("answered", who, identity, 200))


async def test_jobs_found_in_the_list_are_audited_before_they_are_taken_in_or_ended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(world, token=None) as here:
        identity = subscription_id("acme", "one")
        await here.registrar.turn()
        await here.ask("one")
        with monkeypatch.context() as closed:
            refuse_entries(world, closed, AWAY)
            await here.registrar.turn()
            assert await here.known() == []
        for _ in range(2):
            await here.registrar.turn()
        assert await here.known() == ["one"]
        assert await noted(world, "putInfoJob") == [("asked", "coordinator", identity, None)], "not at every look"
        await here.drop("one")
        here.clock.by = timedelta(seconds=31)
        await here.registrar.turn()
        assert await here.known() == []
        assert await noted(world, "deleteInfoJob") == [("asked", "coordinator", identity, None)]


async def test_records_are_audited_before_they_leave_to_a_consumer(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(world) as here:
        await here.registrar.turn()
        await here.ask("inline", PROFILES, format="json")
        await here.ask("reference", PROFILES)
        release = await here.release(operator)
        with monkeypatch.context() as closed:
            refuse_entries(world, closed, AWAY)
            assert ["records" in event["data"] for event in await here.deliver()] == [False]
        assert sorted("records" in event["data"] for event in await here.deliver(6)) == [False, True]
        assert await noted(world, "deliverRecords") == [("asked", "consumer", release, None)]
