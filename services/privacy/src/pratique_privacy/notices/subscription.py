"""Subscriptions: who gets the posture of which releases, or which released records, and where to.

This is the inner model of a data job (R1AP, ETSI TS 104 231); an adapter such as `pratique_privacy.ics` translates.
"""

import hashlib
import re
from datetime import timedelta
from typing import Literal, TypeGuard

from pydantic import Field

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.notices.flow import Buffer
from pratique_shared.contracts.facts import Published, Withheld
from pratique_shared.contracts.gate import Verdict
from pratique_shared.contracts.model import Contract

Kind = Literal["posture", "profiles"]
ProfileForm = Literal["json", "ndjson", "reference"]
_ID = re.compile(r"job_[0-9a-f]{26}")


class BufferTerms(Contract):
    """How many items go together at most, and for how long the first of them may wait."""

    most: int = Field(ge=1, le=1000)
    milliseconds: int = Field(ge=0, le=3_600_000)

    @property
    def buffer(self) -> Buffer:
        """The terms as the flow of deliveries takes them."""
        return Buffer(self.most, timedelta(milliseconds=self.milliseconds))


class Subscription(Contract):
    """What one consumer hears of. Null means: no filter. `recipient` is the name under which records may leave.

    It hears of what happens `since` then, whatever its terms were; these terms are of `at`.
    """

    id: str
    tenant: str
    remote: str
    kind: Kind
    owner: str
    target: str = Field(repr=False)
    buffer: BufferTerms | None = None
    history: bool = False
    pilots: tuple[str, ...] | None = None
    verdicts: tuple[Verdict, ...] | None = None
    columns: tuple[str, ...] | None = None
    roles: tuple[str, ...] | None = None
    form: ProfileForm = "reference"
    recipient: str | None = None
    since: str
    at: str
    ended: bool = False


def subscription_id(tenant: str, remote: str) -> str:
    """Return our id of a consumer's job: the same for the same job."""
    digest = hashlib.sha256(f"{tenant}\n{remote}".encode()).hexdigest()
    return f"job_{digest[:26]}"


def is_subscription_id(name: str) -> bool:
    """Whether a name is one that `subscription_id` gives."""
    return _ID.fullmatch(name) is not None


def wants(subscription: Subscription, facts: ReleaseFacts) -> bool:
    """Whether a release is one that this consumer hears of; records only of a pass, and to their recipient."""
    requested, outcome = facts.requested, facts.outcome
    if facts.withdrawn or requested.member_of is not None or requested.tenant != subscription.tenant:
        return False
    if not isinstance(outcome, Published | Withheld):
        return False
    if subscription.pilots is not None and not pilots_of(facts) & set(subscription.pilots):
        return False
    if subscription.verdicts is not None and outcome.verdict not in subscription.verdicts:
        return False
    if subscription.kind == "posture":
        return True
    return may_leave(outcome) and requested.recipient is not None and requested.recipient == subscription.recipient


def may_leave(outcome: object) -> TypeGuard[Published]:
    """Whether the records of a release may leave: published, and the gate says pass."""
    return isinstance(outcome, Published) and outcome.verdict == "pass" and outcome.gate.verdict == "pass"


def pilots_of(facts: ReleaseFacts) -> set[str]:
    """Return the pilots of a release, its own and those of its sources."""
    named = {facts.requested.pilot} | {table.pilot for table in (facts.records.tables if facts.records else ())}
    return {pilot for pilot in named if pilot is not None}
