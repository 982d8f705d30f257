"""Signatures of webhooks (Standard Webhooks 1.0: HMAC-SHA256 over `id.timestamp.body`)."""

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> bytes:
    """Return a fresh secret."""
    return secrets.token_bytes(SECRET_BYTES)


def shown(secret: bytes) -> str:
    """Return a secret as its owner is shown it, once."""
    return PREFIX + base64.b64encode(secret).decode()


def signed_headers(secret: bytes, identity: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the three headers of a message; `timestamp` is that of this try, in seconds since 1970."""
    message = f"{identity}.{timestamp}.".encode() + body
    digest = hmac.new(secret, message, hashlib.sha256).digest()
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
