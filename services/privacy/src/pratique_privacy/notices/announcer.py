"""The announcer: owes every event to whoever listens, before the work that it tells of is settled."""

from collections.abc import Callable

from pratique_privacy.archive import Archive, ids_of
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.events import capture_event, release_events
from pratique_privacy.notices.facts import Event
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.notices.subscription import Subscription, wants
from pratique_shared.contracts.facts import Deleted
from pratique_shared.runtime.damage import passed_over

ANNOUNCE = "announce"  # the folder of markers, in the room of captures, of captures that came to their end
MOST_HISTORY = 100  # earlier releases that a new subscription is told of


class Announcer:
    """Turns facts into deliveries. Saying it twice changes nothing: the id of a delivery follows from its event."""

    def __init__(self, archive: Archive, wake: Callable[[], None]) -> None:
        self._archive, self._wake = archive, wake
        self._notices, self._subscribers = NoticeArchive(archive), Subscribers(archive)

    async def release(self, facts: ReleaseFacts) -> None:
        """Owe what there is to tell of a release that came to its end or was withdrawn."""
        tenant, identity = facts.requested.tenant, facts.requested.id
        withdrawn = await self._archive.releases.read(identity, "withdrawn", Deleted) if facts.withdrawn else None
        events = release_events(facts, None if withdrawn is None else withdrawn.at)
        await self._tell(tenant, events)
        completed = [event for event in events if event.type == "release.completed"]
        if not completed or facts.withdrawn:
            return
        for subscription in await self._subscribers.of_tenant(tenant):
            if completed[0].at >= subscription.since and wants(subscription, facts):
                await self._owe(subscription.id, completed[0], subscription.since)

    async def sweep(self) -> None:
        """Owe what captures have to tell, and the history that new subscriptions ask for."""
        for capture in ids_of(await self._archive.captures_room.names(ANNOUNCE), "cap"):
            with passed_over(capture):  # it stays owed, and is told of once it can be read
                await self._capture(capture)
                await self._archive.captures_room.delete(f"{ANNOUNCE}/{capture}")
        for subscription in await self._subscribers.behind():
            with passed_over(subscription.id):
                await self._catch_up(subscription)

    async def _capture(self, capture_id: str) -> None:
        found = await self._archive.any_capture(capture_id)
        if found is not None and found.outcome is not None and not found.deleted:
            await self._tell(found.requested.tenant, (capture_event(found.requested, found.outcome),))

    async def _tell(self, tenant: str, events: tuple[Event, ...]) -> None:
        if not events:
            return
        for webhook_id in await self._notices.webhook_ids(tenant):
            with passed_over(webhook_id):  # nobody knows its address any more: the others hear of it all the same
                await self._tell_one(webhook_id, events)

    async def _tell_one(self, webhook_id: str, events: tuple[Event, ...]) -> None:
        found = await self._notices.any_webhook(webhook_id)
        if found is None or found[1] is not None:
            return
        webhook = found[0]
        for event in events:
            # A webhook hears of what happens after it was made, and one for a recipient of its releases only.
            heard = event.type in webhook.events and event.at >= webhook.created_at
            if heard and webhook.recipient in (None, event.recipient):
                await self._owe(webhook_id, event)

    async def _catch_up(self, subscription: Subscription) -> None:
        page = await self._archive.page("rel", subscription.tenant, None, MOST_HISTORY)
        for identity in page.ids:
            with passed_over(identity):
                facts = await self._archive.any_release(identity)
                if facts is not None and wants(subscription, facts):
                    completed = next(e for e in release_events(facts, None) if e.type == "release.completed")
                    await self._owe(subscription.id, completed, subscription.since)
        await self._subscribers.caught_up(subscription)

    async def _owe(self, endpoint: str, event: Event, since: str = "") -> None:
        await self._notices.owe(endpoint, event, since)
        self._wake()
