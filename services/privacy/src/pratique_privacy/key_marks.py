"""Key marks: which key made the pseudonyms of a policy, by epoch and fingerprint, without the key."""

import hashlib
import hmac
from typing import Any, Final

from pratique_shared.contracts.facts import KeyMark
from pratique_shared.contracts.policy import CryptoPan, Hmac, Ipv4Shaped, Policy, SaltedHash, Token

_LABEL: Final = b"pratique key fingerprint 1"
FINGERPRINT_BYTES: Final = 8


def key_mark(tenant_key: bytes, epoch: int) -> KeyMark:
    """Mark a key: 64 bits of an HMAC under it, which tell keys apart and nothing of the key."""
    digest = hmac.new(tenant_key, _LABEL, hashlib.sha256).digest()
    return KeyMark(epoch=epoch, fingerprint=digest[:FINGERPRINT_BYTES].hex())


def pseudonyms_of(policy: Policy, mark: KeyMark | None) -> list[dict[str, Any]]:
    """Describe every step that makes pseudonyms; without a mark it is not known which key of the tenant made them."""
    found = []
    for step in policy.steps:
        match step:
            case Hmac():
                found.append({**_said(step, mark), "bits": step.bits})
            case Ipv4Shaped() | CryptoPan():
                found.append(_said(step, mark))
            case Token() | SaltedHash():
                # A fresh map or salt for the one run.
                found.append({"column": step.column, "technique": step.op, "scope": "per_run", **_key(None)})
            case _:
                pass
    return found


def _said(step: Hmac | Ipv4Shaped | CryptoPan, mark: KeyMark | None) -> dict[str, Any]:
    said = {"column": step.column, "technique": step.op, "scope": step.scope, "domain": step.domain}
    return {**said, **_key(None if step.scope == "per_run" else mark)}


def _key(mark: KeyMark | None) -> dict[str, Any]:
    """Name the key; one that was destroyed with its run has no mark, and its pseudonyms join with no other release."""
    if mark is None:
        return {"key_epoch": None, "key_fingerprint": None}
    return {"key_epoch": mark.epoch, "key_fingerprint": mark.fingerprint}
