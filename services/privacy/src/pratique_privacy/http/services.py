"""What the handlers work with, built once in `main`."""

from dataclasses import dataclass, field
from functools import cached_property

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.http.callers import Reception
from pratique_privacy.http.forwarding import Front
from pratique_privacy.http.rates import Rates
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.identity.tokens import Tokens
from pratique_privacy.keys import KeyRoom
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.tables import Tables
from pratique_shared.runtime.queues import Doorbell

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """How much a request may bring, in bytes and rows."""

    json_bytes: int = MB
    inline_bytes: int = 16 * MB
    dataset_bytes: int = 64 * MB
    capture_bytes: int = 16 << 30
    trial_rows: int = 10_000
    wait_seconds: float = 30


@dataclass(frozen=True)
class Services:
    """Everything that a handler may reach."""

    archive: Archive
    keys: KeyRoom
    bell: Doorbell
    tables: Tables
    audit: AuditLog
    version: str
    limits: Limits = Limits()
    webhook_allowed: Allowed = field(default_factory=Allowed)
    ics: IcsTerms | None = None
    tokens: Tokens | None = None
    rates: Rates = field(default_factory=Rates)
    front: Front = field(default_factory=Front)
    metrics_token: str | None = field(default=None, repr=False)
    house: str = "operator"  # the tenant whose admins operate the whole service

    @cached_property
    def reception(self) -> Reception:
        """Who finds out who calls."""
        return Reception(self.keys, self.tokens, self.rates)
