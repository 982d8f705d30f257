"""The clients: Pratique's public API as Python calls that block, or that are awaited."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from pratique.access import Access, find_access
from pratique.plan import Plan, Retry
from pratique.transport import AsyncTransport, Transport
from pratique.verb import Awaiting, Blocking
from pratique.verbs.files import Files
from pratique.verbs.releases import Releases
from pratique.verbs.requiring import Requiring
from pratique.verbs.sources import Sources
from pratique.verbs.studies import Studies
from pratique.verbs.tenancy import Tenancy

# A `Prefer: wait` may hold an answer back for 30 s, and a large upload is made durable before it is answered.
TIMEOUTS = httpx.Timeout(connect=5.0, read=75.0, write=75.0, pool=5.0)
T = TypeVar("T")


class Verbs(Sources, Releases, Requiring, Files, Studies, Tenancy):
    """Everything that both clients can be asked."""

    url: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


class Client(Verbs, Blocking):
    """One tenant's view of a Pratique service.

    Address and key are found as `pratique.access.find_access` says. Each call raises a PratiqueError and nothing else,
    except OSError for files of this machine. Requests that met a busy or restarting service are sent again, with the
    same Idempotency-Key where they create something, so that nothing is made twice.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        key_file: str | Path | None = None,
        retry: Retry | None = None,
        transport: httpx.BaseTransport | None = None,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        access = find_access(url, key, key_file, environ)
        self.url = access.url
        http = httpx.Client(transport=transport, **_settings(access))
        self._transport = Transport(http, retry or Retry(), sleep)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.http.close()

    def perform(self, plan: Plan[T]) -> T:
        """Perform a plan; every verb comes through here."""
        return self._transport.perform(plan)


class AsyncClient(Verbs, Awaiting):
    """The same verbs, awaited; lists are walked with `async for`. Files are written in the event loop, piece by piece.

    Opened by `async with`, and used in one event loop.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        key_file: str | Path | None = None,
        retry: Retry | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        access = find_access(url, key, key_file, environ)
        self.url = access.url
        http = httpx.AsyncClient(transport=transport, **_settings(access))
        self._transport = AsyncTransport(http, retry or Retry(), sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.http.aclose()

    async def perform(self, plan: Plan[T]) -> T:
        """Perform a plan; every verb comes through here."""
        return await self._transport.perform(plan)


def _settings(access: Access) -> dict[str, Any]:
    return {
        "base_url": access.url,
        "headers": {
            "Authorization": f"Bearer {access.key}",
            "Accept": "application/json",
            "User-Agent": f"pratique-python/{version('pratique')}",
        },
        "timeout": TIMEOUTS,
        # What is meant for this machine, the key above all, is not handed to a proxy of the environment.
        "trust_env": not access.loopback,
    }
