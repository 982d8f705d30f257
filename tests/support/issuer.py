"""An identity provider for tests: it signs tokens as Keycloak and gateways do, and publishes its keys."""

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

ISSUER = "https://id.example.com/realms/ran"
AUDIENCE = "pratique"
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def private_key(algorithm: str = "ES256") -> Private:
    """A fresh key for this algorithm."""
    match algorithm:
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "EdDSA":
            return ed25519.Ed25519PrivateKey.generate()
        case _:
            return rsa.generate_private_key(65537, 2048)


class Issuer:
    """The provider: its keys by id, and how often it was asked for them."""

    def __init__(self, algorithm: str = "ES256") -> None:
        self.keys: dict[str, tuple[str, Private]] = {"first": (algorithm, private_key(algorithm))}
        self.asked, self.down = 0, False

    def public(self, kid: str) -> dict[str, Any]:
        """A key of the set."""
        algorithm, key = self.keys[kid]
        found: dict[str, Any] = json.loads(get_default_algorithms()[algorithm].to_jwk(key.public_key()))
        return {name: found[name] for name in found if name != "key_ops"} | {
            "kid": kid,
            "use": "sig",
            "alg": algorithm,
        }

    def key_set(self) -> bytes:
        """The set as it is published."""
        return json.dumps({"keys": [self.public(kid) for kid in self.keys]}).encode()

    async def fetch(self) -> bytes:
        """Answer as the address of the keys does."""
        self.asked += 1
        if self.down:
            raise ConnectionError
        return self.key_set()

    def claims(self, *roles: str, tenant: str = "acme", subject: str = "rapp-7", **further: object) -> dict[str, Any]:
        """What a token says that a client got by its own credentials; None leaves a claim out."""
        now = int(time.time())
        told: dict[str, Any] = {
            "iss": ISSUER,
            "aud": [AUDIENCE, "account"],
            "sub": subject,
            "azp": subject,
            "iat": now,
            "exp": now + 300,
            "typ": "Bearer",
            "realm_access": {"roles": ["offline_access", "default-roles-ran", *(f"pratique-{role}" for role in roles)]},
            "tenant": tenant,
            **further,
        }
        return {name: value for name, value in told.items() if value is not None}

    def token(
        self, *roles: str, kid: str = "first", tenant: str = "acme", subject: str = "rapp-7", **further: object
    ) -> str:
        """A token with these roles."""
        algorithm, key = self.keys[kid]
        claims = self.claims(*roles, tenant=tenant, subject=subject, **further)
        return jwt.encode(claims, key, algorithm, {"kid": kid})
