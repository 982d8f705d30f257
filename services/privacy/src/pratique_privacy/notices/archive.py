"""Notices in the store: webhooks, what is owed to each address, and every try (in the room of releases)."""

import asyncio
import hashlib
from collections import defaultdict
from datetime import datetime

from pratique_privacy.archive import Archive
from pratique_privacy.notices.facts import Again, Ended, Event, Owed, Tried, Webhook
from pratique_privacy.notices.flow import Delivery
from pratique_privacy.notices.subscription import is_subscription_id
from pratique_shared.contracts.problems import no_such
from pratique_shared.runtime.clock import id_at, is_id, stamp

OWED = "owed-notices"  # the folder of markers `<endpoint>/<delivery>`: what a courier has to look at


class NoticeArchive:
    """Reads and writes the facts of notices."""

    def __init__(self, archive: Archive) -> None:
        self.whole = archive
        self.facts, self.room = archive.releases, archive.releases_room

    # Webhooks

    async def add_webhook(self, webhook: Webhook) -> None:
        """Take a webhook in; it hears of what happens from now on."""
        await self.facts.commit(webhook.id, "created", webhook)
        await self.room.create(f"webhooks/{webhook.tenant}/{webhook.id}", b"{}")

    async def any_webhook(self, webhook_id: str) -> tuple[Webhook, Ended | None] | None:
        """Return a webhook whatever its tenant, and why it hears no more if so."""
        created, ended = await asyncio.gather(
            self.facts.read(webhook_id, "created", Webhook), self.facts.read(webhook_id, "ended", Ended)
        )
        if created is None:
            return None
        gone = Ended(reason="deleted", at="") if await self.facts.raw(webhook_id, "deleted") is not None else ended
        return created, gone

    async def webhook(self, tenant: str, webhook_id: str) -> tuple[Webhook, Ended | None]:
        """Return a webhook of this tenant that was not deleted; raises `NotFound`."""
        found = await self.any_webhook(webhook_id)
        if found is None or found[0].tenant != tenant or (found[1] is not None and found[1].reason == "deleted"):
            raise no_such("webhook")
        return found

    async def webhook_ids(self, tenant: str) -> list[str]:
        """Return the ids of the webhooks of a tenant, newest first."""
        keys = await self.room.names(f"webhooks/{tenant}")
        return sorted((key.rsplit("/", 1)[1] for key in keys), reverse=True)

    async def disable(self, webhook_id: str) -> None:
        """Note that the receiver said that it is gone."""
        await self.facts.commit(webhook_id, "ended", Ended(reason="gone", at=stamp()))

    async def delete_webhook(self, webhook: Webhook) -> None:
        """Write the tombstone of a webhook; what is still owed to it will be dropped."""
        await self.facts.commit(webhook.id, "deleted", Ended(reason="deleted", at=stamp()))
        await self.room.delete(f"webhooks/{webhook.tenant}/{webhook.id}")

    # Deliveries

    async def owe(self, endpoint: str, event: Event, since: str = "") -> str:
        """Owe an event to an address, once since a moment; return the id of the delivery, which follows from these."""
        delivery = delivery_id(endpoint, event, since)
        owed = Owed(id=delivery, endpoint=endpoint, event=event, at=stamp())
        await self.facts.commit(endpoint, f"deliveries/{delivery}/owed", owed)
        await self.mark(endpoint, delivery)
        return delivery

    async def mark(self, endpoint: str, delivery: str) -> None:
        """Let a courier look at a delivery."""
        await self.room.create(f"{OWED}/{endpoint}/{delivery}", b"{}")

    async def settle(self, endpoint: str, delivery: str) -> None:
        """Nothing is owed of a delivery any more."""
        await self.room.delete(f"{OWED}/{endpoint}/{delivery}")

    async def owed(self) -> dict[str, list[str]]:
        """Return the deliveries that may be owed, by the address that they are owed to."""
        found = defaultdict(list)
        for key in await self.room.names(OWED):
            endpoint, _, delivery = key.removeprefix(f"{OWED}/").partition("/")
            # Whatever else stands there is none of ours.
            if is_id(delivery, "dlv") and (is_id(endpoint, "whk") or is_subscription_id(endpoint)):
                found[endpoint].append(delivery)
        return found

    async def delivery(self, endpoint: str, delivery: str) -> Delivery | None:
        """Return what is known of a delivery."""
        folder = f"deliveries/{delivery}"
        owed = await self.facts.read(endpoint, f"{folder}/owed", Owed)
        if owed is None:
            return None
        keys = await self.room.names(f"facts/{endpoint}/{folder}")
        names = [key.removeprefix(f"facts/{endpoint}/") for key in keys]
        tries = await asyncio.gather(
            *(self.facts.read(endpoint, name, Tried) for name in names if name.startswith(f"{folder}/tries/"))
        )
        again = await asyncio.gather(
            *(self.facts.read(endpoint, name, Again) for name in names if name.startswith(f"{folder}/again/"))
        )
        return Delivery(owed, tuple(one for one in tries if one), tuple(one.at for one in again if one))

    async def delivery_ids(self, endpoint: str) -> list[str]:
        """Return the ids of all deliveries to an address, newest first."""
        return sorted(await self.room.folders(f"facts/{endpoint}/deliveries"), reverse=True)

    async def counted(self, endpoint: str) -> dict[str, int]:
        """Return how many deliveries were owed to an address, and how many tries ended in which way."""
        names = await self.facts.names(endpoint)
        endings = {"owed": "/owed", "delivered": "-delivered", "failed_tries": "-failed", "dropped": "-dropped"}
        return {told: sum(name.endswith(ending) for name in names) for told, ending in endings.items()}

    async def note(self, delivery: Delivery, tried: Tried) -> Delivery:
        """Write a try down; return the delivery as it stands now."""
        number = len(delivery.tries) + 1
        folder = f"deliveries/{delivery.owed.id}/tries"
        # Two couriers may have tried at once: both are told, in the order in which they were written.
        while not await self.facts.commit(delivery.owed.endpoint, f"{folder}/{number:06d}-{tried.result}", tried):
            number += 1
        return Delivery(delivery.owed, (*delivery.tries, tried), delivery.again)

    async def ask_again(self, delivery: Delivery) -> None:
        """Begin the tries of a delivery anew. The fact comes first: see `Courier`."""
        endpoint, identity = delivery.owed.endpoint, delivery.owed.id
        number = len(delivery.again) + 1
        while not await self.facts.commit(endpoint, f"deliveries/{identity}/again/{number:06d}", Again(at=stamp())):
            number += 1
        await self.mark(endpoint, identity)


def delivery_id(endpoint: str, event: Event, since: str) -> str:
    """Return the id of a delivery: it sorts by the time of the event, and is the same however often it is owed."""
    digest = hashlib.sha256(f"{endpoint}\n{event.id}\n{since}".encode()).digest()
    return id_at("dlv", datetime.fromisoformat(event.at), int.from_bytes(digest[:10]))
