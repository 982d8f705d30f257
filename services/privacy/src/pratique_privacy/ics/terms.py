"""Terms: with which coordinator we work, as whom, and to whom we deliver."""

from dataclasses import dataclass, field

from pratique_privacy.outbound.addresses import Allowed

COORDINATOR = "coordinator"  # the role under which the audit log knows it; it has no API key


@dataclass(frozen=True)
class IcsTerms:
    """`url` is the coordinator's, `callback` our own as it reaches us; neither ends in a slash.

    Every consumer counts as the one recipient `recipient`: records leave to it only from releases that name it.
    """

    url: str
    callback: str
    tenant: str
    recipient: str = "ics"
    producer: str = "pratique"
    token: str | None = field(default=None, repr=False)
    allowed: Allowed = field(default_factory=Allowed)

    @property
    def registration(self) -> dict[str, str]:
        """The two addresses that the coordinator calls."""
        return {
            "info_job_callback_url": f"{self.callback}/ics/info-jobs",
            "info_producer_supervision_callback_url": f"{self.callback}/ics/health",
        }
