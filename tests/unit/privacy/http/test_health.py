"""Readiness: what is missing is named."""

import pytest

from pratique_shared.contracts.problems import Unavailable
from tests.unit.privacy.http.world import World


async def test_readiness_names_what_is_missing(world: World) -> None:
    client = world.anonymous()
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "missing": []})
    world.bell.workers -= {"attack"}
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["missing"]) == (503, ["worker:attack"])
    assert answer.headers["retry-after"] == "1"
    assert (await client.get("/livez")).status_code == 200
    assert (await client.get("/version")).json() == {"name": "pratique", "version": "0.1.0"}


async def test_a_broken_room_of_keys_is_named(world: World) -> None:
    client = world.anonymous()
    assert (await client.get("/readyz")).status_code == 200
    for path in (world.folder / "keys").rglob("*"):
        if path.is_file():
            path.write_bytes(b"not what was sealed")
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["missing"]) == (503, ["keys"])


async def test_a_room_of_keys_that_does_not_answer_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent() -> None:
        raise Unavailable("store-unavailable", "The store does not answer.")

    monkeypatch.setattr(world.keys, "answers", silent)
    answer = await world.anonymous().get("/readyz")
    assert (answer.status_code, answer.json()["missing"]) == (503, ["keys"])
