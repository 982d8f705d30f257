"""The plan: what a call does, step by step, as a generator that does nothing itself.

A transport performs the steps, blocking or not, and sends back what came of each; so every rule of this client, such as
when to try again, is written once for both.
"""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias, TypeVar

import httpx

from pratique.errors import PratiqueError, Refused, Unreachable
from pratique.exchange import Exchange, Head

Answer = TypeVar("Answer")

# 502 and 504 are what a proxy says while the service behind it starts anew.
RETRIED = frozenset({429, 502, 503, 504})
REDIRECTS = range(300, 400)


@dataclass(frozen=True)
class Call:
    """Send a request until it is answered or the retries are used up."""

    exchange: Exchange[Any]


@dataclass(frozen=True)
class Attempt:
    """Send a request once."""

    exchange: Exchange[Any]


@dataclass(frozen=True)
class Pause:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True)
class Work:
    """Do something on this side that takes a while, such as reading a whole file."""

    do: Callable[[], Any]


Step: TypeAlias = Call | Attempt | Pause | Work
Plan: TypeAlias = Generator[Step, Any, Answer]

# What a step may fail with: it is thrown into the plan, which may know what to do.
FAILURES = (PratiqueError, httpx.RequestError, OSError)


@dataclass(frozen=True)
class Retry:
    """How often and how long to try again: pauses double from the first to the longest and stay within a budget."""

    attempts: int = 5
    first_pause: float = 0.25
    longest_pause: float = 8.0
    budget: float = 60.0  # seconds of pauses in one call; a longer Retry-After is told to the caller instead

    def pause(self, attempt: int, told: float | None, share: float) -> float:
        """Seconds to wait after failed attempt number `attempt` (1 is the first).

        A Retry-After is a lower bound (RFC 9110, 10.2.3). Otherwise half of the pause is fixed and half is spread by
        `share` in [0, 1), so that clients that failed together do not come back together.
        """
        full = min(self.first_pause * 2.0 ** (attempt - 1), self.longest_pause)
        return max(told or 0.0, full * (1 + share) / 2)


def call(exchange: Exchange[Answer]) -> Plan[Answer]:
    """Send one request and return what its answer means."""
    answer: Answer = yield Call(exchange)
    return answer


def retried(exchange: Exchange[Answer], retry: Retry, share: Callable[[], float], where: str) -> Plan[Answer]:
    """Send a request, again where it met a busy or restarting service; raises Refused or Unreachable at the end."""
    paused, attempt = 0.0, 0
    try:
        while True:
            attempt += 1
            failure: PratiqueError
            try:
                answer: Answer = yield Attempt(exchange)
            except httpx.RequestError as error:
                failure, told = unanswered(error, where), None
            except Refused as refused:
                if refused.status not in RETRIED:
                    raise
                failure, told = refused, refused.retry_after
            else:
                return answer
            pause = retry.pause(attempt, told, share())
            if attempt >= retry.attempts or paused + pause > retry.budget:
                raise failure
            yield Pause(pause)
            paused += pause
    finally:
        exchange.close()


def refusal(head: Head, body: bytes) -> Refused:
    """Turn an answer that says no into an error; the text of a foreign page is never repeated."""
    if head.status in REDIRECTS:
        return Refused(head.status, "redirected", "The address answers with a redirect, which is not followed.")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    return Refused.from_problem(head.status, document, retry_after(head.headers.get("retry-after")))


def retry_after(value: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110, 10.2.3); None if absent or unreadable, never negative."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((moment.astimezone(UTC) - now()).total_seconds(), 0.0)


def unanswered(error: httpx.RequestError, url: str) -> Unreachable:
    """Say in one sentence why no answer came."""
    where = url.rstrip("/")
    match error:
        case httpx.ConnectTimeout() | httpx.ConnectError():
            return Unreachable("no-connection", f"No connection to {where}.")
        case httpx.TimeoutException():
            return Unreachable("timed-out", f"{where} took the request and did not answer in time.")
        case httpx.DecodingError():
            return Unreachable("not-pratique", f"The answer of {where} cannot be decoded.")
        case _:
            return Unreachable("cut-off", f"The connection to {where} broke off.")
