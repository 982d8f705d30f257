"""Releases: asked for, listed, watched, cancelled, withdrawn."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from pratique_privacy.admission import Terms, request_digest, terms_of
from pratique_privacy.archive import Archive
from pratique_privacy.flow import ReleaseFacts, state
from pratique_privacy.http.access import Called, Reach, present_release, release_for, visible
from pratique_privacy.http.answers import (
    Limit,
    Prefer,
    accepted,
    after_id,
    answer,
    answers,
    asked_to_wait,
    begun,
    finished,
    id_cursor,
    takes,
)
from pratique_privacy.http.body import read_with_records
from pratique_privacy.http.examples import RELEASES
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.origins import Origins, find, kept, sample
from pratique_privacy.http.resources import PageOf, ReleaseResource, release_resource
from pratique_privacy.http.services import Services
from pratique_privacy.http.shelf import Shelf
from pratique_privacy.http.watching import EVENTS, Watched, watching
from pratique_privacy.keys import Caller
from pratique_privacy.policy.digest import policy_sha256
from pratique_shared.contracts.facts import ReleaseRequested
from pratique_shared.contracts.gate import Verdict
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.problems import Forbidden
from pratique_shared.contracts.releases import ReleaseRequest, ReleaseStatus
from pratique_shared.runtime.clock import new_id, stamp
from pratique_shared.runtime.meters import RELEASES_ENDED
from pratique_shared.runtime.traces import here

router = APIRouter(prefix="/releases", tags=["releases"])


@dataclass(frozen=True)
class Admitted:
    """A request that can stand: its terms, and its sources as they were found."""

    asked: ReleaseRequest
    terms: Terms
    origins: Origins


@router.post(
    "",
    operation_id="createRelease",
    status_code=202,
    response_model=ReleaseResource,
    summary="Ask for a release",
    responses=begun(ReleaseResource),
    openapi_extra=takes(ReleaseRequest, **RELEASES),
)
async def create_release(
    request: Request,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Take a request in: it is durable when this answers, and the resource says how far it is."""
    archive = services.archive
    body = await read_with_records(request, services.limits)
    slot = slot_of(archive, caller, "release", idempotency_key, body.raw)
    held = await slot.held()
    facts = None if held is None else await archive.any_release(held)
    replayed = facts is not None
    if facts is None:
        admitted = await _admit(services, caller, body.as_a(ReleaseRequest))
        identity = await slot.claim(held or new_id("rel"))
        requested = await _requested(services, caller, admitted, identity)
        ours = await archive.add_release(requested)
        facts = ReleaseFacts(requested) if ours else await archive.release(caller.tenant, identity)
    wait = asked_to_wait(prefer, services.limits.wait_seconds)
    return await _taken(services, facts, wait, replayed=replayed)


async def _admit(services: Services, caller: Caller, asked: ReleaseRequest) -> Admitted:
    """Hold a request against policies, sources and columns; raises the problem of what cannot stand."""
    shelf = Shelf(services.archive, caller.tenant)
    _, floor = await shelf.floor()
    if asked.gate == {} and caller.role not in ("operator", "admin"):
        raise Forbidden("gate-required", "Only an operator may ask for a release without a gate.")
    terms = terms_of(asked, await shelf.named(asked.policy), floor, caller)
    origins = await find(services.archive, caller, asked.source)
    rows = await sample(services.archive, origins)
    await services.tables.admit(
        rows,
        None if rows is not None else origins.columns,
        policy=terms.policy,
        attributes=terms.attributes,
        built_in=terms.built_in,
        pilot=asked.pilot,
    )
    return Admitted(asked, terms, origins)


async def _requested(services: Services, caller: Caller, admitted: Admitted, identity: str) -> ReleaseRequested:
    """Return the fact of a request, its own records stored."""
    key = (await services.keys.tenant_keys.current(caller.tenant)).mark
    asked, terms, origins = admitted.asked, admitted.terms, admitted.origins
    source, inline = await kept(services.archive, origins, asked.source, identity)
    return ReleaseRequested(
        id=identity,
        tenant=caller.tenant,
        name=asked.name,
        recipient=terms.recipient,
        purpose=asked.purpose,
        pilot=asked.pilot,
        source=source,
        inline=inline,
        attributes=terms.attributes,
        built_in=terms.built_in,
        policy=terms.policy,
        policy_sha256=policy_sha256(terms.policy),
        ppi=terms.ppi,
        attacks=terms.attacks,
        gate=terms.gate,
        digest=request_digest(asked, terms, origins.digests(), key.epoch),
        key=key,
        created_at=stamp(),
        traceparent=here(),
    )


