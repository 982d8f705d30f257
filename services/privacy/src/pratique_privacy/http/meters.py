"""The meters of this process and the state of the queues, for a Prometheus that comes through the front door.

They tell how much all tenants together do. So they are for whoever operates the service: a scraper with the token of
the setting, or an admin of the first tenant.
"""

import asyncio
import hmac
from typing import Annotated, Final, get_args

from fastapi import APIRouter, Depends, Request, Response
from fastapi.security.utils import get_authorization_scheme_param
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from pratique_privacy.http.access import Reach, bearer_scheme, check_scopes
from pratique_privacy.http.answers import UNKEPT, answers
from pratique_privacy.http.services import Services
from pratique_shared.contracts.messages import Queue
from pratique_shared.contracts.problems import Forbidden, Unauthorized
from pratique_shared.runtime.meters import REGISTRY, see_queue, see_queue_server
from pratique_shared.runtime.queues import Doorbell

WATCH: Final = 5.0  # seconds between two looks at the queues, for the port of the meters
MEDIA: Final = CONTENT_TYPE_LATEST.partition(";")[0]
router = APIRouter(tags=["health"])


async def scraper(request: Request, services: Reach) -> Services:
    """Let in whoever operates the service; raises `Unauthorized`, `Forbidden`, `TooManyRequests`."""
    scheme, sent = get_authorization_scheme_param(request.headers.get("authorization"))
    if scheme.lower() != "bearer" or not sent:
        raise Unauthorized("key-missing", "Send `Authorization: Bearer <PRATIQUE_METRICS_TOKEN>`.")
    expected = services.metrics_token
    if expected is not None and hmac.compare_digest(sent.encode(), expected.encode()):
        return services
    caller = await services.reception.caller(request, sent)
    if (caller.tenant, caller.role) != (services.house, "admin"):
        raise Forbidden("house-only", "The meters are of all tenants: only who operates the service reads them.")
    check_scopes(caller, request.scope["route"])
    return services


@router.get(
    "/metrics",
    operation_id="getMetrics",
    response_class=Response,
    responses={
        **answers(),
        200: {"description": "Prometheus text.", "content": {MEDIA: {"schema": {"type": "string"}}}},
    },
    dependencies=[Depends(bearer_scheme)],
)
async def metrics(services: Annotated[Services, Depends(scraper)]) -> Response:
    """Tell the meters of this API process and how the queues stand, as Prometheus reads them."""
    await look_at_queues(services.bell)
    text = await asyncio.to_thread(generate_latest, REGISTRY)  # some thousand lines: nobody waits for them
    return Response(text, headers={**UNKEPT, "Content-Type": CONTENT_TYPE_LATEST})


async def look_at_queues(bell: Doorbell) -> None:
    """Note how every queue stands; of a server that does not answer, that it does not."""
    queues: tuple[Queue, ...] = get_args(Queue)
    found = await asyncio.gather(*(bell.sight(queue) for queue in queues))
    see_queue_server(is_up=all(sight is not None for sight in found))
    for queue, sight in zip(queues, found, strict=True):
        if sight is not None:
            see_queue(queue, sight.waiting, sight.oldest, sight.working, sight.workers)


async def watch_queues(bell: Doorbell) -> None:
    """Look at the queues again and again until cancelled."""
    while True:
        await look_at_queues(bell)
        await asyncio.sleep(WATCH)
