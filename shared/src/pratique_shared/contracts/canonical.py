"""Canonical JSON: one text for equal values, and the digest of it."""

import hashlib
import json


def canonical_json(value: object) -> str:
    """Return plain JSON data with keys sorted by code point, no space between tokens, and text unescaped.

    Raises what `json.dumps` raises for something that JSON does not have, NaN and infinities among it.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_of_json(value: object) -> str:
    """Return the SHA-256 of the canonical text, in hex: two spellings of one value have one digest."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
