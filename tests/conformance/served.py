"""The contract world behind a port, for tools that speak HTTP."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.support.contract import KEY, furnished
from tests.support.house import free_port

START = 200  # seconds that a busy machine may take to furnish the world


class Noted:
    """An app that keeps the statuses that it answered with."""

    def __init__(self, app: ASGIApp, statuses: list[int], bearer: str | None = None) -> None:
        self._app, self._statuses = app, statuses
        self._headers = [] if bearer is None else [(b"authorization", f"Bearer {bearer}".encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._statuses.append(message["status"])
            await send(message)

        await self._app({**scope, "headers": [*scope["headers"], *self._headers]}, receive, noted)


@dataclass(frozen=True)
class Served:
    """Where it answers, and where it answers without a key, for readers that can send none; and with which statuses."""

    url: str
    opened: str
    answered: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # without a key


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve a furnished world in a thread until the block ends."""
    ports, ready = (free_port(), free_port()), threading.Event()
    where = Served(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}")
    servers: list[uvicorn.Server] = []

    async def serve() -> None:
        app = (await furnished(folder)).app
        whole, opened = Noted(app, where.answered), Noted(app, where.statuses, KEY)
        servers.append(uvicorn.Server(uvicorn.Config(whole, port=ports[0], log_config=None, lifespan="off")))
        servers.append(uvicorn.Server(uvicorn.Config(opened, port=ports[1], log_config=None, lifespan="off")))
        ready.set()
        await asyncio.gather(*(server.serve() for server in servers))

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(START), "the world was not furnished in time"
    while not all(server.started for server in servers):
        threading.Event().wait(0.05)
    try:
        yield where
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(30)
