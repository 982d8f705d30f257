"""Pseudonymisation keys: one secret a tenant, one a run, and the keys derived from them."""

from dataclasses import dataclass, field
from typing import assert_never

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pratique_shared.contracts.policy import Scope

KEY_BYTES = 32
_LABEL = b"pratique pseudonym 1"


@dataclass(frozen=True)
class Keys:
    """The tenant's secret and a fresh secret of this run, which nobody stores; neither shows in a repr."""

    tenant: bytes = field(repr=False)
    run: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if min(len(self.tenant), len(self.run)) < KEY_BYTES:
            raise ValueError(f"a secret has at least {KEY_BYTES} bytes")

    def derive(self, scope: Scope, pilot: str | None, domain: str, form: str = "hmac") -> bytes:
        """Return the 32-byte key of one scope, pilot, domain and form of pseudonym (HKDF-SHA-256, RFC 5869).

        `deterministic` leaves the pilot out, `per_pilot` needs one, `per_run` starts from the run's secret. The form is
        part of the key so that an IPv4-shaped token says nothing about the hex token of the same value.
        """
        match scope:
            case "deterministic":
                secret, pilot = self.tenant, None
            case "per_pilot":
                if pilot is None:
                    raise ValueError("per_pilot needs a pilot")
                secret = self.tenant
            case "per_run":
                secret = self.run
            case _:
                assert_never(scope)
        return HKDF(SHA256(), KEY_BYTES, salt=None, info=_info(scope, pilot, domain, form)).derive(secret)


def _info(*parts: str | None) -> bytes:
    """Encode the parts so that no two sequences read alike: a length before each, and a mark for an absent one."""
    encoded = [None if part is None else part.encode() for part in parts]
    return _LABEL + b"".join(b"\0" if part is None else b"\1" + len(part).to_bytes(4) + part for part in encoded)
