"""The subscribers' visits: registration, a session with traffic, and for some the good-bye."""

from collections.abc import Iterable

from pratique_local.sample.browsing import browse
from pratique_local.sample.lab import Lab
from pratique_local.sample.phone import Phone
from pratique_local.sample.registration import register
from pratique_local.sample.session import establish, idle, leave, move, rename
from pratique_local.sample.subscribers import Subscriber
from pratique_local.sample.topology import SITES
from pratique_local.sample.wire import Steps

FIRST_ARRIVAL_S = 14.0
ARRIVALS_S = 560.0


def start(lab: Lab, visitors: Iterable[Subscriber]) -> None:
    """Let the subscribers arrive one after another, spread over nine minutes and over all sites."""
    everyone = list(visitors)
    for order, subscriber in enumerate(everyone):
        after = FIRST_ARRIVAL_S + ARRIVALS_S * order / len(everyone)
        lab.wire.start(_visit(lab, subscriber), after=after)


def _visit(lab: Lab, subscriber: Subscriber) -> Steps:
    # Five sites get most of the visitors; the far one gets every eleventh.
    far = subscriber.number % 11 == 0
    site = SITES[-1] if far else SITES[subscriber.number * 3 % (len(SITES) - 1)]
    phone = Phone(lab, subscriber, site)
    yield from register(phone)
    if subscriber.number % 8 == 6:
        # Registers and has nothing to say, like a meter at night.
        yield from idle(phone)
        return
    session = yield from establish(phone)
    yield from browse(lab, session.tunnel, subscriber.number)
    if subscriber.number % 5 == 2:
        yield from rename(phone)
    if subscriber.number % 7 == 3 and not far:
        # To one of the two gNBs that stand in one piece.
        yield from move(phone, session, SITES[1] if phone.site is SITES[0] else SITES[0])
        yield from browse(lab, session.tunnel, subscriber.number + 1)
    if subscriber.number % 3 == 1:
        yield from leave(phone, session)
