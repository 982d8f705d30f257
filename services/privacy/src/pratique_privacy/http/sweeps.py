"""Sweeps: every source under every configuration, asked for, watched, exported."""

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import (
    UNCHANGED,
    Limit,
    Prefer,
    after_id,
    answer,
    answers,
    begun,
    files,
    id_cursor,
    takes,
    unchanging,
)
from pratique_privacy.http.body import read_json
from pratique_privacy.http.downloads import made, served
from pratique_privacy.http.examples import SWEEPS
from pratique_privacy.http.following import add_following
from pratique_privacy.http.formats import MEDIA_TYPES, form_asked
from pratique_privacy.http.idempotency import IdempotencyKey, slot_of
from pratique_privacy.http.origins import Origins, find_at
from pratique_privacy.http.resources import PageOf
from pratique_privacy.http.services import Services
from pratique_privacy.http.shelf import Shelf
from pratique_privacy.http.studies import (
    StudyResource,
    answer_of,
    shown,
    study_for,
    study_page,
    take_in,
    taken,
)
from pratique_privacy.keys import Caller
from pratique_privacy.studies.flow import StudyFacts
from pratique_privacy.sweeps.results import Section
from pratique_privacy.tables import Row, SourceBytes
from pratique_shared.contracts.media import Form, file_name
from pratique_shared.contracts.problems import Conflict, FieldError, Unprocessable, pointer
from pratique_shared.contracts.releases import Source
from pratique_shared.contracts.studies import (
    Configuration,
    Configured,
    SweepRequest,
    SweepSource,
    SweepWork,
)

router = APIRouter(prefix="/sweeps", tags=["studies"])


@router.post(
    "",
    operation_id="createSweep",
    status_code=202,
    response_model=StudyResource,
    summary="Measure every source under every configuration",
    responses=begun(StudyResource),
    openapi_extra=takes(SweepRequest, **SWEEPS),
)
async def create_sweep(
    request: Request,
    caller: Called,
    services: Reach,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
) -> Response:
    """Take a sweep in. Each of its releases is measured and attacked as any other, and none of them is published."""
    body = await read_json(request, services.limits.json_bytes)
    asked = body.as_a(SweepRequest)
    slot = slot_of(services.archive, caller, "sweep", idempotency_key, body.raw)

    async def make(_: str) -> SweepWork:
        return await _work(services, caller, asked)

    facts, replayed = await take_in(services, caller, slot, "swp", asked.name, make)
    return await taken(services, facts, "/sweeps", prefer, replayed=replayed)


async def _work(services: Services, caller: Caller, asked: SweepRequest) -> SweepWork:
    """Look sources and policies up; raises the problem of what cannot stand."""
    shelf = Shelf(services.archive, caller.tenant)
    configurations = [
        await _configuration(services, shelf, asked, number) for number in range(len(asked.configurations))
    ]
    group_of = {source: name for name, members in (asked.groups or {}).items() for source in members}
    sources = []
    for number, identity in enumerate(asked.sources):
        digest = (await _origins(services, caller, asked, number)).digests()[0]
        sources.append(SweepSource(id=identity, sha256=digest.sha256, pilot=digest.pilot, group=group_of.get(identity)))
    seeded = "seed" in asked.attacks.model_fields_set
    return SweepWork(
        sources=tuple(sources),
        unit=asked.unit,
        configurations=tuple(configurations),
        pilot=asked.pilot,
        ppi=asked.ppi,
        attacks=asked.attacks if seeded else asked.attacks.model_copy(update={"seed": asked.seed}),
        seed=asked.seed,
    )


async def _origins(services: Services, caller: Caller, asked: SweepRequest, number: int) -> Origins:
    """Look one source up. Of one that is still being profiled nobody knows yet whether it has records."""
    identity = asked.sources[number]
    named = {"capture": identity} if identity.startswith("cap_") else {"dataset": identity}
    source = Source(**named, unit=asked.unit)
    return await find_at(pointer("sources", number), services.archive, caller, source)


async def _configuration(services: Services, shelf: Shelf, asked: SweepRequest, number: int) -> Configuration:
    """Look one policy up and hold it against the columns of records."""
    given = asked.configurations[number]
    as_given = Configured(name=given, policy=given) if isinstance(given, str) else given
    named = await shelf.named(as_given.policy, pointer("configurations", number))
    attributes = as_given.attributes or named.attributes
    if attributes is None and named.built_in is None:
        where = pointer("configurations", number, "attributes")
        advice = [FieldError(where, "is required with a policy that brings none")]
        raise Unprocessable("attributes-missing", "Say what each column is.", advice)
    if all(source.startswith("cap_") for source in asked.sources):
        await services.tables.admit(
            None,
            Origins(asked.unit).columns,
            policy=named.policy,
            attributes=attributes,
            built_in=named.built_in,
            pilot=asked.pilot,
        )
    return Configuration(name=as_given.name, built_in=named.built_in, policy=named.policy, attributes=attributes)


@router.get("", operation_id="listSweeps", response_model=PageOf[StudyResource], responses=answers())
async def list_sweeps(
    caller: Called, services: Reach, limit: Limit = 100, after: Annotated[str | None, after_id("swp")] = None
) -> Response:
    """List the sweeps of the tenant, newest first, without their answers."""
    return answer(await study_page(services, caller, "swp", id_cursor("swp", after), limit))


async def _found(sweep_id: str, caller: Called, services: Reach) -> StudyFacts:
    return await study_for(services, caller, "swp", sweep_id)


@router.get(
    "/{sweep_id}", operation_id="getSweep", response_model=StudyResource, responses={**UNCHANGED, **answers(404)}
)
async def get_sweep(request: Request, facts: Annotated[StudyFacts, Depends(_found)], services: Reach) -> Response:
    """Say where a sweep stands; once completed: figures by group and configuration, correlations, findings."""
    return await shown(services, request, facts)


add_following(router, "/{sweep_id}", "Sweep", _found)


@router.get(
    "/{sweep_id}/results",
    operation_id="getSweepResults",
    response_model=PageOf[Row],
    responses={**files(*MEDIA_TYPES.values()), **answers(404, 406, 409, 416)},
)
async def get_results(
    request: Request,
    sweep_id: str,
    facts: Annotated[StudyFacts, Depends(_found)],
    services: Reach,
    form: Annotated[Form | None, Query(alias="format")] = None,
    part: Annotated[Section, Query(description="Which of the tables.")] = "releases",
) -> Response:
    """Give one table of a completed sweep: its releases, or what follows from them."""
    found = await answer_of(services, facts)
    if found is None:
        raise Conflict("not-finished", "The sweep has no result yet: GET it to see how far it is.")
    asked = form_asked(request, form, "json")
    if asked == "json":
        return unchanging(request, json.dumps({"data": found[part], "next": None}))
    rows = SourceBytes("json", json.dumps(found[part]).encode())
    data = await services.tables.export(rows, asked)
    return await served(request, made(data, MEDIA_TYPES[asked], file_name(f"{sweep_id}-{part}", asked)))
