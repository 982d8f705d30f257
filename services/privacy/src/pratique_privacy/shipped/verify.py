#!/usr/bin/env python3
"""Certificates of Pratique releases, verified offline.

    python verify.py certificate.json --key key.pem --records night.parquet
    python verify.py bundle.zip --key jwks.json

This one file needs Python 3.11, and either the package `cryptography` or the program `openssl` (3.0 or newer).
Take the key from the operator by a way that you trust: a key that came along with the bundle proves nothing.
Exit status: 0 it holds, 1 it does not, 2 wrong usage.
"""

import argparse
import base64
import binascii
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:x-pratique:release-certificate:1"
# What stands before the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410, 4).
SPKI = bytes.fromhex("302a300506032b6570032100")
KEY_BYTES, SIGNATURE_BYTES = 32, 64
MOST_BYTES = 16 << 20  # of a certificate, or of all documents of a bundle together
MOST_EXPANSION = 20  # bytes of records for each byte of a bundle: Parquet is packed already, and grows little
CERTIFICATE, POSTURE, DISCLOSURES = "certificate.json", "posture.json", "disclosures.json"
# What a posture and its certificate say under the same name.
STATED = ("attacks", "attributes", "composition", "findings", "flags", "gate", "prior_releases", "records", "unit")
PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----")

Json = dict[str, Any]
Keys = Mapping[str, bytes]


