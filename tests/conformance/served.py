"""The contract world behind a port, for tools that speak HTTP."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from tests.support.contract import furnished
from tests.support.house import free_port

START = 120  # seconds that a busy machine may take to furnish the world


@dataclass(frozen=True)
class Served:
    """Where it answers, and its OpenAPI document."""

    url: str
    document: dict[str, Any]


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve a furnished world in a thread until the block ends."""
    port, ready = free_port(), threading.Event()
    servers: list[uvicorn.Server] = []
    documents: list[dict[str, Any]] = []

    async def serve() -> None:
        world = await furnished(folder)
        documents.append(world.app.openapi())
        servers.append(uvicorn.Server(uvicorn.Config(world.app, port=port, log_config=None, lifespan="off")))
        ready.set()
        await servers[0].serve()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(START), "the world was not furnished in time"
    while not servers[0].started:
        threading.Event().wait(0.05)
    try:
        yield Served(f"http://127.0.0.1:{port}", documents[0])
    finally:
        servers[0].should_exit = True
        thread.join(30)
