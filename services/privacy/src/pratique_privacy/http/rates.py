"""Rates: how many requests a caller may make, as token buckets in the memory of this process."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

from pratique_shared.contracts.problems import TooManyRequests
from pratique_shared.runtime.meters import RATE_LIMITED

MOST_CALLERS = 10_000  # about 2 MB; whoever is forgotten begins with a full bucket


@dataclass(frozen=True)
class Rate:
    """So many requests a second on average, and so many at once. A rate of 0 limits nothing."""

    per_second: float
    burst: int


# One process answers some hundreds of requests a second: a pipeline that is alone never comes to its limit, and one
# that is not leaves the others their share. Failures are what a person makes while setting up, not what a guesser does.
CALLER = Rate(600, 6000)
FAILURE = Rate(1, 60)


@dataclass(frozen=True)
class Share:
    """What is left of a bucket: whole requests, the seconds until there is one, and whether one was just taken."""

    policy: str
    rate: Rate
    left: int
    wait: float
    taken: bool

    def headers(self) -> dict[str, str]:
        """Return what a caller is told of its share (draft-ietf-httpapi-ratelimit-headers-10)."""
        window = max(1, math.ceil(self.rate.burst / self.rate.per_second))
        return {
            "RateLimit-Policy": f'"{self.policy}";q={self.rate.burst};w={window}',
            "RateLimit": f'"{self.policy}";r={self.left};t={math.ceil(self.wait)}',
        }

    @property
    def retry_after(self) -> int:
        """The whole seconds after which a request will be let in."""
        return max(1, math.ceil(self.wait))


class Buckets:
    """A bucket for each of the callers that were heard of last."""

    def __init__(
        self, policy: str, rate: Rate, most: int = MOST_CALLERS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._policy, self._rate, self._most, self._clock = policy, rate, most, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # a level and when it was right

    def take(self, who: str) -> Share | None:
        """Take a request out of the bucket, if one is in it; None where nothing is limited."""
        if self._rate.per_second <= 0:
            return None
        level = self._level(who)
        if level < 1:
            return self._share(level, taken=False)
        self._levels[who] = (level - 1, self._clock())
        self._levels.move_to_end(who)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return self._share(level - 1, taken=True)

    def empty(self, who: str) -> Share | None:
        """Return the share of a caller that has nothing left, None for everybody else."""
        level = self._level(who) if self._rate.per_second > 0 else 1.0
        return self._share(level, taken=False) if level < 1 else None

    def __len__(self) -> int:
        return len(self._levels)

    def _level(self, who: str) -> float:
        level, at = self._levels.get(who, (float(self._rate.burst), 0.0))
        return min(float(self._rate.burst), level + (self._clock() - at) * self._rate.per_second)

    def _share(self, level: float, *, taken: bool) -> Share:
        wait = max(0.0, 1 - level) / self._rate.per_second
        return Share(self._policy, self._rate, math.floor(level), wait, taken)


@dataclass(frozen=True)
class Rates:
    """The buckets of the API: one for each caller, a tighter one for each address that fails to sign in."""

    callers: Buckets = field(default_factory=lambda: Buckets("caller", CALLER))
    failures: Buckets = field(default_factory=lambda: Buckets("failures", FAILURE))


def peer_name(address: str) -> str:
    """Return what an address is counted under: a customer has a whole /64 of IPv6 (RFC 6177)."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(found, IPv6Address):
        return f"{IPv6Address(int(found) >> 64 << 64)}/64" if found.ipv4_mapped is None else str(found.ipv4_mapped)
    return str(found)


def too_many(share: Share, detail: str) -> TooManyRequests:
    """Return the refusal of a request beyond the share."""
    RATE_LIMITED.labels(share.policy).inc()
    problem = TooManyRequests("too-many-requests", detail)
    problem.retry_after = share.retry_after
    return problem
