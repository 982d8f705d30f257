"""The life of a delivery, from its facts alone: whether it is still owed, and when its next try is due.

    owed ──> try ──> try ──> .. ──> delivered | failed: the schedule is used up | dropped: nobody listens there
      again: asked for once more, the tries begin anew

A try that was made and not written down is made again: at least once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pratique_privacy.notices.facts import Owed, Tried

# Seconds before each try: the schedule that Standard Webhooks recommends, three days and a quarter in all.
WEBHOOK_TRIES = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
SUBSCRIPTION_TRIES = (0, 5, 5)  # as the producers of the O-RAN Software Community deliver


@dataclass(frozen=True)
class Delivery:
    """What is known of a delivery: what is owed, the tries in their order, and when it was asked for again."""

    owed: Owed
    tries: tuple[Tried, ...] = ()
    again: tuple[str, ...] = ()


@dataclass(frozen=True)
class Standing:
    """Where a delivery stands; `due` is the moment of its next try, None when there is none."""

    status: Literal["pending", "delivered", "failed", "dropped"]
    due: datetime | None = None


@dataclass(frozen=True)
class Buffer:
    """How long deliveries to one address may wait for each other, and how many go together."""

    most: int
    longest: timedelta


def standing(delivery: Delivery, schedule: Sequence[int]) -> Standing:
    """Say where a delivery stands. Tries of earlier rounds are history."""
    number = len(delivery.again)
    tries = [one for one in delivery.tries if one.round == number]
    if tries and tries[-1].result != "failed":
        return Standing(tries[-1].result)
    if len(tries) >= len(schedule):
        return Standing("failed")
    begun = delivery.again[-1] if delivery.again else delivery.owed.at
    since = datetime.fromisoformat(tries[-1].at if tries else begun)
    return Standing("pending", since + timedelta(seconds=schedule[len(tries)]))


def bundles(ready: Sequence[Delivery], buffer: Buffer | None, moment: datetime) -> Iterator[tuple[Delivery, ...]]:
    """Yield what goes out together, oldest first: one by one, or full or ripe bundles where there is a buffer.

    A bundle is ripe when its oldest delivery has waited for long enough, or when it was tried before.
    """
    ordered = sorted(ready, key=lambda one: one.owed.id)
    size = 1 if buffer is None else buffer.most
    for start in range(0, len(ordered), size):
        bundle = tuple(ordered[start : start + size])
        if buffer is None or len(bundle) == size or ripe_at(bundle, buffer) <= moment:
            yield bundle


def ripe_at(bundle: Sequence[Delivery], buffer: Buffer) -> datetime:
    """Return the moment from which a bundle waits no longer for others."""
    started = [datetime.fromisoformat(one.owed.at) for one in bundle]
    tried = any(one.tries or one.again for one in bundle)
    return min(started) + (timedelta() if tried else buffer.longest)
