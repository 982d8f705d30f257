"""Lines: how a delivery leaves for a webhook, signed and alone, or for a subscription, plain and together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.certifying import certificate_of
from pratique_privacy.evidence import chain
from pratique_privacy.keys import KeyRoom
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.events import as_json, cloud_event, envelope
from pratique_privacy.notices.facts import Event, Webhook
from pratique_privacy.notices.flow import SUBSCRIPTION_TRIES, WEBHOOK_TRIES, Buffer, Delivery
from pratique_privacy.notices.signature import signed_headers
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.notices.subscription import Subscription, may_leave, wants
from pratique_privacy.outbound.post import Answered, Outbound
from pratique_privacy.posture import posture_of, shown_to_all
from pratique_shared.contracts.facts import Blob, Published
from pratique_shared.runtime.clock import now

MOST_INLINE = 8 << 20  # bytes of records that go inline; a larger release goes by reference


class Line(Protocol):
    """An address that is open: its schedule, its buffer, and the way there."""

    schedule: Sequence[int]
    buffer: Buffer | None

    async def send(self, bundle: Sequence[Delivery]) -> Answered | None:
        """Send a bundle; None where there is nothing to send any more."""
        ...


@dataclass(frozen=True)
class Lines:
    """Opens the line to an address by its id."""

    archive: Archive
    keys: KeyRoom
    audit: AuditLog
    webhooks: Outbound
    subscriptions: Outbound
    base: str = ""

    async def open(self, endpoint: str) -> Line | None:
        """Return the line to an address; None where nobody listens any more."""
        if endpoint.startswith("job_"):
            subscription = await Subscribers(self.archive).get(endpoint)
            listens = subscription is not None and not subscription.ended
            return SubscriptionLine(self, subscription) if subscription is not None and listens else None
        found = await NoticeArchive(self.archive).any_webhook(endpoint)
        secret = await self.keys.secret(secret_name(endpoint))
        if found is None or found[1] is not None or secret is None:
            return None
        return WebhookLine(self, found[0], secret)


def secret_name(webhook_id: str) -> str:
    """Return the name of a webhook's secret in the room of keys."""
    return f"webhooks/{webhook_id}"


class WebhookLine:
    """Standard Webhooks: one event a message, signed anew at each try."""

    schedule: Sequence[int] = WEBHOOK_TRIES
    buffer: Buffer | None = None

    def __init__(self, lines: Lines, webhook: Webhook, secret: bytes) -> None:
        self._lines, self._webhook, self._secret = lines, webhook, secret

    async def send(self, bundle: Sequence[Delivery]) -> Answered | None:
        """Send one event; a receiver that says 410 is not asked again."""
        (delivery,) = bundle
        body = as_json(cloud_event(delivery.owed.event, self._lines.base))
        headers = signed_headers(self._secret, delivery.owed.id, int(now().timestamp()), body)
        headers["Content-Type"] = "application/cloudevents+json"
        answered = await self._lines.webhooks.post(self._webhook.url, body, headers)
        if answered.status == HTTPStatus.GONE:
            await NoticeArchive(self._lines.archive).disable(self._webhook.id)
        return answered


class SubscriptionLine:
    """A consumer of a subscription: CloudEvents as JSON, an array of them where it asked for a buffer."""

    schedule: Sequence[int] = SUBSCRIPTION_TRIES

    def __init__(self, lines: Lines, subscription: Subscription) -> None:
        self._lines, self._subscription = lines, subscription
        self.buffer: Buffer | None = subscription.buffer.buffer if subscription.buffer is not None else None

    async def send(self, bundle: Sequence[Delivery]) -> Answered | None:
        """Send what still stands of a bundle: a release may have been withdrawn since."""
        items = [item for delivery in bundle if (item := await self._item(delivery.owed.event)) is not None]
        if not items:
            return None
        body = json.dumps(items if self.buffer is not None else items[0], allow_nan=False).encode()
        headers = {"Content-Type": "application/json"}
        return await self._lines.subscriptions.post(self._subscription.target, body, headers)

    async def _item(self, event: Event) -> dict[str, Any] | None:
        facts = await self._lines.archive.any_release(event.subject)
        if facts is None or not wants(self._subscription, facts):
            return None
        identity, base = event.subject, self._lines.base
        if self._subscription.kind == "posture":
            posture = posture_of(facts)
            data: object = None if posture is None else shown_to_all(posture)
            return envelope(f"{identity}:posture", "privacy.posture", identity, event.at, data, base)
        assert may_leave(facts.outcome)
        await certificate_of(self._lines.archive, self._lines.keys, facts, facts.outcome)
        profiles = await self._profiles(identity, facts.outcome)
        return envelope(f"{identity}:profiles", "anonymised.profiles", identity, event.at, profiles, base)

    async def _profiles(self, identity: str, outcome: Published) -> dict[str, Any]:
        """Return the reference to released records, with the records where they were asked for and are few."""
        form, file = self._subscription.form, outcome.files["ndjson"]
        data: dict[str, Any] = {
            "release": identity,
            "records_url": f"{self._lines.base}/releases/{identity}/records",
            "sha256": outcome.files["parquet"].sha256,
        }
        if form == "reference" or file.bytes > MOST_INLINE:
            return data
        rows = await self._rows(file)
        # Records that leave are written down first, at each try: where they cannot be, the delivery stays owed.
        told = chain.Event("asked", role="consumer", operation="deliverRecords", object=identity)
        await self._lines.audit.record(self._subscription.tenant, told)
        if form == "json":
            return {**data, "records": rows}
        return {**data, "ndjson": "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)}

    async def _rows(self, file: Blob) -> list[dict[str, Any]]:
        """Return the released rows of the roles and columns that were asked for."""
        content = await self._lines.archive.releases_room.blob_bytes(file)
        rows: list[dict[str, Any]] = [json.loads(line) for line in content.splitlines() if line]
        roles, columns = self._subscription.roles, self._subscription.columns
        if roles is not None:
            rows = [row for row in rows if row.get("role") in roles]
        if columns is not None:
            rows = [{name: cell for name, cell in row.items() if name in columns} for row in rows]
        return rows
