"""Policies and the gate floor: what a tenant keeps under a name, and what it holds every release to."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from pratique_privacy.gate import check_metrics
from pratique_privacy.http.access import Called, Reach
from pratique_privacy.http.answers import (
    UNCHANGED,
    After,
    Limit,
    answer,
    answers,
    is_known,
    one_page,
    private,
    takes,
)
from pratique_privacy.http.body import read_body
from pratique_privacy.http.resources import GateFloor, PageOf, PolicyResource
from pratique_privacy.http.shelf import NAME, Shelf
from pratique_privacy.policy.builtin import BUILT_IN
from pratique_shared.contracts.problems import Conflict, FieldError, Unprocessable
from pratique_shared.contracts.releases import StoredPolicy

router = APIRouter(tags=["policies"])

Version = Annotated[int | None, Query(ge=1, le=999_999_999, description="Of a stored policy; else the newest.")]
EXAMPLE = {"steps": [{"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64}], "gate": {"k": {"min": 3}}}


@router.get("/policies", operation_id="listPolicies", response_model=PageOf[PolicyResource], responses=answers())
async def list_policies(caller: Called, services: Reach, limit: Limit = 100, after: After = None) -> Response:
    """List the built-in and the stored policies, each in its newest version."""
    shelf = Shelf(services.archive, caller.tenant)
    names, following = one_page(await shelf.names(), after, limit)
    found = [await shelf.policy(name) for name in names]
    return answer(PageOf[PolicyResource](data=tuple(found), next=following))


@router.get(
    "/policies/{name}",
    operation_id="getPolicy",
    response_model=PolicyResource,
    responses={**UNCHANGED, **answers(404)},
)
async def get_policy(request: Request, name: str, caller: Called, services: Reach, version: Version = None) -> Response:
    """Give a policy in its newest version, or in an earlier one, which never changes; the version is its ETag."""
    found = await Shelf(services.archive, caller.tenant).policy(name, version)
    tag = version_tag(found)
    if is_known(request, tag):
        return Response(None, 304, private(tag))
    return answer(found, 200, private(tag))


@router.put(
    "/policies/{name}",
    operation_id="putPolicy",
    response_model=PolicyResource,
    responses=answers(400, 409, 413, 507),
    openapi_extra=takes(StoredPolicy, prefix=EXAMPLE),
)
async def put_policy(request: Request, name: str, caller: Called, services: Reach) -> Response:
    """Store a policy as the next version of its name; releases keep the version that they ran with."""
    if name in BUILT_IN:
        raise Conflict("policy-built-in", "A built-in policy cannot be replaced: choose another name.")
    if not NAME.fullmatch(name):
        error = FieldError("/name", "must be letters, digits, point, dash, underscore, at most 100, and no digest")
        raise Unprocessable("query-invalid", "The name of the policy is wrong.", [error])
    asked = await read_body(request, StoredPolicy, services.limits.json_bytes)
    check_metrics(asked.gate or {})
    stored = await Shelf(services.archive, caller.tenant).put(name, asked)
    return answer(stored, 200, {"ETag": version_tag(stored)})


def version_tag(policy: PolicyResource) -> str:
    """Return the ETag of a policy."""
    return f'"{policy.version or "built-in"}-{policy.sha256[:16]}"'


@router.get("/gate-floor", operation_id="getGateFloor", response_model=GateFloor, responses={**UNCHANGED, **answers()})
async def get_gate_floor(request: Request, caller: Called, services: Reach) -> Response:
    """Give the bounds that every release of the tenant is held to."""
    version, gate = await Shelf(services.archive, caller.tenant).floor()
    tag = f'"{version}"'
    if is_known(request, tag):
        return Response(None, 304, private(tag))
    return answer(GateFloor(gate=gate), 200, private(tag))


@router.put(
    "/gate-floor",
    operation_id="putGateFloor",
    response_model=GateFloor,
    responses=answers(400, 413, 507),
    openapi_extra=takes(GateFloor, floor={"gate": {"k": {"min": 3}}}),
)
async def put_gate_floor(request: Request, caller: Called, services: Reach) -> Response:
    """Set the bounds that every later release is held to; a request can only tighten them."""
    floor = await read_body(request, GateFloor, services.limits.json_bytes)
    check_metrics(floor.gate)
    version = await Shelf(services.archive, caller.tenant).put_floor(floor)
    return answer(floor, 200, {"ETag": f'"{version}"'})
