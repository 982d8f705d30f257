"""A scripted service: answers in a row, and a memory of what was asked."""

import base64
import hashlib
from collections.abc import Callable
from typing import TypeAlias

import httpx

from pratique import Client
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


def problem(status: int, code: str, **further: object) -> httpx.Response:
    body = {"type": "about:blank", "title": "No", "status": status, "code": code, "detail": "It is so.", **further}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json"})


def busy(retry_after: str | None = None) -> httpx.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    return httpx.Response(503, json={"code": "not-ready", "detail": "No worker."}, headers=headers)


def repr_digest(content: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


def file_answer(content: bytes, announced: bytes | None = None) -> httpx.Response:
    digest = repr_digest(content if announced is None else announced)
    halves = iter((content[: len(content) // 2], content[len(content) // 2 :]))
    return httpx.Response(200, content=halves, headers={"Repr-Digest": digest, "Content-Length": str(len(content))})
