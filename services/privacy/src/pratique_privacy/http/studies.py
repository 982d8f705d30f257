"""Studies as their readers see them: taken in once, watched, answered when every part is in."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from fastapi import Request, Response
from pydantic import ConfigDict

from pratique_privacy.http.access import is_id
from pratique_privacy.http.answers import accepted, answer, asked_to_wait, finished, unchanging
from pratique_privacy.http.idempotency import Slot
from pratique_privacy.http.problems import RETRY_AFTER
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.services import Services
from pratique_privacy.keys import Caller
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.flow import StudyFacts, state
from pratique_shared.contracts.facts import Failure
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.problems import no_such
from pratique_shared.contracts.studies import (
    AttackWork,
    ProfilesWork,
    RecommendationWork,
    StudyDone,
    StudyRequested,
    StudyStatus,
    SweepWork,
    UtilityWork,
    Work,
)
from pratique_shared.runtime.clock import Prefix, new_id, stamp
from pratique_shared.runtime.traces import here

Make = Callable[[str], Awaitable[Work]]


class StudyProgress(Contract):
    """`done` of `total` parts are in."""

    done: int
    total: int


class StudyResource(Contract):
    """A study: its own status monitor; once completed, its answer stands beside these. `asked` is null in lists."""

    model_config = ConfigDict(extra="allow")

    id: str
    name: str | None
    status: StudyStatus
    progress: StudyProgress
    created_at: str
    error: Failure | None = None
    asked: dict[str, Any] | None = None


def study_resource(facts: StudyFacts) -> StudyResource:
    """Say where a study stands, without its answer."""
    requested, stands = facts.requested, state(facts)
    return StudyResource(
        id=requested.id,
        name=requested.name,
        status=stands.status,
        progress=StudyProgress(done=stands.done, total=stands.total),
        created_at=requested.created_at,
        error=stands.error,
    )


async def study_for(services: Services, caller: Caller, prefix: Prefix, identity: str) -> StudyFacts:
    """Return the facts of a study of the caller's tenant; raises `NotFound`."""
    if not is_id(prefix, identity):
        raise no_such("study")
    return await StudyArchive(services.archive).study(caller.tenant, identity)


async def study_page(
    services: Services, caller: Caller, prefix: Prefix, after: str | None, limit: int
) -> PageOf[StudyResource]:
    """Return a page of studies of one kind, newest first, without their answers."""
    page = await services.archive.page(prefix, caller.tenant, after, limit)
    found = await asyncio.gather(*map(StudyArchive(services.archive).any, page.ids))
    shown = tuple(study_resource(facts) for facts in found if facts is not None)
    return PageOf[StudyResource](data=shown, next=page.next)


async def take_in(
    services: Services, caller: Caller, slot: Slot, prefix: Prefix, name: str | None, make: Make
) -> tuple[StudyFacts, bool]:
    """Make a study durable, once for an idempotency key, and ring; return it and whether it was there before.

    `make` holds the request against what there is; it raises the problem of what cannot stand.
    """
    studies = StudyArchive(services.archive)
    held = await slot.held()
    facts = None if held is None else await studies.any(held)
    replayed = facts is not None
    if facts is None:
        fresh = held or new_id(prefix)
        work = await make(fresh)
        identity = await slot.claim(fresh)
        key = (await services.keys.tenant_keys.current(caller.tenant)).mark
        await studies.add(
            StudyRequested(
                id=identity,
                tenant=caller.tenant,
                name=name,
                work=work,
                key=key,
                created_at=stamp(),
                traceparent=here(),
            )
        )
        facts = await studies.study(caller.tenant, identity)
    await services.bell.ring("privacy", Message(task="advance", id=facts.requested.id))
    return facts, replayed


async def taken(
    services: Services, facts: StudyFacts, location: str, prefer: str | None, *, replayed: bool
) -> Response:
    """Answer 202, or 201 with the finished study where it was waited for in time."""
    studies, identity = StudyArchive(services.archive), facts.requested.id

    async def look() -> bool:
        return "outcome" in await studies.facts.names(identity)

    waited = await finished(look, asked_to_wait(prefer, services.limits.wait_seconds))
    # A replay without waiting gives the first answer again, to the letter.
    facts = (await studies.any(identity) if waited else None) or StudyFacts(facts.requested)
    status = 201 if waited else 202
    headers = accepted(f"{location}/{identity}", status, replayed=replayed, waited=waited)
    return answer(StudyResource.model_validate(await _whole(studies, facts)), status, headers)


async def shown(services: Services, request: Request, facts: StudyFacts) -> Response:
    """Answer with a study, its answer included once it is there; then it never changes."""
    body = json.dumps(await _whole(StudyArchive(services.archive), facts))
    if facts.outcome is None:
        return Response(body, 200, RETRY_AFTER, media_type="application/json")
    return unchanging(request, body)


async def answer_of(services: Services, facts: StudyFacts) -> dict[str, Any] | None:
    """Return the answer of a study, None before it is there."""
    if not isinstance(facts.outcome, StudyDone):
        return None
    found: dict[str, Any] = json.loads(await StudyArchive(services.archive).result(facts.outcome))
    return found


async def _whole(studies: StudyArchive, facts: StudyFacts) -> dict[str, Any]:
    body = study_resource(facts).model_dump(mode="json") | {"asked": _asked(facts.requested.work)}
    if isinstance(facts.outcome, StudyDone):
        body |= json.loads(await studies.result(facts.outcome))
    return body


def _asked(work: Work) -> dict[str, Any]:
    """Return what was asked, in the words of the request; policies by name, no records and no table of values."""
    match work:
        case SweepWork():
            names = [one.name for one in work.configurations]
            kept = work.model_dump(mode="json", include={"unit", "pilot", "ppi", "attacks", "seed"})
            groups: dict[str, list[str]] = {}
            for one in work.sources:
                if one.group is not None:
                    groups.setdefault(one.group, []).append(one.id)
            return kept | {"sources": [one.id for one in work.sources], "configurations": names, "groups": groups}
        case RecommendationWork():
            question = work.asked.model_dump(mode="json", exclude={"first", "hierarchies"})
            inline = work.inline is not None
            source = None if inline else work.source.model_dump(mode="json", exclude_none=True)
            return question | {"source": source, "pilot": work.pilot}
        case UtilityWork():
            kept = work.model_dump(mode="json", exclude={"kind", "task"})
            return kept | work.task.model_dump(mode="json")
        case AttackWork() | ProfilesWork():
            return work.model_dump(mode="json", exclude={"kind"})
        case _:
            assert_never(work)
