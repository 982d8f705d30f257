"""Recommendations: which policy passes a gate at the least loss."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from pratique_privacy.admission import terms_of
from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNCHANGED, Limit, Prefer, after_id, answer, answers, begun, id_cursor, takes
from pratique_privacy.http.body import read_with_records
from pratique_privacy.http.examples import PLACES
from pratique_privacy.http.following import add_following
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.origins import Origins, find, kept, sample
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.services import Services
from pratique_privacy.http.shelf import Shelf
from pratique_privacy.http.studies import StudyResource, shown, study_for, study_page, take_in, taken
from pratique_privacy.keys import Caller
from pratique_privacy.studies.flow import StudyFacts
from pratique_shared.contracts.adversary import Attacks, Linkage, PartialQi
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import DropColumn, Policy, Step, TableStep
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer
from pratique_shared.contracts.releases import ReleaseRequest
from pratique_shared.contracts.studies import Recommendation, RecommendationRequest, RecommendationWork

router = APIRouter(prefix="/recommendations", tags=["studies"])
EXAMPLE: dict[str, Any] = {
    "source": {"dataset": PLACES["dataset_id"]},
    "attributes": {"quasi_identifiers": ["station", "hour"], "insensitive": ["kwh"]},
    "policy": {"steps": []},
    "gate": {"k": {"min": 2}, "survival": {"min": 0.5}},
}


@router.post(
    "",
    operation_id="createRecommendation",
    status_code=202,
    response_model=StudyResource,
    summary="Ask which policy passes a gate at the least loss",
    responses=begun(StudyResource),
    openapi_extra=takes(RecommendationRequest, dataset=EXAMPLE),
)
async def create_recommendation(
    request: Request,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Take a question in: it is durable when this answers, and the resource says how far it is."""
    body = await read_with_records(request, services.limits)
    asked = body.as_a(RecommendationRequest)
    slot = slot_of(services.archive, caller, "recommendation", idempotency_key, body.raw)

    async def make(identity: str) -> RecommendationWork:
        question, origins = await _admitted(services, caller, asked)
        source, inline = await kept(services.archive, origins, asked.source, identity)
        return RecommendationWork(source=source, inline=inline, pilot=asked.pilot, asked=question)

    facts, replayed = await take_in(services, caller, slot, "rec", None, make)
    return await taken(services, facts, "/recommendations", prefer, replayed=replayed)


@router.get("", operation_id="listRecommendations", response_model=PageOf[StudyResource], responses=answers())
async def list_recommendations(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("rec")] = None
) -> Response:
    """List the recommendations of the tenant, newest first, without their answers."""
    return answer(await study_page(services, caller, "rec", id_cursor("rec", after), limit))


async def _found(recommendation_id: str, caller: Called, services: Reach) -> StudyFacts:
    return await study_for(services, caller, "rec", recommendation_id)


@router.get(
    "/{recommendation_id}",
    operation_id="getRecommendation",
    response_model=StudyResource,
    responses={**UNCHANGED, **answers(404)},
)
async def get_recommendation(
    request: Request, facts: Annotated[StudyFacts, Depends(_found)], services: Reach
) -> Response:
    """Say where a recommendation stands; completed: `recommended`, the `front`, and how far the `search` came."""
    return await shown(services, request, facts)


add_following(router, "/{recommendation_id}", "Recommendation", _found)


async def _admitted(services: Services, caller: Caller, asked: RecommendationRequest) -> tuple[Recommendation, Origins]:
    """Hold a question against policies, sources and columns; raises the problem of what cannot stand."""
    shelf = Shelf(services.archive, caller.tenant)
    _, floor = await shelf.floor()
    shared = {name: getattr(asked, name) for name in asked.model_fields_set & ReleaseRequest.model_fields.keys()}
    as_release = ReleaseRequest.model_construct(**shared)
    terms = terms_of(as_release, await shelf.named(asked.policy), floor, caller)
    origins = await find(services.archive, caller, asked.source)
    rows = await sample(services.archive, origins)
    first = _first(terms.policy, terms.attributes)
    admitted = await services.tables.admit(
        rows,
        None if rows is not None else origins.columns,
        policy=Policy(steps=first),
        attributes=terms.attributes,
        built_in=terms.built_in,
        pilot=asked.pilot,
    )
    _check_columns(asked, admitted.attributes)
    attacks = terms.attacks or Attacks()
    question = Recommendation(
        attributes=admitted.attributes,
        gate=terms.gate,
        first=first,
        ppi=terms.ppi,
        partial_qi=attacks.partial_qi or PartialQi(),
        linkage=attacks.linkage or Linkage(),
        taus=asked.taus,
        exempt=asked.exempt,
        hierarchies=asked.hierarchies,
        budget=asked.budget,
    )
    return question, origins


def _first(policy: Policy, attributes: Attributes | None) -> tuple[Step, ...]:
    """Return the steps that come first, identifiers that none of them names dropped."""
    for place, step in enumerate(policy.steps):
        if isinstance(step, TableStep):
            error = FieldError(pointer("policy", "steps", place), "leave it out: suppression is what is searched for")
            raise Unprocessable("step-not-first", "Only steps on columns can come first.", [error])
    named = {step.column for step in policy.steps if not isinstance(step, TableStep)}
    bare = [name for name in (attributes.identifiers if attributes else ()) if name not in named]
    return (*policy.steps, *(DropColumn(column=name, op="drop_column") for name in bare))


def _check_columns(asked: RecommendationRequest, attributes: Attributes) -> None:
    errors = [
        FieldError(pointer("hierarchies", name), "is no quasi-identifier")
        for name in asked.hierarchies
        if name not in attributes.quasi_identifiers
    ]
    if asked.exempt is not None and asked.exempt.column not in attributes.shown:
        errors.append(FieldError("/exempt/column", "is no published column"))
    if errors:
        raise Unprocessable("column-unknown", "A column that is named here is not published as that.", errors)
