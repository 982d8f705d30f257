"""Requiring: the question that a pipeline asks before it uses a release, answered yes or by an exception."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from pratique.clearance import Clearance, check_fresh, check_posture, cleared, verified
from pratique.errors import NotCertified, Refused
from pratique.exchange import Ask, Json, Reading, tagged_object
from pratique.plan import Plan, Work, call
from pratique.profile import Profile
from pratique.verb import Verb
from pratique.verbs.files import Placed
from pratique.verbs.requests import get, segment

# A profile as it is written, a gate as a dictionary, a file, or the name of a stored policy whose gate is meant.
Asked: TypeAlias = Profile | Mapping[str, Any] | Path | str


class Requiring:
    """The verb `require`."""

    @Verb
    def require(
        self: Placed,
        release: str,
        profile: Asked | None = None,
        *,
        verify: bool = False,
        keys: str | Path | None = None,
        known: Clearance | None = None,
    ) -> Plan[Clearance]:
        """Return the clearance of a release that is completed, passes its gate, and keeps to `profile`.

        `profile` is a Profile, a gate as a dictionary, a Path to a TOML or JSON file, or the name of a stored policy,
        whose gate is meant. Every figure that it bounds must be there and finite. With `verify` the certificate is
        verified and the posture held against it, by the operator's public keys in the file `keys`; without that file
        the service is asked for its keys, which shows damage and no fraud. `known` is an earlier clearance of the same
        release: what has not changed is not sent again (ETag), and everything is held anew.

        Raises GateFailed for any verdict but pass, an undecided one included; NotCertified for a certificate that is
        missing, expired or not true; StillRunning, RunFailed, Refused, Unreachable without a verdict.
        """
        return required(self.url, release, profile, keys, known, verify=verify)


def required(
    url: str, release: str, asked: Asked | None, keys: str | Path | None, known: Clearance | None, *, verify: bool
) -> Plan[Clearance]:
    """Ask for posture and certificate, and hold both."""
    profile = yield from profile_of(asked)
    path = f"/releases/{segment(release)}"
    at_hand = known if known is not None and known.release == release else None
    tagged = yield from call(tagged_object(f"{path}/posture", None if at_hand is None else at_hand.etag))
    posture: Json
    if tagged.body is None:
        assert at_hand is not None
        posture = at_hand.posture
    else:
        posture = tagged.body
    checks = check_posture(release, posture, profile)
    if at_hand is not None and tagged.body is None:
        made = replace(at_hand, checks=checks)
        check_fresh(made)
    else:
        made = cleared(release, url, posture, tagged.etag, (yield from _certificate(path, release)), checks)
    if verify and made.verified_by is None:
        trusted = yield from _keys(keys)
        kid: str = yield Work(lambda: verified(made, trusted))
        made = replace(made, verified_by=kid)
    return made


def profile_of(asked: Asked | None) -> Plan[Profile | None]:
    """Return the profile that is meant; a stored policy is asked for, and must bring a gate along."""
    match asked:
        case None | Profile():
            return asked
        case str():
            policy = yield from get(f"/policies/{segment(asked)}")
            return Profile.of({"gate": policy.get("gate")}, f"policy {asked}")
        case Path():
            return Profile.load(asked)
        case _:
            return Profile.of(dict(asked))


def _certificate(path: str, release: str) -> Plan[bytes]:
    try:
        certificate = yield from call(Reading(Ask("GET", f"{path}/certificate"), lambda _, body: body))
    except Refused as refused:
        if refused.code == "not-certified":
            raise NotCertified("not-certified", f"{release} has no certificate: ask for a new release.") from None
        raise
    return certificate


def _keys(keys: str | Path | None) -> Plan[bytes]:
    if keys is None:
        return json.dumps((yield from get("/keys/jwks.json"))).encode()
    found: bytes = yield Work(Path(keys).read_bytes)
    return found
