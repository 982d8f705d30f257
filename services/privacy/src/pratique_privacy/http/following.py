"""Following: what every kind of study has beside its question and its answer, its events and its end."""

import json
from collections.abc import Awaitable, Callable, Hashable
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from pratique_privacy.http.access import Reach
from pratique_privacy.http.answers import accepted, answer, answers
from pratique_privacy.http.services import Services
from pratique_privacy.http.studies import StudyResource, study_resource
from pratique_privacy.http.watching import EVENTS, Watched, watching
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.studies import Members

Find = Callable[..., Awaitable[StudyFacts]]


def add_following(router: APIRouter, path: str, kind: str, find: Find, *gone: int) -> None:
    """Add `get<kind>Events` and `cancel<kind>` of the study at `path`, which `find` looks up as FastAPI's dependency.

    `gone` are statuses that `find` may answer with beside 404.
    """

    @router.get(
        f"{path}/events",
        operation_id=f"get{kind}Events",
        summary="Watch a study",
        response_class=StreamingResponse,
        responses={**EVENTS, **answers(404, *gone)},
    )
    async def get_events(request: Request, facts: Annotated[StudyFacts, Depends(find)], services: Reach) -> Response:
        """Send the study, without its answer, whenever it has changed, until it is done, for an hour at most."""
        return watching(request, _watched(services, facts))

    @router.post(
        f"{path}/cancel",
        operation_id=f"cancel{kind}",
        summary="Stop a study",
        status_code=202,
        response_model=StudyResource,
        responses=answers(404, *gone, 507),
    )
    async def cancel(request: Request, facts: Annotated[StudyFacts, Depends(find)], services: Reach) -> Response:
        """Stop a study and whatever is made for it; one that has its outcome keeps it."""
        stopped = await _cancelled(services, facts)
        return answer(study_resource(stopped), 202, accepted(request.url.path.removesuffix("/cancel"), 202))


def _watched(services: Services, facts: StudyFacts) -> Watched:
    studies, identity = StudyArchive(services.archive), facts.requested.id

    async def marks() -> Hashable:
        own, scores = await studies.facts.names(identity), await services.archive.scores.names(identity)
        return frozenset(own), frozenset(scores)

    async def shown() -> tuple[str, bool]:
        present = await studies.any(identity) or facts
        return json.dumps(study_resource(present).model_dump(mode="json")), present.outcome is not None

    return Watched("study", marks, shown)


async def _cancelled(services: Services, facts: StudyFacts) -> StudyFacts:
    """Cancel a study that has no outcome, with the releases of a sweep; return it as it stands then."""
    studies, identity = StudyArchive(services.archive), facts.requested.id
    if facts.outcome is not None or not await studies.cancel(identity):
        return await studies.any(identity) or facts
    for release in facts.plan.releases if isinstance(facts.plan, Members) else ():
        await services.archive.cancel(release)
    # The worker shreds the records that came with the question.
    await services.bell.ring("privacy", Message(task="advance", id=identity))
    return await studies.any(identity) or facts
