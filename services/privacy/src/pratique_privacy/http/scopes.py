"""Scopes: what a key is held to within its role. A scope is an operation, or a group of them, perhaps to read only."""

from collections.abc import Iterable
from typing import Final

from fastapi.routing import APIRoute

# By the first part of the path. An operation of no group is within the reach of its own name alone.
GROUPS: Final[dict[str, str]] = {
    "captures": "captures",
    "datasets": "datasets",
    "releases": "releases",
    "sweeps": "studies",
    "utility": "studies",
    "recommendations": "studies",
    "policies": "policies",
    "gate-floor": "policies",
    "classify": "trials",
    "preview": "trials",
    "profiles": "trials",
    "webhooks": "webhooks",
    "integrations": "webhooks",
    "api-keys": "keys",
    "signing-keys": "keys",
    "tenant-keys": "keys",
    "audit": "audit",
}
READ: Final = ":read"
ALWAYS: Final = frozenset({"whoAmI", "createTicket"})  # a session has the scopes of its key


def scopes_of(route: APIRoute) -> frozenset[str]:
    """Return every scope that an operation is within."""
    group = GROUPS.get(route.path.split("/")[1])
    found = {route.operation_id or ""} | ({group} if group else set())
    if group and (route.methods or set()) <= {"GET", "HEAD"}:
        found.add(group + READ)
    return frozenset(found)


def within(route: APIRoute, scopes: Iterable[str] | None) -> bool:
    """Whether a caller with these scopes may use an operation; one without scopes is held to nothing."""
    return scopes is None or route.operation_id in ALWAYS or not scopes_of(route).isdisjoint(scopes)


def reach(routes: Iterable[APIRoute], scopes: Iterable[str]) -> frozenset[str]:
    """Return the operations that scopes stand for."""
    held = frozenset(scopes)
    return frozenset(route.operation_id or "" for route in routes if within(route, held))


def known_scopes(routes: Iterable[APIRoute]) -> frozenset[str]:
    """Return every scope that there is."""
    return frozenset().union(*(scopes_of(route) for route in routes))
