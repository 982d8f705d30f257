"""Webhooks: made, listed and deleted by an operator; their deliveries, and a delivery asked for again."""

from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Request, Response
from pydantic import Field, StringConstraints

from pratique_privacy.http.access import Called, Reach, is_id
from pratique_privacy.http.answers import UNKEPT, Limit, accepted, after_id, answer, answers, id_cursor, takes
from pratique_privacy.http.body import read_json
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.services import Services
from pratique_privacy.keys import Caller
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.facts import Ended, EventType, Tried, Webhook
from pratique_privacy.notices.flow import WEBHOOK_TRIES, Delivery, standing
from pratique_privacy.notices.lines import secret_name
from pratique_privacy.notices.signature import new_secret, shown
from pratique_privacy.outbound.addresses import MOST_CHARACTERS, Refused, target_of
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import Conflict, FieldError, Gone, Unprocessable, no_such
from pratique_shared.contracts.releases import Name, Text
from pratique_shared.runtime.clock import new_id, stamp, text_of

router = APIRouter(prefix="/webhooks", tags=["webhooks"])

MOST_WEBHOOKS = 100  # of one tenant: every event looks at each
Address = Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS)]
EXAMPLE = {"url": "https://hooks.example.com/pratique", "events": ["release.completed", "release.withdrawn"]}


class WebhookRequest(Contract):
    """The body of `POST /webhooks`. Without `events` it hears of all; with `recipient`, of that one's releases only."""

    url: Address = Field(repr=False)
    events: tuple[EventType, ...] = Field(default=get_args(EventType), min_length=1, max_length=20)
    recipient: Name | None = None
    name: Text = ""


class WebhookResource(Contract):
    """A webhook, without its secret. `disabled` once its receiver answered 410."""

    id: str
    url: str = Field(repr=False)
    events: tuple[EventType, ...]
    recipient: str | None
    name: str
    status: Literal["enabled", "disabled"]
    created_at: str


class NewWebhook(WebhookResource):
    """A webhook just made: `secret` is what its messages are verified with, and is shown this once."""

    secret: str = Field(repr=False)


class TryResource(Contract):
    """One try of a delivery: the status that came back, or the code of what stood in the way."""

    at: str
    result: Literal["delivered", "failed", "dropped"]
    status: int | None
    error: str | None
    milliseconds: int


class DeliveryResource(Contract):
    """A delivery: `id` is the `webhook-id` of its messages; `next_try_at` is null once it is over."""

    id: str
    event: EventType
    subject: str
    status: Literal["pending", "delivered", "failed", "dropped"]
    tries: tuple[TryResource, ...]
    next_try_at: str | None
    created_at: str


@router.post(
    "",
    operation_id="createWebhook",
    status_code=201,
    response_model=NewWebhook,
    responses=answers(400, 404, 409, 410, 413, 415, 507),
    openapi_extra=takes(WebhookRequest, releases=EXAMPLE),
)
async def create_webhook(
    request: Request, caller: Called, services: Reach, idempotency_key: IdempotencyKey = None
) -> Response:
    """Make a webhook; it hears of what happens from now on, signed as Standard Webhooks."""
    body = await read_json(request, services.limits.json_bytes)
    asked = body.as_a(WebhookRequest)
    _check_address(services, asked.url)
    notices, slot = (
        NoticeArchive(services.archive),
        slot_of(services.archive, caller, "webhook", idempotency_key, body.raw),
    )
    identity = await slot.held() or new_id("whk")
    if (known := await notices.any_webhook(identity)) is not None:
        if known[1] is not None and known[1].reason == "deleted":
            raise Gone("deleted", "The webhook that this key made was deleted: send a fresh Idempotency-Key.")
        return _made(known[0], await services.keys.secret(secret_name(identity)), replayed=True)
    if len(await notices.webhook_ids(caller.tenant)) >= MOST_WEBHOOKS:
        raise Conflict("too-many-webhooks", f"A tenant may have {MOST_WEBHOOKS} webhooks: delete one first.")
    identity = await slot.claim(identity)
    # The secret first: a webhook never stands without the one that it signs with.
    secret = await services.keys.keep_secret(secret_name(identity), new_secret())
    webhook = Webhook(
        id=identity,
        tenant=caller.tenant,
        url=asked.url,
        events=tuple(dict.fromkeys(asked.events)),
        recipient=asked.recipient,
        name=asked.name,
        created_at=stamp(),
    )
    await notices.add_webhook(webhook)
    return _made(webhook, secret, replayed=False)


def _made(webhook: Webhook, secret: bytes | None, *, replayed: bool) -> Response:
    if secret is None:
        raise no_such("webhook")  # it was deleted between two looks
    made = NewWebhook(**_resource(webhook, None).model_dump(), secret=shown(secret))
    headers = accepted(f"/webhooks/{webhook.id}", 201, replayed=replayed)
    return answer(made, 201, headers | UNKEPT)


