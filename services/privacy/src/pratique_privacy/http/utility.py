"""Utility: what a classifier still learns of what suppression leaves, asked for and watched."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import UNCHANGED, Limit, Prefer, after_id, answer, answers, begun, id_cursor, takes
from pratique_privacy.http.body import read_json
from pratique_privacy.http.examples import UTILITIES
from pratique_privacy.http.following import add_following
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.origins import find_at
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.services import Services
from pratique_privacy.http.studies import StudyResource, shown, study_for, study_page, take_in, taken
from pratique_privacy.keys import Caller
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.problems import pointer
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import UtilityRequest, UtilityWork
from pratique_shared.contracts.utility import UtilityTask

router = APIRouter(prefix="/utility", tags=["studies"])


@router.post(
    "",
    operation_id="createUtility",
    status_code=202,
    response_model=StudyResource,
    summary="Measure what a classifier still learns after suppression",
    responses=begun(StudyResource),
    openapi_extra=takes(UtilityRequest, **UTILITIES),
)
async def create_utility(
    request: Request,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Take a study in: a random forest on what is left of the training part, scored on the untouched test part."""
    body = await read_json(request, services.limits.json_bytes)
    asked = body.as_a(UtilityRequest)
    slot = slot_of(services.archive, caller, "utility", idempotency_key, body.raw)

    async def make(_: str) -> UtilityWork:
        await _look_up(services, caller, asked)
        return UtilityWork(
            sources=asked.sources,
            unit=asked.unit,
            label=asked.label,
            features=asked.features,
            task=UtilityTask.model_validate({name: getattr(asked, name) for name in UtilityTask.model_fields}),
        )

    facts, replayed = await take_in(services, caller, slot, "utl", asked.name, make)
    return await taken(services, facts, "/utility", prefer, replayed=replayed)


async def _look_up(services: Services, caller: Caller, asked: UtilityRequest) -> None:
    """Raise the problem of a source that is not there."""
    captures = tuple(source for source in asked.sources if source.startswith("cap_"))
    if captures:
        # Together: some of them may be without records, all of them may not.
        await find_at("/sources", services.archive, caller, Source(captures=captures, unit=asked.unit))
    for place, source in enumerate(asked.sources):
        if source.startswith("dst_"):
            await find_at(pointer("sources", place), services.archive, caller, Source(dataset=source))
        elif source.startswith("rel_"):
            await present_release(services, caller, source)


@router.get("", operation_id="listUtility", response_model=PageOf[StudyResource], responses=answers())
async def list_utility(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("utl")] = None
) -> Response:
    """List the utility studies of the tenant, newest first, without their answers."""
    return answer(await study_page(services, caller, "utl", id_cursor("utl", after), limit))


async def _found(utility_id: str, caller: Called, services: Reach) -> StudyFacts:
    return await study_for(services, caller, "utl", utility_id)


@router.get(
    "/{utility_id}", operation_id="getUtility", response_model=StudyResource, responses={**UNCHANGED, **answers(404)}
)
async def get_utility(request: Request, facts: Annotated[StudyFacts, Depends(_found)], services: Reach) -> Response:
    """Say where a study stands; once completed: `rows`, one a threshold, with 95 % intervals."""
    return await shown(services, request, facts)


add_following(router, "/{utility_id}", "Utility", _found)
