"""The canonical text of a policy, and the digest that a release is bound to."""

import hashlib
import json

from pratique_shared.contracts.policy import Policy


def canonical_json(policy: Policy) -> str:
    """Return a policy with every default written out, keys sorted by code point and no space between tokens."""
    return json.dumps(policy.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def policy_sha256(policy: Policy) -> str:
    """Return the SHA-256 of the canonical text, in hex: two spellings of one policy have one digest."""
    return hashlib.sha256(canonical_json(policy).encode()).hexdigest()
