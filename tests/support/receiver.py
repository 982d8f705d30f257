"""A receiver on loopback: takes what is posted, answers as it was told, and remembers."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Taken:
    """One request as it came."""

    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """`turns` are the statuses of the next answers, then 204; `delay` and `extra` are those of every answer."""

    port: int = 0
    turns: list[int] = field(default_factory=list)
    delay: float = 0.0
    extra: bytes = b""
    taken: list[Taken] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:]) if name}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.taken.append(Taken(head[0].split(" ")[1], headers, body))
            await asyncio.sleep(self.delay)
            status = self.turns.pop(0) if self.turns else 204
            length = b"" if self.extra else b"Content-Length: 0\r\n"
            writer.write(b"HTTP/1.1 %d x\r\nConnection: close\r\nLocation: /elsewhere\r\n%b\r\n" % (status, length))
            for _ in range(64 if self.extra else 0):
                writer.write(self.extra)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiver(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Serve on a free port until the block ends."""
    found = Receiver()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=tls)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
