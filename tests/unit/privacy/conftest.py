"""The world that the tests of the API share."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.unit.privacy.http.world import World, build_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = build_world(tmp_path)
    yield made
    for client in made.clients:
        await client.aclose()


@pytest.fixture
async def operator(world: World) -> httpx.AsyncClient:
    return await world.client("operator")


@pytest.fixture
async def admin(world: World) -> httpx.AsyncClient:
    return await world.client("admin")