class Rejected(Exception):
    """Something does not hold: `code` is stable, `detail` says what."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


@dataclass(frozen=True)
class Certificate:
    """A certificate whose signature holds: its statement, and the key that signed it."""

    statement: Json
    kid: str

    @property
    def predicate(self) -> Json:
        """What was measured, and how the release was made."""
        found: Json = self.statement["predicate"]
        return found

    @property
    def subjects(self) -> dict[str, str]:
        """The released files by their SHA-256."""
        return {subject["digest"]["sha256"]: subject["name"] for subject in self.statement["subject"]}


def read_keys(data: bytes) -> dict[str, bytes]:
    """Return the Ed25519 keys of a PEM file, a JWK or a JWKS by the SHA-256 of their SubjectPublicKeyInfo.

    A name that the file itself gives a key is not looked at.
    """
    if data.lstrip().startswith(b"{"):
        document = _json(data, "bad-key")
        listed = document.get("keys", [document])
        raws = [_jwk(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    else:
        ders = [_base64(b"".join(found.split()), "bad-key") for found in PEM.findall(data)]
        raws = [der[len(SPKI) :] if der.startswith(SPKI) else None for der in ders]
    keys = {hashlib.sha256(SPKI + raw).hexdigest(): raw for raw in raws if raw is not None and len(raw) == KEY_BYTES}
    if not keys:
        raise Rejected("bad-key", "The key file holds no Ed25519 public key (PEM, JWK or JWKS).")
    return keys


def _jwk(jwk: Json) -> bytes | None:
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or not isinstance(jwk.get("x"), str):
        return None
    try:
        return base64.urlsafe_b64decode(jwk["x"] + "=" * (-len(jwk["x"]) % 4))
    except (ValueError, binascii.Error):
        return None


def open_certificate(data: bytes, keys: Keys) -> Certificate:
    """Return what a certificate states, once its signature holds under one of these keys (DSSE 1.0, in-toto v1)."""
    envelope = _json(data, "not-a-certificate")
    if set(envelope) != {"payload", "payloadType", "signatures"} or not isinstance(envelope["signatures"], list):
        raise Rejected("not-a-certificate", "This is no DSSE envelope.")
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise Rejected("other-payload", "The envelope holds something other than an in-toto statement.")
    payload = _base64(envelope["payload"], "not-a-certificate")
    kind = PAYLOAD_TYPE.encode()
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    kid = _signer(envelope["signatures"], keys, message)
    statement = _json(payload, "other-statement")
    if statement.get("_type") != STATEMENT_TYPE or statement.get("predicateType") != PREDICATE_TYPE:
        raise Rejected("other-statement", "The signed statement is no certificate of a release.")
    if not statement.get("subject") or not isinstance(statement.get("predicate"), dict):
        raise Rejected("other-statement", "The signed statement names no file.")
    return Certificate(statement, kid)


def _signer(signatures: list[Any], keys: Keys, message: bytes) -> str:
    known = False
    for one in signatures:
        if not isinstance(one, dict) or set(one) != {"keyid", "sig"}:
            raise Rejected("not-a-certificate", "A signature has another form than DSSE gives it.")
        kid, signature = one["keyid"], _base64(one["sig"], "not-a-certificate")
        if isinstance(kid, str) and kid in keys:
            known = True
            if len(signature) == SIGNATURE_BYTES and signature_holds(keys[kid], signature, message):
                return kid
    if known:
        raise Rejected("signature-wrong", "The signature does not hold: the certificate was altered.")
    raise Rejected("other-key", "The certificate was signed with none of these keys: get the key that it names.")


def signature_holds(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature holds (RFC 8032), by `cryptography` where it is installed, else by `openssl`."""
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - optional
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError:
        return holds_for_openssl(key, signature, message)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def holds_for_openssl(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether `openssl` says that an Ed25519 signature holds."""
    program = shutil.which("openssl")
    if program is None:
        detail = "Nothing here can check an Ed25519 signature: install the package `cryptography`, or openssl 3."
        raise Rejected("no-verifier", detail)
    pem = b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(SPKI + key) + b"\n-----END PUBLIC KEY-----\n"
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("key.pem", "sig", "in")]
        for path, data in zip(paths, (pem, signature, message), strict=True):
            path.write_bytes(data)
        words = [program, "pkeyutl", "-verify", "-pubin", "-rawin", "-inkey", str(paths[0])]
        words += ["-sigfile", str(paths[1]), "-in", str(paths[2])]
        answer = subprocess.run(words, capture_output=True, check=False)  # noqa: S603 - fixed words, our own files
    if answer.returncode != 0 and b"Verification Failure" not in answer.stdout + answer.stderr:
        raise Rejected("no-verifier", "This openssl cannot check Ed25519 signatures: version 3.0 or newer can.")
    return answer.returncode == 0


def check_time(certificate: Certificate, moment: datetime) -> None:
    """Hold a moment against the time for which the certificate was given."""
    predicate = certificate.predicate
    first, last = (datetime.fromisoformat(str(predicate.get(name))) for name in ("issued_at", "valid_until"))
    if moment < first:
        raise Rejected("not-yet-valid", f"The certificate is of a later time: {predicate['issued_at']}.")
    if moment > last:
        raise Rejected("expired", f"The certificate was valid until {predicate['valid_until']}: ask for a new release.")


def check_file(certificate: Certificate, sha256: str, name: str) -> str:
    """Return the name that the certificate gives a file of this digest; the file itself may be called otherwise."""
    if sha256 not in certificate.subjects:
        raise Rejected("other-file", f"{name} is no file of this release: its SHA-256 is not in the certificate.")
    return certificate.subjects[sha256]


def check_bundle(certificate: Certificate, members: Mapping[str, bytes]) -> list[str]:
    """Hold the other documents of a bundle against its certificate; return what was held against it."""
    held = []
    if POSTURE in members:
        posture = _json(members[POSTURE], "posture-differs")
        told, signed = _told(posture), _signed(certificate)
        if wrong := [name for name, value in signed.items() if told.get(name) != value]:
            raise Rejected("posture-differs", f"The posture differs from the certificate in: {', '.join(wrong)}.")
        shown = posture.get("before")
        if shown is not None and shown != _disclosed(certificate, members).get("before"):
            raise Rejected("posture-differs", "The figures before are not those that the certificate binds.")
        held.append(POSTURE)
    if DISCLOSURES in members:
        _disclosed(certificate, members)
        held.append(DISCLOSURES)
    for name in sorted(members):
        if name.startswith("records."):
            check_file(certificate, hashlib.sha256(members[name]).hexdigest(), name)
            held.append(name)
    return held


def _signed(certificate: Certificate) -> Json:
    """Return what the posture of a release must say by its certificate; an earlier one states less."""
    predicate = certificate.predicate
    found: Json = {
        "release": predicate["release"],
        "status": "completed",
        "verdict": predicate["gate"]["verdict"],
        "after": predicate["metrics"]["after"],
        "policy_sha256": predicate["policy"]["sha256"],
        "files": sorted(certificate.subjects),
    }
    places = {
        "computed_at": (predicate, "issued_at"),
        "versions": (predicate.get("issuer"), "versions"),
        "ppi_parameters": (predicate["metrics"], "ppi"),
        "all_columns": (predicate["metrics"], "all_columns"),
        **{name: (predicate["policy"], name) for name in ("built_in", "steps")},
        **{name: (predicate, name) for name in STATED},
    }
    found |= {name: at[key] for name, (at, key) in places.items() if isinstance(at, dict) and key in at}
    if "sources" in predicate:
        found["sources"] = [source["id"] for source in predicate["sources"]]
    return found


def _told(posture: Json) -> Json:
    """Return a posture as the certificate states one: the files by digest, and no label that no released row has."""
    files, records = posture.get("files"), posture.get("records")
    found = {**posture, "files": sorted(files.values()) if isinstance(files, dict) else None}
    if isinstance(records, dict) and isinstance(labels := records.get("survival_by_label"), dict):
        found["records"] = {**records, "survival_by_label": {name: share for name, share in labels.items() if share}}
    return found


def _disclosed(certificate: Certificate, members: Mapping[str, bytes]) -> Json:
    """Return the values of the disclosures, each held against its digest (RFC 9901, 4.2)."""
    digests = certificate.predicate["withheld"]["digests"]
    values: Json = {}
    for name, text in _json(members.get(DISCLOSURES, b"{}"), "disclosure-differs").items():
        digest = hashlib.sha256(str(text).encode()).digest()
        if digests.get(name) != base64.urlsafe_b64encode(digest).rstrip(b"=").decode():
            raise Rejected("disclosure-differs", f"The disclosure of {name} is not what the certificate binds.")
        values[name] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))[2]
    return values


def read_bundle(data: bytes) -> dict[str, bytes]:
    """Return the documents of a bundle, which are small, and its records."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            sizes = {True: 0, False: 0}  # of records, of documents
            for entry in bundle.infolist():
                sizes[entry.filename.startswith("records.")] += entry.file_size
                if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise Rejected("not-a-bundle", "The bundle is packed in another way than bundles are.")
            if sizes[False] > MOST_BYTES or sizes[True] > max(MOST_BYTES, MOST_EXPANSION * len(data)):
                raise Rejected("not-a-bundle", "A document of the bundle is too large.")
            members = {entry.filename: bundle.read(entry) for entry in bundle.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        raise Rejected("not-a-bundle", "The bundle is damaged: download it again.") from None
    if CERTIFICATE not in members:
        raise Rejected("not-a-bundle", "This zip file holds no certificate.")
    return members


def _json(data: bytes, code: str) -> Json:
    def once(pairs: list[tuple[str, Any]]) -> Json:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    try:
        found = json.loads(data, object_pairs_hook=once)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Rejected(code, "This is no JSON object, or one that names a member twice.")
    return found


def _base64(text: object, code: str) -> bytes:
    """Decode base64 that has one spelling only: a bit that says nothing could be flipped unnoticed."""
    given = text.encode() if isinstance(text, str) else text
    try:
        data = base64.b64decode(given, validate=True) if isinstance(given, bytes) else None
    except (ValueError, binascii.Error):
        data = None
    if data is None or base64.b64encode(data) != given:
        raise Rejected(code, "A part is not base64.")
    return data


@dataclass(frozen=True)
class Verified:
    """What held: the certificate, the documents of a bundle, and each file under its name in the certificate."""

    certificate: Certificate
    held: tuple[str, ...]
    files: Mapping[str, str]


def verify(path: Path, key: Path, records: Sequence[Path] = (), moment: datetime | None = None) -> Verified:
    """Verify a certificate or a bundle, and files of records; raises Rejected, and OSError for a file of this side."""
    data = path.read_bytes()
    members = read_bundle(data) if data.startswith(b"PK") else {CERTIFICATE: data}
    certificate = open_certificate(members[CERTIFICATE], read_keys(key.read_bytes()))
    check_time(certificate, moment or datetime.now(UTC))
    held = check_bundle(certificate, members)
    files = {}
    for each in records:
        with each.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files[str(each)] = check_file(certificate, digest, each.name)
    return Verified(certificate, tuple(held), files)


def main(argv: Sequence[str] | None = None) -> int:
    """Verify what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a certificate or a bundle")
    parser.add_argument("--key", type=Path, required=True, help="the operator's public key: PEM, JWK or JWKS")
    parser.add_argument("--records", type=Path, nargs="*", default=[], help="files that are to be of this release")
    parser.add_argument("--at", type=datetime.fromisoformat, help="the moment to hold it against (default: now)")
    options = parser.parse_args(argv)
    moment = None if options.at is None else options.at.astimezone(UTC)
    try:
        found = verify(options.file, options.key, options.records, moment)
    except Rejected as rejected:
        print(f"REJECTED ({rejected.code}): {rejected.detail}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 2
    predicate = found.certificate.predicate
    print(f"verified: {predicate['release']}, gate {predicate['gate']['verdict']}, key {found.certificate.kid}")
    print(f"  issued {predicate['issued_at']}, valid until {predicate['valid_until']}")
    for name in found.held:
        print(f"  {name}: as certified")
    for name, subject in found.files.items():
        print(f"  {name}: is {subject}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
