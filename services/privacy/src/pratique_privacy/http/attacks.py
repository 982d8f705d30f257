"""Further adversaries on a release, with other parameters: they never alter its posture, gate or files."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from pratique_privacy.http.access import Called, Reach, present_release
from pratique_privacy.http.answers import UNCHANGED, Limit, Prefer, after_id, answer, answers, begun, id_cursor, takes
from pratique_privacy.http.body import read_json
from pratique_privacy.http.examples import ATTACKS
from pratique_privacy.http.following import add_following
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.results import check_not_broken
from pratique_privacy.http.studies import StudyResource, shown, study_for, study_resource, take_in, taken
from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.problems import Conflict, no_such
from pratique_shared.contracts.studies import AttackWork

router = APIRouter(prefix="/releases/{release_id}/attacks", tags=["studies"])


@router.post(
    "",
    operation_id="createAttack",
    status_code=202,
    response_model=StudyResource,
    summary="Try other adversaries on a release",
    responses=begun(StudyResource),
    openapi_extra=takes(Attacks, **ATTACKS),
)
async def create_attack(
    request: Request,
    release_id: str,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Run adversaries with these parameters on the codes of a measured release."""
    facts = await present_release(services, caller, release_id)
    check_not_broken(facts)
    if facts.measured is None:
        raise Conflict("not-finished", "The release is not measured yet: ask again when it is.")
    body = await read_json(request, services.limits.json_bytes)
    slot = slot_of(services.archive, caller, f"attack {release_id}", idempotency_key, body.raw)

    async def make(_: str) -> AttackWork:
        return AttackWork(release=release_id, attacks=body.as_a(Attacks))

    study, replayed = await take_in(services, caller, slot, "atk", None, make)
    return await taken(services, study, f"/releases/{release_id}/attacks", prefer, replayed=replayed)


@router.get("", operation_id="listAttacks", response_model=PageOf[StudyResource], responses=answers(404, 410))
async def list_attacks(
    release_id: str,
    caller: Called,
    services: Reach,
    limit: Limit = 100,
    after: Annotated[str | None, after_id("atk")] = None,
) -> Response:
    """List the further adversaries of a release, newest first, without their figures."""
    await present_release(services, caller, release_id)
    studies, cursor = StudyArchive(services.archive), id_cursor("atk", after)
    ids = [one for one in await studies.attacks_of(release_id) if cursor is None or one < cursor]
    found = [facts for one in ids[:limit] if (facts := await studies.any(one)) is not None]
    following = ids[limit - 1] if len(ids) > limit else None
    return answer(PageOf[StudyResource](data=tuple(map(study_resource, found)), next=following))


async def _found(release_id: str, attack_id: str, caller: Called, services: Reach) -> StudyFacts:
    """Return the facts of adversaries on a release that the caller may see; raises `NotFound`, `Gone`."""
    await present_release(services, caller, release_id)
    facts = await study_for(services, caller, "atk", attack_id)
    if not (isinstance(facts.requested.work, AttackWork) and facts.requested.work.release == release_id):
        raise no_such("study")
    return facts


@router.get(
    "/{attack_id}", operation_id="getAttack", response_model=StudyResource, responses={**UNCHANGED, **answers(404, 410)}
)
async def get_attack(request: Request, facts: Annotated[StudyFacts, Depends(_found)], services: Reach) -> Response:
    """Say where further adversaries stand; once completed: `attacks`, as in a posture."""
    return await shown(services, request, facts)


add_following(router, "/{attack_id}", "Attack", _found, 410)
