"""Disclosures: what a certificate binds without showing it; who may see it holds it against the certificate.

Each is a salted value as in an SD-JWT (RFC 9901, 4.2): base64url of `[salt, name, value]`, of which the certificate
holds the SHA-256. Without the salt nobody can test guesses of the value.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pratique_shared.contracts.canonical import canonical_json


@dataclass(frozen=True)
class Disclosures:
    """Values by name, each in the form in which it is disclosed."""

    texts: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, values: Mapping[str, Any], salts: Mapping[str, str]) -> "Disclosures":
        """Put each value under its salt, a fresh text of 128 random bits."""
        return cls({name: _base64url(canonical_json([salts[name], name, values[name]])) for name in values})

    @classmethod
    def parse(cls, data: bytes) -> "Disclosures":
        """Read what `document` gave."""
        return cls(json.loads(data))

    def document(self) -> bytes:
        """Return them as JSON, for those who may see the values."""
        return canonical_json(dict(self.texts)).encode()

    def digests(self) -> dict[str, str]:
        """Return what the certificate holds of each: the SHA-256 of its text, as base64url."""
        return {name: _digest(text) for name, text in self.texts.items()}


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode("ascii")).digest()).rstrip(b"=").decode()


def _base64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
