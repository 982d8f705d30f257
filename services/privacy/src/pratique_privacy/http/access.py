"""Access: who may do what. One row an operation; an operation without a row does not start."""

import re
from collections.abc import Iterable
from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.http.auditing import begin, changes, is_audited
from pratique_privacy.http.cookies import caller_of
from pratique_privacy.http.scopes import within
from pratique_privacy.http.services import Services
from pratique_privacy.keys import Caller, Role
from pratique_shared.contracts.ids import ID
from pratique_shared.contracts.problems import Forbidden, Gone, Problem, Unauthorized, no_such

ADMIN: Final = frozenset[Role]({"admin"})
OPERATOR: Final = frozenset[Role]({"operator", "admin"})
AUDITORS: Final = frozenset[Role]({"auditor", "admin"})
WATCHERS: Final = frozenset[Role]({"operator", "auditor", "admin"})
RECEIVERS: Final = frozenset[Role]({"operator", "recipient", "admin"})
EVERYONE: Final = frozenset[Role]({"operator", "recipient", "auditor", "admin"})

# A recipient sees the releases of its own name only; an auditor sees figures and no record.
ROLES: Final[dict[str, frozenset[Role]]] = {
    "addCapture": OPERATOR,
    "listCaptures": OPERATOR,
    "getCapture": OPERATOR,
    "getCaptureRecords": OPERATOR,
    "getCaptureIdentifiers": OPERATOR,
    "deleteCapture": OPERATOR,
    "addDataset": OPERATOR,
    "listDatasets": OPERATOR,
    "getDataset": OPERATOR,
    "deleteDataset": OPERATOR,
    "createRelease": RECEIVERS,
    "listReleases": EVERYONE,
    "getRelease": EVERYONE,
    "getReleaseEvents": EVERYONE,
    "cancelRelease": OPERATOR,
    "withdrawRelease": OPERATOR,
    "getPosture": EVERYONE,
    "getGate": EVERYONE,
    "getReleaseRecords": RECEIVERS,
    "getReleasePreview": OPERATOR,
    "getRisk": WATCHERS,
    "getSuggestions": OPERATOR,
    "getCertificate": EVERYONE,
    "getBundle": EVERYONE,
    "getReport": EVERYONE,
    "createAttack": OPERATOR,
    "listAttacks": WATCHERS,
    "getAttack": WATCHERS,
    "getAttackEvents": WATCHERS,
    "cancelAttack": OPERATOR,
    "createSweep": OPERATOR,
    "listSweeps": WATCHERS,
    "getSweep": WATCHERS,
    "getSweepResults": WATCHERS,
    "getSweepEvents": WATCHERS,
    "cancelSweep": OPERATOR,
    "createUtility": OPERATOR,
    "listUtility": WATCHERS,
    "getUtility": WATCHERS,
    "getUtilityEvents": WATCHERS,
    "cancelUtility": OPERATOR,
    "listPolicies": WATCHERS,
    "getPolicy": WATCHERS,
    "putPolicy": OPERATOR,
    "classify": OPERATOR,
    "preview": OPERATOR,
    "createRecommendation": OPERATOR,
    "listRecommendations": WATCHERS,
    "getRecommendation": WATCHERS,
    "getRecommendationEvents": WATCHERS,
    "cancelRecommendation": OPERATOR,
    "generaliseProfiles": OPERATOR,
    "getProfiles": OPERATOR,
    "getProfilesEvents": OPERATOR,
    "cancelProfiles": OPERATOR,
    "getGateFloor": WATCHERS,
    "putGateFloor": ADMIN,
    "listApiKeys": ADMIN,
    "createApiKey": ADMIN,
    "revokeApiKey": ADMIN,
    "listSigningKeys": EVERYONE,
    "addSigningKey": ADMIN,
    "listTenantKeys": WATCHERS,
    "addTenantKey": ADMIN,
    "listAudit": AUDITORS,
    "checkAudit": AUDITORS,
    "createWebhook": OPERATOR,
    "listWebhooks": OPERATOR,
    "getWebhook": OPERATOR,
    "deleteWebhook": OPERATOR,
    "listDeliveries": OPERATOR,
    "redeliver": OPERATOR,
    "getIcs": OPERATOR,
    "whoAmI": EVERYONE,
    "createTicket": EVERYONE,
}
# Those who operate the service, by a token of their own (`pratique_privacy.http.meters`).
SCRAPED: Final = frozenset({"getMetrics"})
# Public keys are for whoever holds a certificate; the coordinator has a token of its own.
CALLBACKS: Final = frozenset({"icsHealth", "putInfoJob", "deleteInfoJob"})
SIGN_IN: Final = frozenset({"getSession", "createSession", "endSession"})
ANONYMOUS: Final = frozenset({"livez", "readyz", "version", "docs", "getJwks", "getPublicKey"}) | CALLBACKS | SIGN_IN

