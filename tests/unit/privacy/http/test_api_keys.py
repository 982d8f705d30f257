"""API keys: shown once, held to their scopes, and known by the day of their last use."""

from typing import Any

import httpx
import pytest

from pratique_privacy.http.access import ROLES
from pratique_privacy.http.app import operations
from pratique_privacy.http.scopes import GROUPS, known_scopes, reach, within
from pratique_shared.contracts.problems import StoreFull
from pratique_shared.runtime.clock import stamp
from tests.unit.privacy.http.world import PCAP, RELEASE, World, check_problem


async def with_scopes(
    world: World, admin: httpx.AsyncClient, *scopes: str, role: str = "operator"
) -> httpx.AsyncClient:
    made = await admin.post("/api-keys", json={"role": role, "scopes": scopes})
    assert made.status_code == 201, made.text
    assert made.json()["scopes"] == list(scopes)
    return world.anonymous({"Authorization": f"Bearer {made.json()['key']}"})


async def test_a_key_with_scopes_does_what_they_reach_and_nothing_else(world: World, admin: httpx.AsyncClient) -> None:
    client = await with_scopes(world, admin, "captures", "releases:read", "createRelease")
    assert (await client.post("/captures", content=PCAP)).status_code == 202
    assert (await client.get("/captures")).status_code == 200
    release = (await client.post("/releases", json=RELEASE)).json()["id"]
    assert (await client.get(f"/releases/{release}")).status_code == 200
    assert (await client.get("/me")).json()["scopes"] == ["captures", "releases:read", "createRelease"]
    for method, path in (("POST", f"/releases/{release}/cancel"), ("GET", "/datasets"), ("GET", "/policies")):
        check_problem(await client.request(method, path), 403, "scope-forbidden")


async def test_scopes_widen_no_role(world: World, admin: httpx.AsyncClient) -> None:
    client = await with_scopes(world, admin, "captures", "releases:read", role="auditor")
    check_problem(await client.get("/captures"), 403, "role-forbidden")
    assert (await client.get("/releases")).status_code == 200


@pytest.mark.parametrize("scopes", [["captures", "everything"], ["createRelease:read"], ["deleteEverything"]])
async def test_a_scope_that_nobody_knows_is_refused(admin: httpx.AsyncClient, scopes: list[str]) -> None:
    answer = await admin.post("/api-keys", json={"role": "operator", "scopes": scopes})
    problem = check_problem(answer, 422, "scope-unknown")
    assert problem["errors"][0]["pointer"] == f"/scopes/{len(scopes) - 1}"
    assert scopes[-1] not in answer.text


async def test_no_scopes_at_all_are_a_mistake(admin: httpx.AsyncClient) -> None:
    check_problem(await admin.post("/api-keys", json={"role": "operator", "scopes": []}), 422, "body-invalid")


async def test_a_key_with_scopes_makes_no_key_that_reaches_further(world: World, admin: httpx.AsyncClient) -> None:
    client = await with_scopes(world, admin, "createApiKey", "releases", role="admin")

    async def made(**further: object) -> int:
        return (await client.post("/api-keys", json={"role": "admin", **further})).status_code

    assert await made(scopes=["releases:read", "getPosture"]) == 201
    for wider in ({}, {"scopes": None}, {"scopes": ["keys"]}, {"scopes": ["releases", "captures:read"]}):
        answer = await client.post("/api-keys", json={"role": "admin", **wider})
        check_problem(answer, 403, "scope-exceeded")
    assert len((await admin.get("/api-keys")).json()["data"]) == 3


def test_the_groups_reach_every_operation_and_no_scope_is_needed_to_be_told_who_one_is() -> None:
    routes = list(operations())
    assert reach(routes, GROUPS.values()) == set(ROLES)
    assert reach(routes, []) == {"whoAmI", "createTicket"}
    read = reach(routes, [f"{group}:read" for group in GROUPS.values()])
    got = {route.operation_id for route in routes if route.methods == {"GET"}} & set(ROLES)
    assert read == got | {"createTicket"}
    assert known_scopes(routes) >= set(ROLES) | set(GROUPS.values())
    assert all(within(route, None) for route in routes)


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
async def test_an_end_outside_the_calendar_is_refused(admin: httpx.AsyncClient, moment: str) -> None:
    answer = await admin.post("/api-keys", json={"role": "operator", "expires_at": moment})
    found = check_problem(answer, 422, "body-invalid")
    assert [error["pointer"] for error in found["errors"]] == ["/expires_at"]


async def test_a_list_shows_the_day_of_the_last_use_and_no_secret(world: World, admin: httpx.AsyncClient) -> None:
    made: dict[str, Any] = (await admin.post("/api-keys", json={"role": "operator", "name": "pipeline"})).json()
    unused = next(key for key in (await admin.get("/api-keys")).json()["data"] if key["id"] == made["id"])
    assert (unused["last_used"], unused["revoked"]) == (None, False)
    for _ in range(3):
        await world.anonymous({"Authorization": f"Bearer {made['key']}"}).get("/me")
    shown = await admin.get("/api-keys")
    used = next(key for key in shown.json()["data"] if key["id"] == made["id"])
    assert used["last_used"] == stamp()[:10]
    assert made["key"].partition(".")[2] not in shown.text
    stored = b"".join(path.read_bytes() for path in world.folder.rglob("*") if path.is_file())
    assert made["key"].partition(".")[2].encode() not in stored


async def test_a_full_store_turns_no_reader_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await world.client("operator")

    async def full(_key: str, _data: bytes) -> bool:
        raise StoreFull("store-full", "")

    monkeypatch.setattr(world.keys._room, "create", full)
    assert (await client.get("/me")).status_code == 200
