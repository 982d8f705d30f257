"""Terms with an identity provider: whose tokens are taken, for whom, and which of their claims say what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pratique_privacy.keys import Role

# The widest role of a token is its caller's; what a provider grants beside ours is none of our business.
WIDEST_FIRST: Final[tuple[Role, ...]] = ("admin", "operator", "auditor", "recipient")
ROLE_CLAIMS: Final = ("roles", "realm_access.roles")  # RFC 9068, 2.2.3.1; Keycloak's realm roles
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Claims:
    """Where a token says which role, tenant and recipient its caller has; a path has points between names."""

    roles: tuple[str, ...] = ROLE_CLAIMS
    role_prefix: str = "pratique-"
    tenant: str = "tenant"
    recipient: str = "recipient"


@dataclass(frozen=True)
class TokenTerms:
    """Whose tokens are taken, and which audience must be among those that they name."""

    issuer: str
    audiences: tuple[str, ...]
    claims: Claims = Claims()


def claim_at(claims: Mapping[str, Any], path: str) -> object:
    """Return the claim at a path, None without one. A name may have points of its own, as an address has."""
    if path in claims:
        return claims[path]
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        inner = claims.get(".".join(parts[:cut]))
        if isinstance(inner, dict) and (found := claim_at(inner, ".".join(parts[cut:]))) is not None:
            return found
    return None


def words_at(claims: Mapping[str, Any], path: str) -> tuple[str, ...]:
    """Return a claim as words: of a list those that are text, of a text those between its spaces (RFC 6749, 3.3)."""
    found = claim_at(claims, path)
    if isinstance(found, str):
        return tuple(found.split())
    return tuple(entry for entry in found if isinstance(entry, str)) if isinstance(found, list) else ()


def text_at(claims: Mapping[str, Any], path: str) -> str | None:
    """Return a claim that is one text, alone or as the only entry of a list; None for anything else."""
    found = claim_at(claims, path)
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, str) and found else None


def role_in(claims: Mapping[str, Any], names: Claims) -> Role | None:
    """Return the widest role that a token gives, None without one of ours."""
    given = {word for path in names.roles for word in words_at(claims, path)}
    return next((role for role in WIDEST_FIRST if f"{names.role_prefix}{role}" in given), None)


def check_key_address(url: str) -> None:
    """Raise ValueError for an address at which somebody on the way could put keys of his own.

    Over plain http a name without points may stand too: it is one of the same machine or container network.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_near = host in LOOPBACK or ("." not in host and ":" not in host)
    if not host or parts.username is not None or not (parts.scheme == "https" or (parts.scheme == "http" and is_near)):
        raise ValueError("keys come over https, or over http from this machine or its container network")