bearer_scheme = HTTPBearer(
    auto_error=False, description="An API key, or a JWT of the identity provider: `Authorization: Bearer <it>`."
)


def services_of(request: Request) -> Services:
    """Return what this app was built with."""
    services: Services = request.app.state.services
    return services


async def authorise(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(bearer_scheme)]
) -> Caller:
    """Return who calls, once it is known and its role may do this; raises `Unauthorized`, `Forbidden`."""
    services = services_of(request)
    if credentials is not None:
        caller = await services.reception.caller(request, credentials.credentials)
    elif (found := await caller_of(request, services.keys)) is not None:
        caller = services.reception.counted(request, found)
    else:
        raise Unauthorized("key-missing", "Send `Authorization: Bearer <api key>`.")
    route: APIRoute = request.scope["route"]
    trail = begin(request, caller.tenant, caller.role, caller.key_id) if is_audited(route) else None
    check_may(caller, route)
    if trail is not None and changes(route):
        await services.audit.record(trail.tenant, trail.event)
    return caller


async def is_let_in(request: Request) -> bool:
    """Whether whoever is being answered would be let in now: a key is revoked and a session ends meanwhile."""
    services = services_of(request)
    _, bearer = get_authorization_scheme_param(request.headers.get("authorization"))
    try:
        known = await (services.reception.known(bearer) if bearer else caller_of(request, services.keys))
    except Problem:
        return False
    return known is not None


def check_may(caller: Caller, route: APIRoute) -> None:
    """Raise `Forbidden` where neither the role of a caller nor its scopes reach an operation."""
    if caller.role not in ROLES[route.operation_id or ""]:
        raise Forbidden("role-forbidden", "The role of this key may not do this: ask for a key of another role.")
    check_scopes(caller, route)


def check_scopes(caller: Caller, route: APIRoute) -> None:
    """Raise `Forbidden` where the scopes of a caller do not reach an operation."""
    if not within(route, caller.scopes):
        raise Forbidden("scope-forbidden", "The scopes of this key do not reach this: ask for a key with wider ones.")


Called = Annotated[Caller, Depends(authorise)]
Reach = Annotated[Services, Depends(services_of)]


def visible(caller: Caller, facts: ReleaseFacts) -> bool:
    """Whether the caller may know of a release of its tenant: a recipient, of its own only."""
    mine = caller.recipient is not None and facts.requested.recipient == caller.recipient
    return caller.role != "recipient" or mine


async def release_for(services: Services, caller: Caller, release_id: str) -> ReleaseFacts:
    """Return the facts of a release that the caller may see; raises `NotFound`, the same for all others."""
    if not is_id("rel", release_id):
        raise no_such("release")
    facts = await services.archive.release(caller.tenant, release_id)
    if not visible(caller, facts):
        raise no_such("release")
    return facts


async def present_release(services: Services, caller: Caller, release_id: str) -> ReleaseFacts:
    """Return the facts of a release that the caller may see and that was not withdrawn; raises `NotFound`, `Gone`."""
    facts = await release_for(services, caller, release_id)
    if facts.withdrawn:
        raise Gone("withdrawn", "This release was withdrawn and its files are gone: ask for a new release.")
    return facts


def is_id(prefix: str, text: str) -> bool:
    """Whether a text has the form of an id; only such a text is looked up."""
    return re.fullmatch(f"{prefix}_{ID}", text) is not None


def check_rows(operations: Iterable[str]) -> None:
    """Raise where an operation stands in no row of the table, or a row has no operation."""
    if unknown := set(operations) ^ (set(ROLES) | ANONYMOUS | SCRAPED):
        raise RuntimeError(f"operations and permissions differ: {sorted(unknown)}")
