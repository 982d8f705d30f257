"""Admission: what a request for a release comes to, once defaults, a named policy, the floor and the role are in."""

from collections.abc import Sequence
from dataclasses import dataclass

from pratique_privacy.gate import check_metrics, tighten
from pratique_privacy.keys import Caller
from pratique_privacy.policy.builtin import BuiltIn
from pratique_privacy.policy.digest import policy_sha256
from pratique_shared.contracts.adversary import Attacks
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.canonical import sha256_of_json
from pratique_shared.contracts.captures import RecordUnit
from pratique_shared.contracts.facts import FIRST_EPOCH
from pratique_shared.contracts.gate import DEFAULT_GATE, Gate
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import FieldError, Forbidden, Unprocessable
from pratique_shared.contracts.releases import ReleaseRequest, StoredPolicy


@dataclass(frozen=True)
class NamedPolicy:
    """A policy and what it brings along. `built_in` lends its own attributes where none are given."""

    policy: Policy
    built_in: str | None = None
    attributes: Attributes | None = None
    gate: Gate | None = None
    attacks: Attacks | None = None
    ppi: PpiParameters | None = None


@dataclass(frozen=True)
class Terms:
    """The terms of a release: everything that was asked, with every default filled in."""

    recipient: str | None
    policy: Policy
    built_in: str | None
    attributes: Attributes | None
    gate: Gate
    attacks: Attacks | None
    ppi: PpiParameters


@dataclass(frozen=True)
class SourceDigest:
    """The bytes of one source, and the pilot that stands for rows without one."""

    sha256: str
    pilot: str | None


def of_built_in(built_in: BuiltIn) -> NamedPolicy:
    """Return a built-in policy under its name."""
    return NamedPolicy(built_in.policy, built_in.name)


def of_stored(stored: StoredPolicy) -> NamedPolicy:
    """Return a stored policy with what it brings."""
    policy = Policy(steps=stored.steps)
    return NamedPolicy(policy, None, stored.attributes, stored.gate, stored.attacks, stored.ppi)


def terms_of(asked: ReleaseRequest, named: NamedPolicy, floor: Gate, caller: Caller) -> Terms:
    """Return the terms of a release.

    What is asked goes before what the policy brings, and that before the defaults; the tenant's floor holds always.
    A recipient asks for itself, under a policy and attributes that the tenant made, and can only tighten its gate.
    Raises `Unprocessable` (`attributes-missing`, `gate-unknown-metric`) and `Forbidden`.
    """
    if caller.role == "recipient":
        check_recipient(asked, caller)
    attributes = asked.attributes or named.attributes
    if attributes is None and named.built_in is None:
        advice = [FieldError("/attributes", "is required with a policy that brings none")]
        raise Unprocessable("attributes-missing", "Say what each column is.", advice)
    given = asked.gate
    check_metrics(given or {})
    own = named.gate if named.gate is not None else DEFAULT_GATE
    if caller.role == "recipient":
        given = tighten(given or {}, own or DEFAULT_GATE)
    attacks, ppi = attacks_asked(asked, named), asked.ppi or named.ppi or PpiParameters()
    check_floor(floor, attacks, ppi)
    return Terms(
        recipient=caller.recipient if caller.role == "recipient" else asked.recipient,
        policy=named.policy,
        built_in=named.built_in,
        attributes=attributes,
        gate=tighten(own if given is None else given, floor),
        attacks=attacks,
        ppi=ppi,
    )


def check_floor(floor: Gate, attacks: Attacks | None, ppi: PpiParameters) -> None:
    """Refuse parameters that would make a figure of the floor say less than the default ones.

    Raises `Unprocessable` (`floor-parameters`).
    """
    usual = Attacks()
    assert usual.linkage is not None
    assert usual.partial_qi is not None
    linkage, partial = (attacks.linkage, attacks.partial_qi) if attacks is not None else (None, None)
    errors = []
    if "linkage" in floor and linkage is not None:
        if linkage.accuracy < usual.linkage.accuracy:
            errors.append(FieldError("/attacks/linkage/accuracy", f"must be at least {usual.linkage.accuracy}"))
        if linkage.wrong_value != usual.linkage.wrong_value:
            errors.append(FieldError("/attacks/linkage/wrong_value", "must be `uniform`"))
    if "partial_qi" in floor and partial is not None and partial.forget > usual.partial_qi.forget:
        errors.append(FieldError("/attacks/partial_qi/forget", f"must be at most {usual.partial_qi.forget}"))
    if floor.keys() & {"ppi", "ppi_prime", "share_below_k"} and ppi != PpiParameters():
        errors.append(FieldError("/ppi", "must be left out: the floor is held under the default targets and weights"))
    if errors:
        raise Unprocessable("floor-parameters", "The tenant's gate floor is held under the default parameters.", errors)


def attacks_asked(asked: ReleaseRequest, named: NamedPolicy) -> Attacks | None:
    """Return the adversaries: those asked for, none where null was sent, else the policy's or the defaults."""
    if "attacks" in asked.model_fields_set:
        return asked.attacks
    return named.attacks or Attacks()


def check_recipient(asked: ReleaseRequest, caller: Caller) -> None:
    """Raise `Forbidden` where a recipient asks for more than a policy of the tenant on a source open to it.

    Attributes are the tenant's too: whoever calls an address insensitive would have it published in clear.
    """
    if caller.recipient is None or asked.recipient not in (None, caller.recipient):
        raise Forbidden("recipient-not-yours", "A recipient asks for releases to itself: leave `recipient` out.")
    if not isinstance(asked.policy, str):
        raise Forbidden("policy-not-stored", "A recipient names a stored or built-in policy: give its name.")
    if asked.source.records is not None:
        raise Forbidden("records-not-open", "A recipient sends no records: name a capture or dataset open to it.")
    if asked.attributes is not None:
        raise Forbidden("attributes-not-yours", "A recipient takes the attributes of the policy: leave them out.")
    if asked.model_fields_set & {"attacks", "ppi"}:
        raise Forbidden(
            "parameters-not-yours", "A recipient takes the policy's adversaries and targets: leave them out."
        )


def request_digest(asked: ReleaseRequest, terms: Terms, sources: Sequence[SourceDigest], key_epoch: int) -> str:
    """Return the SHA-256 over all that the figures follow from: whoever asks, for whatever purpose, gets the same."""
    return digest_of(
        pilot=asked.pilot,
        unit=asked.source.unit,
        sources=sources,
        attributes=terms.attributes,
        built_in=terms.built_in,
        policy=terms.policy,
        attacks=terms.attacks,
        ppi=terms.ppi,
        key_epoch=key_epoch,
    )


def digest_of(
    *,
    pilot: str | None,
    unit: RecordUnit,
    sources: Sequence[SourceDigest],
    attributes: Attributes | None,
    built_in: str | None,
    policy: Policy,
    attacks: Attacks | None,
    ppi: PpiParameters,
    key_epoch: int,
) -> str:
    """Return the SHA-256 over these, in canonical JSON; the first epoch is left out: there was no other once."""
    content: dict[str, object] = {
        "pilot": pilot,
        "unit": unit,
        "sources": [[source.sha256, source.pilot] for source in sources],
        "attributes": None if attributes is None else attributes.model_dump(mode="json"),
        "built_in": built_in,
        "policy": policy_sha256(policy),
        "attacks": None if attacks is None else attacks.model_dump(mode="json"),
        "ppi": ppi.model_dump(mode="json"),
    }
    if key_epoch != FIRST_EPOCH:
        content["key_epoch"] = key_epoch
    return sha256_of_json(content)
