"""A release that passed, as a service would tell of it: its posture, and a certificate signed for it."""

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
PARQUET = b"PAR1 rows PAR1"
KIND = "application/vnd.in-toto+json"
CHECK = {"metric": "k", "op": ">=", "bound": 3, "value": 4, "status": "pass"}


def posture(**changed: object) -> dict[str, Any]:
    """A posture that passes: k 4, linkage in [.2, .3], no exact value."""
    told = {
        "release": "rel_01",
        "status": "completed",
        "verdict": "pass",
        "records": {"in": 10, "out": 8, "survival": 0.8, "survival_by_label": {"AMF": 1.0}},
        "after": {"k": 4, "l": None, "t": 0.25},
        "all_columns": {"classes": 8, "uniques": 8},
        "attacks": {
            "exact_qi": 0.2,
            "partial_qi": {"exact": 0.1, "ci95": [0.05, 0.4], "error": None},
            "linkage": {"exact": None, "ci95": [0.2, 0.3], "error": None},
        },
        "gate": {"verdict": "pass", "checks": [CHECK]},
        "policy_sha256": "ab" * 32,
        "files": {"parquet": sha256(PARQUET).hexdigest()},
        "computed_at": (datetime.now(UTC) - timedelta(days=1)).isoformat(),
    }
    return told | changed


def certificate(told: dict[str, Any], key: Ed25519PrivateKey = KEY, days: int = 30, **changed: object) -> bytes:
    """The certificate of a posture, issued yesterday and valid for `days` from then."""
    issued = datetime.fromisoformat(told["computed_at"])
    predicate = {
        "release": told["release"],
        "issued_at": told["computed_at"],
        "valid_until": (issued + timedelta(days=days)).isoformat(),
        "recipient": "fl-aggregator-1",
        "policy": {"sha256": told["policy_sha256"]},
        "pseudonymisation": [
            {
                "column": "ip",
                "technique": "hmac",
                "scope": "per_pilot",
                "domain": "ip",
                "key_epoch": 1,
                "key_fingerprint": "0f0f",
                "bits": 128,
            }
        ],
        "metrics": {"after": told["after"], "all_columns": told["all_columns"]},
        "attacks": told["attacks"],
        "gate": told["gate"],
        **changed,
    }
    subjects = [{"name": f"rel_01.{form}", "digest": {"sha256": digest}} for form, digest in told["files"].items()]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "predicateType": "urn:x-pratique:release-certificate:1",
        "subject": subjects,
        "predicate": predicate,
    }
    payload = json.dumps(statement).encode()
    signature = key.sign(b"DSSEv1 %d %b %d %b" % (len(KIND), KIND.encode(), len(payload), payload))
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    signatures = [{"keyid": sha256(der).hexdigest(), "sig": b64encode(signature).decode()}]
    return json.dumps({"payload": b64encode(payload).decode(), "payloadType": KIND, "signatures": signatures}).encode()


def pem(key: Ed25519PrivateKey = KEY) -> bytes:
    """The public key of the operator."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def answers(told: dict[str, Any] | None = None, sealed: bytes | None = None) -> list[httpx.Response]:
    """What a service answers to `require`: the posture with its ETag, then the certificate."""
    told = posture() if told is None else told
    return [
        httpx.Response(200, json=told, headers={"ETag": '"p1"'}),
        httpx.Response(200, content=certificate(told) if sealed is None else sealed),
    ]
