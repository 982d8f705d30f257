"""The clearance: what a pipeline keeps beside the data of a release that it was allowed to use."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

from pratique.errors import GateFailed, NotCertified, StillRunning, Unreachable
from pratique.exchange import Json
from pratique.profile import Profile, verdict_of
from pratique.verify import POSTURE, Rejected, check_bundle, check_time, open_certificate, read_keys
from pratique.waiting import ended


@dataclass(frozen=True)
class Pseudonyms:
    """How a column was pseudonymised: two releases join where scope, epoch and fingerprint are equal.

    `key_epoch` and `key_fingerprint` are None for pseudonyms of one run, which join with nothing.
    """

    column: str
    technique: str
    scope: str
    key_epoch: int | None
    key_fingerprint: str | None


@dataclass(frozen=True)
class Clearance:
    """A release that passes its gate, and the profile if one was asked for."""

    release: str
    verdict: str
    checks: tuple[Json, ...]  # of the gate, then of the profile; every one passes
    failed_checks: tuple[Json, ...]  # empty, or there would be no clearance: pipelines log the field
    records_sha256: str | None  # of the Parquet file
    files: Mapping[str, str]  # SHA-256 by format
    rows: int
    survival: float | None
    survival_by_label: Mapping[str, float]
    schema_version: str  # of the statement that describes the release
    policy_sha256: str
    pseudonyms: tuple[Pseudonyms, ...]
    recipient: str | None
    expires_at: datetime
    certificate_url: str
    verified_by: str | None  # the id of the key under which the certificate was verified
    posture: Json = field(repr=False)
    etag: str | None = field(default=None, repr=False)
    certificate: bytes = field(default=b"", repr=False)

    @property
    def expired(self) -> bool:
        """Whether the time for which the release was certified is over."""
        return datetime.now(UTC) > self.expires_at


def check_posture(release: str, posture: Json, profile: Profile | None) -> tuple[Json, ...]:
    """Return the checks of a posture that is completed and passes; raises GateFailed, StillRunning, RunFailed.

    Every check of the gate must itself say pass, whatever the verdict beside it says.
    """
    if ended({"id": release, **posture}).get("status") != "completed":
        raise StillRunning("still-running", f"{release} is not finished: its gate is not decided yet.")
    if posture.get("release") != release:
        raise Unreachable("not-pratique", f"The posture that came is not that of {release}.")
    gate = posture.get("gate")
    held = gate if isinstance(gate, dict) else {}
    listed = held.get("checks") or []
    checks = [check for check in listed if isinstance(check, dict)] if isinstance(listed, list) else []
    verdict = posture.get("verdict") or "indeterminate"
    passes = verdict == held.get("verdict") == verdict_of(checks) == "pass"
    if not passes or checks != listed:
        told = verdict if verdict != "pass" else verdict_of(checks)
        raise GateFailed(release, told if told != "pass" else "indeterminate", checks)
    asked = [] if profile is None else profile.checks(posture)
    if (kept := verdict_of(asked)) != "pass":
        raise GateFailed(release, kept, asked, profile.name if profile is not None else None)
    return (*checks, *asked)


def cleared(
    release: str, url: str, posture: Json, etag: str | None, certificate: bytes, checks: tuple[Json, ...]
) -> Clearance:
    """Join a posture that passes with its certificate; raises NotCertified for one of another release, or expired."""
    statement = statement_in(certificate)
    predicate = statement.get("predicate")
    try:
        if not isinstance(predicate, dict):
            raise TypeError
        expires = datetime.fromisoformat(str(predicate["valid_until"]))
        if expires.tzinfo is None:  # a time without a zone is over somewhere, and not elsewhere
            raise ValueError
        pseudonyms = tuple(
            Pseudonyms(one["column"], one["technique"], one["scope"], one["key_epoch"], one["key_fingerprint"])
            for one in predicate["pseudonymisation"]
        )
        subjects = {subject["digest"]["sha256"] for subject in statement["subject"]}
        same = predicate["release"] == release and predicate["policy"]["sha256"] == posture["policy_sha256"]
        same = same and predicate["gate"] == posture["gate"] and set(posture["files"].values()) == subjects
        records = posture["records"]
        made = Clearance(
            release=release,
            verdict="pass",
            checks=checks,
            failed_checks=(),
            records_sha256=posture["files"].get("parquet"),
            files=MappingProxyType(dict(posture["files"])),
            rows=records["out"],
            survival=records["survival"],
            survival_by_label=MappingProxyType(dict(records.get("survival_by_label") or {})),
            schema_version=str(statement["predicateType"]),
            policy_sha256=posture["policy_sha256"],
            pseudonyms=pseudonyms,
            recipient=predicate.get("recipient"),
            expires_at=expires,
            certificate_url=f"{url}/releases/{release}/certificate",
            verified_by=None,
            posture=posture,
            etag=etag,
            certificate=certificate,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise NotCertified("not-a-certificate", f"The certificate of {release} cannot be read.") from None
    if not same:
        raise NotCertified("posture-differs", f"Posture and certificate of {release} do not tell of the same files.")
    check_fresh(made)
    return made


def check_fresh(clearance: Clearance) -> None:
    """Raise NotCertified once the time of a release is over."""
    if clearance.expired:
        detail = f"{clearance.release} was certified until {clearance.expires_at.isoformat()}: ask for a new release."
        raise NotCertified("expired", detail)


def verified(clearance: Clearance, keys: bytes) -> str:
    """Verify the certificate of a clearance offline, and the posture against it; return the id of the key."""
    try:
        certificate = open_certificate(clearance.certificate, read_keys(keys))
        check_time(certificate, datetime.now(UTC))
        # The figures before are bound by digests that only the bundle discloses.
        shown = {name: value for name, value in clearance.posture.items() if name != "before"}
        check_bundle(certificate, {POSTURE: json.dumps(shown).encode()})
    except Rejected as rejected:
        raise NotCertified(rejected.code, rejected.detail) from None
    return certificate.kid


def statement_in(certificate: bytes) -> Json:
    """Return the statement in an envelope whose signature nobody has looked at; empty where there is none."""
    try:
        statement = json.loads(base64.b64decode(json.loads(certificate)["payload"]))
    except (ValueError, KeyError, TypeError):
        return {}
    return statement if isinstance(statement, dict) else {}
