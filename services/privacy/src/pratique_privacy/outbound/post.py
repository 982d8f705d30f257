"""Posts: a body sent to an address of a user's, pinned to what was checked, without redirects, within limits."""

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import ip_address
from socket import SOCK_STREAM, gaierror

import httpx

from pratique_privacy.outbound.addresses import Address, Allowed, Refused, Target, not_allowed, target_of

CONNECT, WHOLE = 5.0, 15.0  # seconds for a connection, and for an answer from the first look at the name on
MOST_READ = 64 << 10  # bytes of an answer that are read before the connection is dropped

Resolve = Callable[[str, int], Awaitable[list[Address]]]


@dataclass(frozen=True)
class Answered:
    """What came back: a status, or the code of what stood in the way; never a byte of the answer."""

    status: int | None
    error: str | None
    milliseconds: int

    @property
    def accepted(self) -> bool:
        """Whether the receiver took it."""
        return self.status is not None and 200 <= self.status < 300


class Outbound:
    """Sends bodies out. The address that was checked is the one that is connected to: no second look at the name."""

    def __init__(
        self,
        allowed: Allowed,
        *,
        agent: str = "pratique",
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        whole: float = WHOLE,
    ) -> None:
        self._allowed, self._resolve, self._whole = allowed, resolve or look_up, whole
        # A connection that is kept could be lent to another name of the same address.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(verify=tls or ssl.create_default_context(), limits=limits),
            headers={"User-Agent": agent, "Accept-Encoding": "identity"},
            timeout=httpx.Timeout(whole, connect=CONNECT),
            follow_redirects=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answered:
        """Post a body; whatever happens is told by the answer."""
        begun = time.monotonic()
        status, error = None, None
        try:
            async with asyncio.timeout(self._whole):
                status = await self._posted(url, body, headers)
        except Refused as refused:
            error = refused.code
        except (TimeoutError, httpx.TimeoutException):
            error = "timed-out"
        except httpx.ConnectError as failed:
            error = "tls-refused" if _of_tls(failed) else "no-connection"
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
            error = "cut-off"
        return Answered(status, error, round(1000 * (time.monotonic() - begun)))

    async def _posted(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        target = target_of(url, self._allowed)
        address = await self._address(target)
        host = f"[{address}]" if address.version == 6 else str(address)
        request = self._client.build_request(
            "POST",
            f"{target.scheme}://{host}:{target.port}{target.resource}",
            content=body,
            headers={**headers, "Host": target.authority},
            extensions={"sni_hostname": target.host},  # the name that the certificate is held against
        )
        async with AsyncExitStack() as stack:
            response = await self._client.send(request, stream=True)
            stack.push_async_callback(response.aclose)
            seen = 0
            async for piece in response.aiter_raw():
                seen += len(piece)
                if seen > MOST_READ:
                    break
            return response.status_code

    async def _address(self, target: Target) -> Address:
        """Return the first address of a name that may be reached; raises `Refused`."""
        found = await self._resolve(target.host, target.port)
        if not found:
            raise Refused("name-unknown", "must be a name that leads to an address")
        for address in found:
            if self._allowed.permits(target, address):
                return address
        raise not_allowed()


async def look_up(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, none where its name leads nowhere."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except (gaierror, UnicodeError):
        return []
    return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def _of_tls(error: BaseException) -> bool:
    """Whether a certificate, or anything else of TLS, was the cause."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