async def _taken(services: Services, facts: ReleaseFacts, wait: float, *, replayed: bool) -> Response:
    """Ring and answer: 202 with the queued release, or 201 with the finished one if it was waited for in time."""
    identity = facts.requested.id
    if facts.outcome is None:
        await services.bell.ring("privacy", Message(task="advance", id=identity))
    waited = await finished(_done(services, identity), wait)
    # A replay without waiting gives the first answer again, to the letter.
    shown = ReleaseFacts(requested=facts.requested)
    if waited:
        shown = await services.archive.any_release(identity) or facts
    status = 201 if waited else 202
    headers = accepted(f"/releases/{identity}", status, replayed=replayed, waited=waited)
    return answer(release_resource(shown), status, headers)


def _done(services: Services, identity: str) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return "outcome" in await services.archive.releases.names(identity)

    return look


@router.get("", operation_id="listReleases", response_model=PageOf[ReleaseResource], responses=answers())
async def list_releases(
    caller: Called,
    services: Reach,
    limit: Limit = 100,
    after: Annotated[str | None, after_id("rel")] = None,
    status: Annotated[ReleaseStatus | None, Query(description="Only releases that stand there.")] = None,
    verdict: Annotated[Verdict | None, Query(description="Only releases with this verdict.")] = None,
) -> Response:
    """List the releases that the caller may see, newest first; withdrawn ones are left out."""
    found: list[ReleaseResource] = []
    cursor, more = id_cursor("rel", after), True
    while more and len(found) < limit:
        page = await services.archive.page("rel", caller.tenant, cursor, limit)
        known = await asyncio.gather(*map(services.archive.any_release, page.ids))
        for identity, facts in zip(page.ids, known, strict=True):
            cursor = identity
            if facts is not None and _listed(facts, caller, status, verdict):
                found.append(release_resource(facts))
                if len(found) == limit:
                    break
        more = page.next is not None or (bool(page.ids) and cursor != page.ids[-1])
    return answer(PageOf[ReleaseResource](data=tuple(found), next=cursor if more else None))


def _listed(facts: ReleaseFacts, caller: Caller, status: str | None, verdict: str | None) -> bool:
    stands = state(facts)
    return (
        visible(caller, facts)
        and not facts.withdrawn
        and status in (None, stands.status)
        and verdict in (None, stands.verdict)
    )


@router.get("/{release_id}", operation_id="getRelease", response_model=ReleaseResource, responses=answers(404, 410))
async def get_release(release_id: str, caller: Called, services: Reach) -> Response:
    """Say where a release stands."""
    return answer(release_resource(await present_release(services, caller, release_id)))


@router.get(
    "/{release_id}/events",
    operation_id="getReleaseEvents",
    response_class=StreamingResponse,
    responses={**EVENTS, **answers(404, 410)},
)
async def get_events(request: Request, release_id: str, caller: Called, services: Reach) -> Response:
    """Send the release anew whenever it has changed, as Server-Sent Events, until it is done, for an hour at most."""
    archive, facts = services.archive, await present_release(services, caller, release_id)

    async def shown() -> tuple[str, bool]:
        present = await archive.any_release(release_id) or facts
        text = json.dumps(release_resource(present).model_dump(mode="json"))
        return text, present.outcome is not None or present.withdrawn

    return watching(request, Watched("release", lambda: _names(archive, release_id), shown))


async def _names(archive: Archive, identity: str) -> tuple[frozenset[str], ...]:
    """Return the names of a release's facts and scores, all that its state follows from."""
    found = await asyncio.gather(archive.releases.names(identity), archive.scores.names(identity))
    return tuple(map(frozenset, found))


@router.post(
    "/{release_id}/cancel",
    operation_id="cancelRelease",
    status_code=202,
    response_model=ReleaseResource,
    responses=answers(404, 410, 507),
)
async def cancel_release(release_id: str, caller: Called, services: Reach) -> Response:
    """Stop a release; one that has its outcome keeps it."""
    facts = await present_release(services, caller, release_id)
    if facts.outcome is None:
        if await services.archive.cancel(release_id):
            RELEASES_ENDED.labels("cancelled", "none").inc()
        facts = await services.archive.any_release(release_id) or facts
    return answer(release_resource(facts), 202, accepted(f"/releases/{release_id}", 202))


@router.delete(
    "/{release_id}",
    operation_id="withdrawRelease",
    status_code=204,
    response_class=Response,
    responses=answers(404, 507),
)
async def withdraw_release(release_id: str, caller: Called, services: Reach) -> Response:
    """Take a release back: its files are shredded, and every later question is answered with 410."""
    await release_for(services, caller, release_id)
    await services.archive.withdraw(release_id)
    return Response(status_code=204)
