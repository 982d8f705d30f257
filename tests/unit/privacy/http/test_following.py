"""Every kind of study can be watched and stopped."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from pratique_privacy.studies.archive import StudyArchive
from pratique_shared.contracts.facts import CLOSED
from tests.unit.privacy.http.test_sweeps import answered, captured
from tests.unit.privacy.http.world import RELEASE, ROWS, World, check_problem

Body = Callable[[str], dict[str, Any]]
STUDIES: dict[str, tuple[str, Body]] = {
    "/sweeps": ("/sweeps", lambda capture: {"sources": [capture], "configurations": ["C4"]}),
    "/utility": ("/utility", lambda capture: {"sources": [capture]}),
    "/recommendations": (
        "/recommendations",
        lambda _: {
            "source": {"records": ROWS},
            "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["protocols"]},
            "policy": {"steps": []},
        },
    ),
    "/profiles": ("/profiles/generalise", lambda capture: {"capture": capture, "gamma": 0.1}),
    "attacks": ("attacks", lambda _: {"linkage": {"accuracy": 0.9}}),
}


@pytest.fixture(params=STUDIES)
async def study(request: pytest.FixtureRequest, world: World, operator: httpx.AsyncClient) -> str:
    """Where a fresh study of each kind is."""
    path, body = STUDIES[request.param]
    where: str = request.param
    if where == "attacks":
        release = (await operator.post("/releases", json=RELEASE)).json()["id"]
        await world.concluded(release)
        path = where = f"/releases/{release}/attacks"
    capture = await captured(operator)
    await world.ready_capture(capture)
    taken = await operator.post(path, json=body(capture))
    assert taken.status_code == 202, taken.text
    assert taken.headers["retry-after"] == "1"
    assert taken.headers["location"] == f"{where}/{taken.json()['id']}"
    return str(taken.headers["location"])


async def test_a_study_is_stopped_once_and_its_outcome_stays(
    world: World, operator: httpx.AsyncClient, study: str
) -> None:
    identity = study.rsplit("/", 1)[1]
    stopped = await operator.post(f"{study}/cancel")
    assert (stopped.status_code, stopped.json()["status"], stopped.headers["location"]) == (202, "cancelled", study)
    assert stopped.headers["retry-after"] == "1"
    assert ("privacy", "advance", identity) in world.bell.rung
    assert CLOSED in await world.archive.matrices.names(identity)
    again = await operator.post(f"{study}/cancel")
    assert again.json() == stopped.json()
    assert (await operator.get(study)).json()["status"] == "cancelled"


async def test_a_study_that_is_done_is_not_stopped(world: World, operator: httpx.AsyncClient, study: str) -> None:
    await answered(world, study.rsplit("/", 1)[1], {"found": 1})
    assert (await operator.post(f"{study}/cancel")).json()["status"] == "completed"


async def test_a_study_is_watched_until_its_outcome_without_its_answer(
    world: World, operator: httpx.AsyncClient, study: str
) -> None:
    await answered(world, study.rsplit("/", 1)[1], {"found": 1})
    watched = await operator.get(f"{study}/events")
    assert watched.headers["content-type"].startswith("text/event-stream")
    (event,) = [part for part in watched.text.split("\n\n") if part]
    assert event.startswith("event: study\ndata: ")
    shown = json.loads(event.split("data: ")[1])
    assert (shown["status"], "found" in shown) == ("completed", False)
    again = await operator.get(study, headers={"If-None-Match": (await operator.get(study)).headers["etag"]})
    assert again.status_code == 304


async def test_a_study_of_another_tenant_or_kind_is_not_there(world: World, study: str) -> None:
    stranger = await world.client("admin", tenant="other")
    check_problem(await stranger.get(f"{study}/events"), 404, "not-found")
    check_problem(await stranger.post(f"{study}/cancel"), 404, "not-found")
    facts = await StudyArchive(world.archive).any(study.rsplit("/", 1)[1])
    assert facts is not None
    assert facts.outcome is None


async def test_the_adversaries_of_a_release_are_listed_by_page(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    path = f"/releases/{release}/attacks"
    made = [(await operator.post(path, json={"seed": seed})).json()["id"] for seed in range(3)]
    first = (await operator.get(f"{path}?limit=2")).json()
    assert ([one["id"] for one in first["data"]], first["next"]) == ([made[2], made[1]], made[1])
    rest = (await operator.get(f"{path}?after={first['next']}")).json()
    assert ([one["id"] for one in rest["data"]], rest["next"]) == ([made[0]], None)
    check_problem(await operator.get(f"{path}?after=rel_{'0' * 26}"), 422, "cursor-invalid")