def _check_address(services: Services, url: str) -> None:
    try:
        target_of(url, services.webhook_allowed)
    except Refused as refused:
        advice = [FieldError("/url", refused.detail)]
        raise Unprocessable(refused.code, "Nothing is sent to such an address.", advice) from None


@router.get("", operation_id="listWebhooks", response_model=PageOf[WebhookResource], responses=answers())
async def list_webhooks(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("whk")] = None
) -> Response:
    """List the webhooks of the tenant, newest first."""
    notices, cursor = NoticeArchive(services.archive), id_cursor("whk", after)
    ids = [one for one in await notices.webhook_ids(caller.tenant) if cursor is None or one < cursor]
    found = [one for identity in ids[:limit] if (one := await notices.any_webhook(identity)) is not None]
    following = ids[limit - 1] if len(ids) > limit else None
    return answer(PageOf[WebhookResource](data=tuple(_resource(*one) for one in found), next=following))


@router.get("/{webhook_id}", operation_id="getWebhook", response_model=WebhookResource, responses=answers(404))
async def get_webhook(webhook_id: str, caller: Called, services: Reach) -> Response:
    """Describe a webhook."""
    return answer(_resource(*await _webhook_for(services, caller, webhook_id)))


@router.delete(
    "/{webhook_id}",
    operation_id="deleteWebhook",
    status_code=204,
    response_class=Response,
    responses=answers(404, 507),
)
async def delete_webhook(webhook_id: str, caller: Called, services: Reach) -> Response:
    """Delete a webhook: its secret is gone, and what is still owed to it is dropped."""
    webhook, _ = await _webhook_for(services, caller, webhook_id)
    await NoticeArchive(services.archive).delete_webhook(webhook)
    await services.keys.forget_secret(secret_name(webhook_id))
    return Response(status_code=204)


@router.get(
    "/{webhook_id}/deliveries",
    operation_id="listDeliveries",
    response_model=PageOf[DeliveryResource],
    responses=answers(404),
)
async def list_deliveries(
    webhook_id: str,
    caller: Called,
    services: Reach,
    limit: Limit = 100,
    after: Annotated[str | None, after_id("dlv")] = None,
) -> Response:
    """List what was owed to a webhook, newest first, with every try."""
    await _webhook_for(services, caller, webhook_id)
    notices, cursor = NoticeArchive(services.archive), id_cursor("dlv", after)
    ids = [one for one in await notices.delivery_ids(webhook_id) if cursor is None or one < cursor]
    found = [one for identity in ids[:limit] if (one := await notices.delivery(webhook_id, identity)) is not None]
    following = ids[limit - 1] if len(ids) > limit else None
    return answer(PageOf[DeliveryResource](data=tuple(map(_delivery_resource, found)), next=following))


@router.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    operation_id="redeliver",
    status_code=202,
    response_model=DeliveryResource,
    responses=answers(404, 409, 507),
)
async def redeliver(webhook_id: str, delivery_id: str, caller: Called, services: Reach) -> Response:
    """Send a delivery once more, at once, under the same `webhook-id`; its tries begin anew."""
    _, ended = await _webhook_for(services, caller, webhook_id)
    notices = NoticeArchive(services.archive)
    known = await notices.delivery(webhook_id, delivery_id) if is_id("dlv", delivery_id) else None
    if known is None:
        raise no_such("delivery")
    if ended is not None:
        raise Conflict("webhook-disabled", "Its receiver said that it is gone: make a new webhook.")
    await notices.ask_again(known)
    await services.bell.ring("privacy", Message(task="deliver", id=webhook_id))
    shown_now = await notices.delivery(webhook_id, delivery_id) or known
    return answer(_delivery_resource(shown_now), 202, accepted(f"/webhooks/{webhook_id}/deliveries", 202))


async def _webhook_for(services: Services, caller: Caller, webhook_id: str) -> tuple[Webhook, Ended | None]:
    if not is_id("whk", webhook_id):
        raise no_such("webhook")
    return await NoticeArchive(services.archive).webhook(caller.tenant, webhook_id)


def _resource(webhook: Webhook, ended: Ended | None) -> WebhookResource:
    kept = webhook.model_dump(include={"id", "url", "events", "recipient", "name", "created_at"})
    return WebhookResource(**kept, status="enabled" if ended is None else "disabled")


def _delivery_resource(delivery: Delivery) -> DeliveryResource:
    stands = standing(delivery, WEBHOOK_TRIES)
    return DeliveryResource(
        id=delivery.owed.id,
        event=delivery.owed.event.type,
        subject=delivery.owed.event.subject,
        status=stands.status,
        tries=tuple(map(_try_resource, delivery.tries)),
        next_try_at=None if stands.due is None else text_of(stands.due),
        created_at=delivery.owed.at,
    )


def _try_resource(tried: Tried) -> TryResource:
    return TryResource(**tried.model_dump(include={"at", "result", "status", "error", "milliseconds"}))
