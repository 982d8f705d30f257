"""The digest of a policy: what a release is bound to."""

from pratique_shared.contracts.canonical import sha256_of_json
from pratique_shared.contracts.policy import Policy


def policy_sha256(policy: Policy) -> str:
    """Return the SHA-256 over a policy with every default written out, and over all else that a stored one brings."""
    return sha256_of_json(policy.model_dump(mode="json"))
