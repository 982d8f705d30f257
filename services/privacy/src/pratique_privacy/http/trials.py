"""Trials: what a policy would do, and what the columns seem to be; nothing of it is kept."""

import json
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict

from pratique_privacy.admission import terms_of
from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import UNKEPT, answer, answers, takes
from pratique_privacy.http.body import read_with_records
from pratique_privacy.http.examples import CAPTURE, TRIAL
from pratique_privacy.http.origins import find, tables
from pratique_privacy.http.resources import Suggestion
from pratique_privacy.http.shelf import Shelf
from pratique_shared.contracts.model import Contract
from pratique_shared.contracts.posture import Finding, Metrics
from pratique_shared.contracts.releases import ClassifyRequest, PreviewRequest, ReleaseRequest

router = APIRouter(tags=["trials"])


class Side(Contract):
    """The figures of a table and its rows."""

    metrics: Metrics
    rows: tuple[dict[str, Any], ...]


class Preview(Contract):
    """A table before and after a policy; rows stand in the order in which they were given, dropped ones are missing."""

    model_config = ConfigDict(extra="allow")

    before: Side
    after: Side
    distinct: dict[str, dict[str, int]] = {}
    suggestions: tuple[Suggestion, ...] = ()
    flags: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class Classification(Contract):
    """A suggested class for each column, with the reason."""

    columns: tuple[dict[str, Any], ...]


@router.post(
    "/preview",
    operation_id="preview",
    response_model=Preview,
    summary="Try a policy on at most 10,000 rows",
    responses=answers(400, 404, 409, 410, 413, 415, 507),
    openapi_extra=takes(PreviewRequest, inline=TRIAL),
)
async def preview(request: Request, caller: Called, services: Reach) -> Response:
    """Apply a policy and measure both sides; nothing is stored."""
    asked = (await read_with_records(request, services.limits)).as_a(PreviewRequest)
    named = await Shelf(services.archive, caller.tenant).named(asked.policy)
    as_release = ReleaseRequest.model_construct(**{**dict(asked), "gate": {}})
    terms = terms_of(as_release, named, {}, caller)
    sources = await tables(
        services.archive, await find(services.archive, caller, asked.source), services.limits.trial_rows
    )
    made = await services.tables.preview(
        sources,
        policy=terms.policy,
        attributes=terms.attributes,
        built_in=terms.built_in,
        ppi=terms.ppi,
        pilot=asked.pilot,
        tenant_key=(await services.keys.tenant_keys.current(caller.tenant)).secret,
        rows=asked.rows,
        suggest=asked.suggest,
    )
    return Response(json.dumps(made), 200, UNKEPT, media_type="application/json")


@router.post(
    "/classify",
    operation_id="classify",
    response_model=Classification,
    summary="Suggest what each column is",
    responses=answers(400, 404, 409, 410, 413, 415),
    openapi_extra=takes(ClassifyRequest, capture=CAPTURE),
)
async def classify(request: Request, caller: Called, services: Reach) -> Response:
    """Suggest a class for every column: only people who know what is known elsewhere can decide it."""
    asked = (await read_with_records(request, services.limits)).as_a(ClassifyRequest)
    sources = await tables(services.archive, await find(services.archive, caller, asked.source))
    return answer(Classification(columns=tuple(await services.tables.classify(sources))), 200, UNKEPT)
