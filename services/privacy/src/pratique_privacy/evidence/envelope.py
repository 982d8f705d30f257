"""Envelopes: a statement under an Ed25519 signature (DSSE 1.0, RFC 8032), and the public keys that open them."""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique_shared.contracts.canonical import canonical_json

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
SEED_BYTES: Final = 32
# What stands before the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410, 4).
_SPKI: Final = bytes.fromhex("302a300506032b6570032100")


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 public key: 32 bytes."""

    raw: bytes

    @property
    def spki(self) -> bytes:
        """The key as a SubjectPublicKeyInfo in DER."""
        return _SPKI + self.raw

    @property
    def kid(self) -> str:
        """The name of the key: the SHA-256 of its SubjectPublicKeyInfo in hex, which anybody can compute anew."""
        return hashlib.sha256(self.spki).hexdigest()

    def pem(self) -> str:
        """Return the key as `openssl` reads it."""
        return f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(self.spki).decode()}\n-----END PUBLIC KEY-----\n"

    def jwk(self) -> dict[str, str]:
        """Return the key as a JSON Web Key (RFC 8037)."""
        x = base64.urlsafe_b64encode(self.raw).rstrip(b"=").decode()
        return {"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": self.kid, "x": x}


@dataclass(frozen=True)
class Signer:
    """A signing key; `seed` is its 32 secret bytes."""

    seed: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The key that opens what this one signed."""
        public = self._private.public_key()
        return PublicKey(public.public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message: always the same one (RFC 8032, 5.1.6)."""
        return self._private.sign(message)

    @property
    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def authenticated(payload_type: str, payload: bytes) -> bytes:
    """Return what is signed: type and payload, each after its length (DSSE 1.0, pre-authentication encoding)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sealed(statement: dict[str, Any], signer: Signer) -> bytes:
    """Return a statement in its envelope; equal statements and keys give equal bytes."""
    payload = canonical_json(statement).encode()
    signature = signer.sign(authenticated(PAYLOAD_TYPE, payload))
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": signer.public.kid, "sig": base64.b64encode(signature).decode()}],
    }
    return canonical_json(envelope).encode()
