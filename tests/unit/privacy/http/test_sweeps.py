"""Sweeps and further adversaries over the API: taken in once, watched, answered, cancelled."""

import json
from typing import Any

import httpx
import pytest

from pratique_privacy.studies.archive import StudyArchive
from pratique_shared.contracts.studies import Members, StudyDone, SweepWork
from pratique_shared.runtime.clock import stamp
from tests.unit.privacy.http.world import PCAP, RELEASE, World, check_problem

ANSWER: dict[str, Any] = {"configurations": [], "releases": [{"source": "cap_1", "configuration": "C4", "k": 3}]}


async def captured(client: httpx.AsyncClient, pilot: str = "lab") -> str:
    identity: str = (await client.post("/captures", params={"pilot": pilot}, content=PCAP)).json()["id"]
    return identity


async def answered(world: World, study: str, answer: dict[str, Any]) -> None:
    """Write what the worker writes of a study that is done."""
    studies = StudyArchive(world.archive)
    blob = await studies.room.put_bytes(f"blobs/{study}/result", json.dumps(answer).encode())
    await studies.conclude(study, StudyDone(result=blob, at=stamp()))


async def test_a_sweep_is_taken_in_with_its_policies_looked_up(world: World, operator: httpx.AsyncClient) -> None:
    first, second = await captured(operator), await captured(operator, "field")
    own = {"name": "mine", "policy": {"steps": [{"column": "ip", "op": "ip_prefix"}]}}
    own["attributes"] = {"quasi_identifiers": ["ip"], "sensitive": ["role"]}
    body = {"sources": [first, second], "groups": {"g": [second]}, "configurations": ["C4", own], "seed": 9}
    taken = await operator.post("/sweeps", json=body)
    assert (taken.status_code, taken.json()["status"]) == (202, "queued")
    identity = taken.json()["id"]
    assert taken.headers["location"] == f"/sweeps/{identity}"
    assert ("privacy", "advance", identity) in world.bell.rung
    facts = await StudyArchive(world.archive).any(identity)
    assert facts is not None
    work = facts.requested.work
    assert isinstance(work, SweepWork)
    assert [(one.id, one.pilot, one.group) for one in work.sources] == [(first, "lab", None), (second, "field", "g")]
    assert [(one.name, one.built_in) for one in work.configurations] == [("C4", "C4"), ("mine", None)]
    assert (work.seed, work.attacks.seed) == (9, 9)
    asked = (await operator.get(f"/sweeps/{identity}")).json()["asked"]
    assert (asked["sources"], asked["groups"]) == ([first, second], {"g": [second]})
    assert (asked["configurations"], asked["seed"]) == (["C4", "mine"], 9)
    listed = (await operator.get("/sweeps")).json()["data"]
    assert [(one["id"], one["asked"]) for one in listed] == [(identity, None)]


async def test_the_same_key_makes_one_sweep(operator: httpx.AsyncClient) -> None:
    body = {"sources": [await captured(operator)], "configurations": ["C4"]}
    once = await operator.post("/sweeps", json=body, headers={"Idempotency-Key": "k"})
    again = await operator.post("/sweeps", json=body, headers={"Idempotency-Key": "k"})
    assert once.json()["id"] == again.json()["id"]
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_completed_sweep_shows_its_answer_and_its_rows(world: World, operator: httpx.AsyncClient) -> None:
    body = {"sources": [await captured(operator)], "configurations": ["C4"]}
    identity = (await operator.post("/sweeps", json=body)).json()["id"]
    check_problem(await operator.get(f"/sweeps/{identity}/results"), 409, "not-finished")
    await answered(world, identity, ANSWER)
    shown = await operator.get(f"/sweeps/{identity}")
    assert (shown.json()["status"], shown.json()["releases"]) == ("completed", ANSWER["releases"])
    same = await operator.get(f"/sweeps/{identity}", headers={"If-None-Match": shown.headers["etag"]})
    assert same.status_code == 304
    rows = await operator.get(f"/sweeps/{identity}/results")
    assert rows.json()["data"] == ANSWER["releases"]
    csv = await operator.get(f"/sweeps/{identity}/results", params={"format": "csv"})
    assert (csv.status_code, csv.headers["content-type"].split(";")[0]) == (200, "text/csv")


async def test_a_cancelled_sweep_cancels_its_releases(world: World, operator: httpx.AsyncClient) -> None:
    body = {"sources": [await captured(operator)], "configurations": ["C4"]}
    identity = (await operator.post("/sweeps", json=body)).json()["id"]
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.archive.releases.commit(identity, "plan", Members(releases=(release,), at=stamp()))
    stopped = await operator.post(f"/sweeps/{identity}/cancel")
    assert (stopped.status_code, stopped.json()["status"]) == (202, "cancelled")
    assert (await operator.get(f"/releases/{release}")).json()["status"] == "cancelled"


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"configurations": ["C4", "C4"]}, 422, "body-invalid"),
        ({"configurations": ["none"]}, 422, "policy-unknown"),
        ({"configurations": [{"name": "x", "policy": {"steps": []}}]}, 422, "attributes-missing"),
        ({"groups": {"g": ["cap_00000000000000000000000000"]}}, 422, "body-invalid"),
        ({"sources": ["cap_00000000000000000000000000"]}, 404, "source-not-found"),
        ({"sources": []}, 422, "body-invalid"),
    ],
)
async def test_a_sweep_that_cannot_stand_is_refused(
    operator: httpx.AsyncClient, changed: dict[str, Any], status: int, code: str
) -> None:
    body = {"sources": [await captured(operator)], "configurations": ["C4"], **changed}
    check_problem(await operator.post("/sweeps", json=body), status, code)


async def test_further_adversaries_belong_to_their_release(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    check_problem(await operator.post(f"/releases/{release}/attacks", json={}), 409, "not-finished")
    await world.concluded(release)
    taken = await operator.post(f"/releases/{release}/attacks", json={"linkage": {"accuracy": 0.9}})
    assert taken.status_code == 202
    attack = taken.json()["id"]
    assert [one["id"] for one in (await operator.get(f"/releases/{release}/attacks")).json()["data"]] == [attack]
    await answered(world, attack, {"attacks": {"exact_qi": 0.5}})
    shown = await operator.get(f"/releases/{release}/attacks/{attack}")
    assert shown.json()["attacks"] == {"exact_qi": 0.5}
    other = (await operator.post("/releases", json={**RELEASE, "name": "another"})).json()["id"]
    check_problem(await operator.get(f"/releases/{other}/attacks/{attack}"), 404, "not-found")


async def test_a_list_is_not_called_too_short_for_an_entry_that_is_wrong(operator: httpx.AsyncClient) -> None:
    def asked(*configurations: object) -> dict[str, object]:
        return {"sources": ["cap_01jx3v0000000000000000000a"], "configurations": configurations}

    wrong = await operator.post("/sweeps", json=asked({"name": "a", "policy": {"steps": [{"op": "nothing"}]}}))
    assert [error["pointer"] for error in wrong.json()["errors"]] == ["/configurations/0/policy/steps/0"]
    none = await operator.post("/sweeps", json=asked())
    assert none.json()["errors"] == [{"pointer": "/configurations", "detail": "must have at least 1 entries"}]
