"""Health: whether the process lives, whether the service can work, and which version it is."""

import asyncio
from typing import get_args

from fastapi import APIRouter, Response

from pratique_privacy.http.access import Reach
from pratique_privacy.http.answers import answer, answers
from pratique_privacy.http.problems import RETRY_AFTER
from pratique_privacy.http.services import Services
from pratique_shared.contracts.messages import Queue
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import StoreFull, Unavailable
from pratique_shared.runtime.sealing import BrokenSeal

router = APIRouter(tags=["health"])


class Alive(Contract):
    """The process answers."""

    status: str = "alive"


class Readiness(Contract):
    """Whether everything is there; `missing` names what is not."""

    status: str
    missing: tuple[str, ...] = ()


class Version(Contract):
    """The version of the service."""

    name: str = "pratique"
    version: str


@router.get("/livez", operation_id="livez", response_model=Alive, responses=answers(anonymous=True))
async def livez() -> Response:
    """Say that the process lives."""
    return answer(Alive())


@router.get(
    "/readyz",
    operation_id="readyz",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Something is missing."}},
)
async def readyz(services: Reach) -> Response:
    """Say whether Redis, store, keys and a worker of each kind are there."""
    missing = await _missing(services)
    if missing:
        return answer(Readiness(status="not ready", missing=missing), 503, RETRY_AFTER)
    return answer(Readiness(status="ready"))


async def _missing(services: Services) -> tuple[str, ...]:
    door = services.bell
    queues: tuple[Queue, ...] = get_args(Queue)
    names = ("redis", "store", "keys", *(f"worker:{queue}" for queue in queues))
    there = await asyncio.gather(
        door.alive(), _store_answers(services), _keys_answer(services), *(door.present(queue) for queue in queues)
    )
    return tuple(name for name, is_there in zip(names, there, strict=True) if not is_there)


async def _store_answers(services: Services) -> bool:
    try:
        await services.archive.releases_room.read("readyz")
        await services.archive.captures_room.read("readyz")
    except Unavailable:
        return False
    return True


async def _keys_answer(services: Services) -> bool:
    try:
        await services.keys.answers()
    except (Unavailable, StoreFull, BrokenSeal):
        return False
    return True


@router.get("/version", operation_id="version", response_model=Version, responses=answers(anonymous=True))
async def version(services: Reach) -> Response:
    """Say which version this is."""
    return answer(Version(version=services.version))
