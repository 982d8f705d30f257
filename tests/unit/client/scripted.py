"""A scripted service: answers in a row, and a memory of what was asked."""

import base64
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeAlias

import httpx

from pratique import AsyncClient, Client
from pratique.plan import Retry

Turn: TypeAlias = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]
URL = "http://127.0.0.1:8080"


class Scripted:
    def __init__(self, *turns: Turn) -> None:
        self.turns = list(turns)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        turn = self.turns.pop(0)
        match turn:
            case httpx.Response():
                return turn
            case Exception():
                raise turn
            case _:
                return turn(request)

    def client(self, retry: Retry | None = None) -> Client:
        return Client(URL, "key", transport=httpx.MockTransport(self), sleep=self.slept.append, environ={}, retry=retry)

    def async_client(self) -> AsyncClient:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        return AsyncClient(URL, "key", transport=httpx.MockTransport(self), sleep=sleep, environ={})


def problem(status: int, code: str, **further: object) -> httpx.Response:
    body = {"type": "about:blank", "title": "No", "status": status, "code": code, "detail": "It is so.", **further}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json"})


def busy(retry_after: str | None = None) -> httpx.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    return httpx.Response(503, json={"code": "not-ready", "detail": "No worker."}, headers=headers)


def repr_digest(content: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in pieces, for either client; what is an exception breaks it off there."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece


def file_answer(content: bytes, announced: bytes | None = None, **headers: str) -> httpx.Response:
    digest = repr_digest(content if announced is None else announced)
    halves = Pieces(content[: len(content) // 2], content[len(content) // 2 :])
    sent = {"Repr-Digest": digest, "Content-Length": str(len(content))}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(200, stream=halves, headers=sent)
