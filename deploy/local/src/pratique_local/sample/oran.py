"""The O-RAN scenario: nine subscribers in two regions of a near-RT RIC, twelve sessions in two windows.

Six subscribers, two on each kind of slice, are in the north during the first five minutes; one of each kind comes back
there in the next five, while three others, two of one kind and one of another, are in the south. Over region, window
and role, the classes are of 6, 3 and 3 (Kekatos et al. 2026, the worked O-RAN scenario).
"""

from typing import NamedTuple

from pratique_local.sample.browsing import browse
from pratique_local.sample.lab import Lab
from pratique_local.sample.phone import Phone
from pratique_local.sample.registration import register
from pratique_local.sample.session import establish, leave
from pratique_local.sample.subscribers import ORAN_SLICES, Subscriber, draw_subscribers
from pratique_local.sample.topology import SITES, Site
from pratique_local.sample.wire import Steps

SUBSCRIBERS = 9
FIRST_S, SECOND_S, APART_S = 30.0, 320.0, 20.0


class Stop(NamedTuple):
    """A subscriber comes to a gNB."""

    subscriber: int
    site: Site
    after: float


_NORTH, _SOUTH = SITES[:3], SITES[3:5]
# Slices go round by number: 1, 2 and 7, 8 are of the first kind, 3, 4 and 9 of the second, 5, 6 of the third.
STOPS = (
    *(Stop(number, _NORTH[number % 3], FIRST_S + APART_S * number) for number in range(1, 7)),
    *(Stop(number, _NORTH[(number + 1) % 3], SECOND_S + APART_S * number) for number in (1, 3, 5)),
    *(Stop(number, _SOUTH[number % 2], SECOND_S + APART_S * number) for number in (7, 8)),
    Stop(9, _SOUTH[0], SECOND_S + APART_S * 4),
)


def start(lab: Lab) -> None:
    """Let the subscribers come."""
    known = {one.number: one for one in draw_subscribers(lab.chance, SUBSCRIBERS, ORAN_SLICES)}
    for stop in STOPS:
        lab.wire.start(_stay(lab, known[stop.subscriber], stop.site), after=stop.after)


def _stay(lab: Lab, subscriber: Subscriber, site: Site) -> Steps:
    phone = Phone(lab, subscriber, site)
    yield from register(phone)
    session = yield from establish(phone)
    yield from browse(lab, session.tunnel, subscriber.number)
    yield from leave(phone, session)
