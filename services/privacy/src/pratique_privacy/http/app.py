"""The app: the routers, who may use them, and one shape of refusal."""

from collections.abc import Iterator
from functools import partial

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from pratique_privacy.http import (
    api_keys,
    attacks,
    audit,
    bundles,
    captures,
    certificates,
    datasets,
    health,
    ics,
    integrations,
    meters,
    policies,
    problems,
    profiles,
    public_keys,
    recommendations,
    reference,
    releases,
    reports,
    results,
    session,
    signing_keys,
    sweeps,
    tenant_keys,
    trials,
    utility,
    webhooks,
)
from pratique_privacy.http.access import authorise, check_rows
from pratique_privacy.http.auditing import Auditing
from pratique_privacy.http.callers import Rating
from pratique_privacy.http.forwarding import Forwarding
from pratique_privacy.http.heads import Heads
from pratique_privacy.http.openapi import document
from pratique_privacy.http.parameters import known_parameters
from pratique_privacy.http.services import Services
from pratique_privacy.http.trace import Routed, Trace, begin_at_none

PRIVATE = (
    captures,
    datasets,
    releases,
    results,
    attacks,
    sweeps,
    utility,
    recommendations,
    policies,
    profiles,
    trials,
    api_keys,
    webhooks,
    integrations,
    session,
)
EVIDENCE = (certificates, bundles, reports, signing_keys, tenant_keys, audit)
OPEN = (health, meters, reference, public_keys, ics)


def create_app(services: Services) -> FastAPI:
    """Build the API around its services; raises RuntimeError where an operation has no row in the table of access."""
    app = FastAPI(
        title="Pratique",
        version=services.version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.services, app.state.operations = services, tuple(operations())
    begin_at_none(app.state.operations)
    for module in (*PRIVATE, *EVIDENCE):
        app.include_router(module.router, dependencies=[Depends(authorise), Depends(known_parameters)])
    for module in OPEN:
        app.include_router(module.router, dependencies=[Depends(known_parameters)])
    app.include_router(session.open_router, dependencies=[Depends(known_parameters)])
    check_rows(route.operation_id or route.path for route in operations())
    problems.install(app)
    app.add_middleware(Routed)
    app.add_middleware(Auditing, log=services.audit)
    app.add_middleware(Heads)
    app.add_middleware(Rating)
    app.add_middleware(Forwarding, front=services.front)
    app.add_middleware(Trace)
    app.openapi = partial(document, app)  # type: ignore[method-assign]
    return app


def operations() -> Iterator[APIRoute]:
    """Yield every operation of the API."""
    routers: list[APIRouter] = [module.router for module in (*PRIVATE, *EVIDENCE, *OPEN)] + [session.open_router]
    for router in routers:
        yield from (route for route in router.routes if isinstance(route, APIRoute))
