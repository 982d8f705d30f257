"""Subscriptions in the store: each a numbered fact, the highest in force (in the room of releases)."""

from pratique_privacy.archive import Archive
from pratique_privacy.notices.subscription import Subscription, is_subscription_id
from pratique_shared.contracts.model import Contract
from pratique_shared.runtime.clock import stamp
from pratique_shared.runtime.damage import passed_over


class CaughtUp(Contract):
    """What happened before a subscription was made is owed to it."""

    at: str


class Subscribers:
    """Reads and writes the subscriptions of all tenants."""

    def __init__(self, archive: Archive) -> None:
        self._archive, self._room = archive, archive.releases_room

    async def put(self, subscription: Subscription) -> bool:
        """Take a subscription in, or its new terms; return whether anything changed. Twice is once."""
        fresh = await self.fresh(subscription)
        if fresh is not None:
            await self._archive.put_numbered(f"subscriptions/{subscription.id}", fresh)
        await self._room.create(_marker(subscription), b"{}")
        return fresh is not None

    async def fresh(self, subscription: Subscription) -> Subscription | None:
        """Return the subscription as it would be put in force; None where its terms are in force already."""
        present = await self.get(subscription.id)
        if present is None or present.ended:
            return subscription
        subscription = subscription.model_copy(update={"since": present.since})
        return None if subscription.model_copy(update={"at": present.at}) == present else subscription

    async def end(self, subscription: Subscription) -> None:
        """End a subscription; what is still owed to it will be dropped."""
        if not subscription.ended:
            ended = subscription.model_copy(update={"ended": True, "at": stamp()})
            await self._archive.put_numbered(f"subscriptions/{subscription.id}", ended)
        await self._room.delete(_marker(subscription))

    async def get(self, subscription_id: str) -> Subscription | None:
        """Return a subscription as it is in force, an ended one included."""
        found = await self._archive.numbered(f"subscriptions/{subscription_id}", Subscription)
        return None if found is None else found[1]

    async def of_tenant(self, tenant: str) -> list[Subscription]:
        """Return the subscriptions of a tenant that were not ended."""
        return await self._standing(f"subscribers/{tenant}")

    async def behind(self) -> list[Subscription]:
        """Return the subscriptions, of all tenants, to which history is owed and was not given yet."""
        waiting = [one for one in await self._standing("subscribers") if one.history]
        return [one for one in waiting if await self._archive.releases.raw(one.id, _caught_up(one)) is None]

    async def caught_up(self, subscription: Subscription) -> None:
        """Note that history is owed now."""
        await self._archive.releases.commit(subscription.id, _caught_up(subscription), CaughtUp(at=stamp()))

    async def _standing(self, folder: str) -> list[Subscription]:
        """Return the subscriptions that are marked below a folder; those that cannot be read hear nothing."""
        standing = []
        for key in await self._room.names(folder):
            identity = key.rsplit("/", 1)[1]
            if is_subscription_id(identity):
                with passed_over(identity):
                    found = await self.get(identity)
                    standing += [found] if found is not None and not found.ended else []
        return standing


def _marker(subscription: Subscription) -> str:
    return f"subscribers/{subscription.tenant}/{subscription.id}"


def _caught_up(subscription: Subscription) -> str:
    """A job that was ended and made again asks for its history again."""
    return f"caught-up/{subscription.since}"
