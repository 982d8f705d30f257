"""Transport: one request sent until it is answered, and what an answer that says no becomes."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from secrets import SystemRandom
from typing import Any, TypeAlias, TypeVar

import httpx

from pratique.errors import PratiqueError, Refused, Unreachable

# An object as the service gave it: a newer service's further fields arrive without a newer client.
Json: TypeAlias = dict[str, Any]
Params: TypeAlias = Mapping[str, str | int | Iterable[str] | None]
Answer = TypeVar("Answer")

# 502 and 504 are what a proxy says while the service behind it starts anew.
RETRIED = frozenset({429, 502, 503, 504})


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


@dataclass(frozen=True)
class Ask:
    """One request, as often as it must be sent: `content` is called anew for each attempt."""

    method: str
    path: str
    params: Params = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: Callable[[], bytes | Iterable[bytes]] | None = None


class Transport:
    """Sends an Ask over httpx and tries again where the same request cannot do anything twice.

    Every Ask may be repeated: it reads, it replaces, or it carries an Idempotency-Key that stays the same.
    """

    def __init__(
        self,
        http: httpx.Client,
        retry: Retry,
        sleep: Callable[[float], None] = time.sleep,
        share: Callable[[], float] | None = None,
    ) -> None:
        self._http, self._retry, self._sleep = http, retry, sleep
        self._share = share or SystemRandom().random

    def perform(self, ask: Ask, take: Callable[[httpx.Response], Answer]) -> Answer:
        """Send `ask` and hand the open answer to `take`; raises Refused or Unreachable once the retries are used up."""
        paused = 0.0
        attempt = 0
        while True:
            attempt += 1
            failure: PratiqueError
            try:
                return self._once(ask, take)
            except httpx.RequestError as error:
                failure, told = unanswered(error, str(self._http.base_url)), None
            except Refused as refused:
                if refused.status not in RETRIED:
                    raise
                failure, told = refused, refused.retry_after
            pause = self._retry.pause(attempt, told, self._share())
            if attempt >= self._retry.attempts or paused + pause > self._retry.budget:
                raise failure
            self._sleep(pause)
            paused += pause

    def json(self, ask: Ask) -> Json:
        """Send `ask` and return the JSON object in the answer."""
        body = self.perform(ask, _decoded)
        if not isinstance(body, dict):
            raise Unreachable("not-pratique", "The answer is not the JSON object that Pratique gives there.")
        return body

    def values(self, ask: Ask) -> list[Json]:
        """Send `ask` and return the objects in the answer, which is a bare JSON list or a page of one."""
        body = self.perform(ask, _decoded)
        listed = body.get("data") if isinstance(body, dict) else body
        if not isinstance(listed, list):
            raise Unreachable("not-pratique", "The answer is not the list that Pratique gives there.")
        return listed

    def nothing(self, ask: Ask) -> None:
        """Send `ask` and drop the body of the answer."""
        self.perform(ask, lambda _: None)

    def _once(self, ask: Ask, take: Callable[[httpx.Response], Answer]) -> Answer:
        params = httpx.QueryParams([(name, each) for name, value in ask.params.items() for each in _spread(value)])
        content = None if ask.content is None else ask.content()
        with self._http.stream(
            ask.method, ask.path, params=params, headers=dict(ask.headers), content=content
        ) as response:
            if response.is_success:
                return take(response)
            raise refusal(response)


def json_content(body: Json) -> Callable[[], bytes]:
    """Encode a JSON body once; NaN and infinities, which are no JSON (RFC 8259), raise ValueError."""
    encoded = json.dumps(body, allow_nan=False).encode()
    return lambda: encoded


def refusal(response: httpx.Response) -> Refused:
    """Turn an answer that says no into an error; the text of a foreign page is never repeated."""
    if response.is_redirect:
        return Refused(
            response.status_code, "redirected", "The address answers with a redirect, which is not followed."
        )
    try:
        document = json.loads(response.read())
    except ValueError:
        document = None
    return Refused.from_problem(response.status_code, document, retry_after(response.headers.get("retry-after")))


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


def _decoded(response: httpx.Response) -> object:
    try:
        return json.loads(response.read())
    except ValueError:
        raise Unreachable("not-pratique", "The answer is no JSON: is this the address of Pratique?") from None


def _spread(value: str | int | Iterable[str] | None) -> list[str]:
    match value:
        case None:
            return []
        case str() | int():
            return [str(value)]
        case _:
            return list(value)
