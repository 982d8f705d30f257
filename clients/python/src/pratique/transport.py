"""Transports: the steps of a plan performed over httpx, by a thread that waits or by one that does not."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import closing
from secrets import SystemRandom
from typing import Any, TypeVar, assert_never

import httpx

from pratique.exchange import Ask, Exchange, Head
from pratique.plan import FAILURES, Attempt, Call, Pause, Plan, Retry, Step, Work, refusal, retried

Answer = TypeVar("Answer")


class Transport:
    """Performs plans one after the other."""

    def __init__(
        self,
        http: httpx.Client,
        retry: Retry,
        sleep: Callable[[float], None] = time.sleep,
        share: Callable[[], float] | None = None,
    ) -> None:
        self.http, self._retry, self._sleep = http, retry, sleep
        self._share = share or SystemRandom().random

    def perform(self, plan: Plan[Answer]) -> Answer:
        """Perform a plan and return what it returns."""
        with closing(plan):
            try:
                step = next(plan)
                while True:
                    try:
                        outcome = self._do(step)
                    except FAILURES as failure:
                        step = plan.throw(failure)
                    else:
                        step = plan.send(outcome)
            except StopIteration as done:
                answer: Answer = done.value
                return answer

    def _do(self, step: Step) -> Any:  # noqa: ANN401 - what a step gives is known to the plan
        match step:
            case Call(exchange):
                return self.perform(retried(exchange, self._retry, self._share, str(self.http.base_url)))
            case Attempt(exchange):
                return self._once(exchange)
            case Pause(seconds):
                return self._sleep(seconds)
            case Work(do):
                return do()
            case _:
                assert_never(step)

    def _once(self, exchange: Exchange[Answer]) -> Answer:
        ask = exchange.ask()
        content = None if ask.content is None else ask.content()
        with self.http.stream(
            ask.method, ask.path, params=_params(ask), headers=dict(ask.headers), content=content
        ) as response:
            head = Head(response.status_code, response.headers)
            if not exchange.accepts(head.status):
                raise refusal(head, response.read())
            exchange.begin(head)
            for piece in response.iter_raw() if exchange.raw else response.iter_bytes():
                exchange.take(piece)
            return exchange.end()


class AsyncTransport:
    """Performs plans beside others of the same event loop; files are read and hashed in a thread."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        retry: Retry,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        share: Callable[[], float] | None = None,
    ) -> None:
        self.http, self._retry, self._sleep = http, retry, sleep
        self._share = share or SystemRandom().random

    async def perform(self, plan: Plan[Answer]) -> Answer:
        """Perform a plan and return what it returns."""
        with closing(plan):
            try:
                step = next(plan)
                while True:
                    try:
                        outcome = await self._do(step)
                    except FAILURES as failure:
                        step = plan.throw(failure)
                    else:
                        step = plan.send(outcome)
            except StopIteration as done:
                answer: Answer = done.value
                return answer

    async def _do(self, step: Step) -> Any:  # noqa: ANN401 - what a step gives is known to the plan
        match step:
            case Call(exchange):
                return await self.perform(retried(exchange, self._retry, self._share, str(self.http.base_url)))
            case Attempt(exchange):
                return await self._once(exchange)
            case Pause(seconds):
                return await self._sleep(seconds)
            case Work(do):
                return await asyncio.to_thread(do)
            case _:
                assert_never(step)

    async def _once(self, exchange: Exchange[Answer]) -> Answer:
        ask = exchange.ask()
        content = None if ask.content is None else ask.content()
        sent = content if content is None or isinstance(content, bytes) else _pieces(content)
        async with self.http.stream(
            ask.method, ask.path, params=_params(ask), headers=dict(ask.headers), content=sent
        ) as response:
            head = Head(response.status_code, response.headers)
            if not exchange.accepts(head.status):
                raise refusal(head, await response.aread())
            exchange.begin(head)
            async for piece in response.aiter_raw() if exchange.raw else response.aiter_bytes():
                exchange.take(piece)
            return await asyncio.to_thread(exchange.end)


def _params(ask: Ask) -> httpx.QueryParams:
    return httpx.QueryParams(tuple(ask.query))


async def _pieces(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    pieces = iter(content)
    while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
        yield piece
