"""The O-RAN scenario: nine subscribers in two regions of a near-RT RIC, twelve sessions in two windows.

Six phones, two on each kind of slice, and three RedCap devices, one on each, are in the north during the first five
minutes; three of the phones, two on one kind of slice and one on another, come to the south in the next five. Over
region, window and role, the classes are of 6, 3 and 3 (Kekatos et al. 2026, the worked O-RAN scenario).
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

# The first two are on slices of the first kind, and so on; the devices take one kind each.
SLICES_OF = (*ORAN_SLICES, ORAN_SLICES[0], ORAN_SLICES[2], ORAN_SLICES[4])
FIRST_DEVICE = 7
FIRST_S, SECOND_S, APART_S = 20.0, 320.0, 25.0


class Stop(NamedTuple):
    """A subscriber comes to a gNB."""

    subscriber: int
    site: Site
    after: float


_NORTH, _SOUTH = SITES[:3], SITES[3:5]
STOPS = (
    *(Stop(number, _NORTH[number % 3], FIRST_S + APART_S * number) for number in range(1, 10)),
    *(Stop(number, _SOUTH[number % 2], SECOND_S + APART_S * number) for number in (1, 2, 5)),
)


def start(lab: Lab) -> None:
    """Let the subscribers come."""
    known = {one.number: one for one in draw_subscribers(lab.chance, len(SLICES_OF), SLICES_OF, FIRST_DEVICE)}
    for stop in STOPS:
        lab.wire.start(_stay(lab, known[stop.subscriber], stop.site), after=stop.after)


def _stay(lab: Lab, subscriber: Subscriber, site: Site) -> Steps:
    phone = Phone(lab, subscriber, site)
    yield from register(phone)
    session = yield from establish(phone)
    yield from browse(lab, session.tunnel, subscriber.number)
    yield from leave(phone, session)
