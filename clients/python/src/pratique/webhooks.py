"""Webhooks as they arrive: verified against their secret, then read (Standard Webhooks 1.0, CloudEvents 1.0)."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping

from pratique.errors import PratiqueError
from pratique.exchange import Json

TOLERANCE = 300  # seconds that the clocks may be apart; an older message may be one that was recorded


class NotGenuine(PratiqueError):
    """A message was not signed with this secret, or not now."""


def secret_bytes(secret: str) -> bytes:
    """Return the key in a `whsec_..` text; raises NotGenuine for a text that holds none."""
    try:
        return base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise NotGenuine("bad-secret", "The secret of the webhook is not in the form whsec_..") from None


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: float | None = None) -> Json:
    """Return the event in a message that is genuine; raises NotGenuine for any other.

    `headers` are looked up in lower case. Keep the `webhook-id` of what you have handled: a message may come twice.
    """
    identity, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not identity or not stamp.isdecimal():
        raise NotGenuine("not-signed", "The message has no webhook-id, or no webhook-timestamp.")
    if abs((time.time() if now is None else now) - int(stamp)) > TOLERANCE:
        raise NotGenuine("not-now", "The message is older or newer than five minutes: do the clocks agree?")
    digest = hmac.new(secret_bytes(secret), f"{identity}.{stamp}.".encode() + body, hashlib.sha256).digest()
    wanted = f"v1,{base64.b64encode(digest).decode()}".encode()
    # Several signatures may stand side by side, of an old and a new secret, or of schemes that we do not know.
    given = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(one.encode(errors="replace"), wanted) for one in given):
        raise NotGenuine("not-genuine", "The message is not signed with the secret of this webhook.")
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise NotGenuine("not-an-event", "The message is signed and is no event.")
    return event
