"""Tokens: who calls, by a JWT that an identity provider signed (RFC 7519, 8725, 9068)."""

from typing import Any, Final

import jwt
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    MissingRequiredClaimError,
    PyJWTError,
)

from pratique_privacy.identity.key_set import ALGORITHMS, KeySet
from pratique_privacy.identity.terms import TokenTerms, role_in, text_at
from pratique_privacy.keys import Caller, KeyRoom
from pratique_shared.contracts.problems import Unauthorized, Unavailable

LEEWAY: Final = 30  # seconds that two clocks may differ by
MOST_CHARACTERS: Final = 16 << 10
MOST_RECIPIENT: Final = 200  # as a release names one
# A token that was got by a client's own credentials has a subject, or names its client (RFC 9068, 2.2; Keycloak).
_SUBJECTS: Final = ("sub", "client_id", "azp")
# Of access tokens (RFC 9068, 2.1), and of providers that tell their kinds of token apart by other means.
_TYPES: Final = frozenset({"at+jwt", "application/at+jwt", "jwt", "application/jwt"})
# What Keycloak calls its other tokens in a claim; their headers say no more than `JWT`.
_OTHER_USES: Final = frozenset({"ID", "Refresh", "Offline", "Logout"})


def is_token(bearer: str) -> bool:
    """Whether a bearer has the form of a JWT: three parts, where an API key has two."""
    return bearer.count(".") == 2


class Tokens:
    """The tokens of one provider."""

    def __init__(self, terms: TokenTerms, key_set: KeySet, keys: KeyRoom) -> None:
        self._terms, self._key_set, self._keys = terms, key_set, keys

    async def caller(self, bearer: str) -> Caller:
        """Return who calls. Raises `Unauthorized` for a token that says too little or is not in force, and
        `Unavailable` before the provider's keys were ever fetched."""
        claims = await self._claims(bearer)
        names = self._terms.claims
        subject = next((text for name in _SUBJECTS if (text := text_at(claims, name)) is not None), None)
        if subject is None:
            raise _refused("token-subject-missing", "The token names nobody: let the provider put `sub` into it.")
        if (role := role_in(claims, names)) is None:
            where = " or ".join(f"`{path}`" for path in names.roles)
            known = f"`{names.role_prefix}operator` (or recipient, auditor, admin)"
            raise _refused(
                "token-role-missing", f"The token gives no role of ours: grant {known} in the claim {where}."
            )
        tenant = text_at(claims, names.tenant)
        if tenant is None:
            raise _refused("token-tenant-missing", f"The token names no tenant: put it in the claim `{names.tenant}`.")
        if not await self._keys.has_tenant(tenant):
            detail = "The token names a tenant that is not there: the operator of the service makes tenants."
            raise _refused("token-tenant-unknown", detail)
        recipient = text_at(claims, names.recipient) if role == "recipient" else None
        if role == "recipient" and not _is_recipient(recipient):
            detail = f"A recipient's token names its recipient: put it in the claim `{names.recipient}`."
            raise _refused("token-recipient-missing", detail)
        return Caller(await self._keys.subject(self._terms.issuer, subject), tenant, role, recipient)

    async def _claims(self, bearer: str) -> dict[str, Any]:
        if len(bearer) > MOST_CHARACTERS:
            raise _invalid()
        try:
            header = jwt.get_unverified_header(bearer)
        except (PyJWTError, ValueError, RecursionError):
            raise _invalid() from None
        kid, algorithm = header.get("kid"), header.get("alg")
        if not isinstance(kid, str) or algorithm not in ALGORITHMS:
            raise _invalid()
        _check_type(header.get("typ"))
        key = await self._key_set.key(kid, algorithm)
        if key is None and not self._key_set.is_known:
            raise Unavailable("issuer-unavailable", "The keys of the identity provider are not there yet: try again.")
        if key is None:
            detail = "The token is signed with a key that the identity provider does not publish: get a new token."
            raise _refused("token-key-unknown", detail)
        claims = _verified(bearer, key, algorithm, self._terms)
        if text_at(claims, "typ") in _OTHER_USES:
            raise _other_use()
        return claims


def _verified(bearer: str, key: jwt.PyJWK, algorithm: str, terms: TokenTerms) -> dict[str, Any]:
    try:
        return jwt.decode(
            bearer,
            key,
            algorithms=[algorithm],
            audience=terms.audiences,
            issuer=terms.issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud"]},
        )
    except ExpiredSignatureError:
        raise _refused("token-expired", "The token has expired: get a new one.") from None
    except ImmatureSignatureError:
        raise _refused("token-not-yet-valid", "The token is not valid yet: hold the clocks together.") from None
    except InvalidIssuerError:
        raise _refused("token-issuer", "The token is of another issuer than this service takes tokens of.") from None
    except InvalidAudienceError:
        detail = "The token is for another audience: ask the provider for one that names this service in `aud`."
        raise _refused("token-audience", detail) from None
    except MissingRequiredClaimError:
        detail = "The token lacks one of `exp`, `iss` and `aud`: let the provider put them into it."
        raise _refused("token-claim-missing", detail) from None
    except (PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise _invalid() from None


def _check_type(kind: object) -> None:
    """Refuse what the provider signed for another use, such as an ID or a logout token (RFC 8725, 3.11)."""
    if kind is not None and not (isinstance(kind, str) and kind.lower() in _TYPES):
        raise _other_use()


def _other_use() -> Unauthorized:
    return _refused("token-invalid", "The token is for another use: send the access token of the provider.")


def _is_recipient(text: str | None) -> bool:
    return text is not None and len(text) <= MOST_RECIPIENT and text.isprintable()


def _invalid() -> Unauthorized:
    detail = "The token is none that this service can believe: get a new one, signed with RS, PS, ES or EdDSA."
    return _refused("token-invalid", detail)


def _refused(code: str, detail: str) -> Unauthorized:
    return Unauthorized(code, detail)
