"""The checks of the assurance run, by the name of their row, in the order in which they are run."""

from tests.assurance.checks.duplicates import duplicates
from tests.assurance.checks.fuzz import fuzz
from tests.assurance.checks.queue_messages import queue_messages
from tests.assurance.checks.restore import restore
from tests.assurance.checks.webhook_addresses import webhook_addresses
from tests.assurance.figures import Check

CHECKS: dict[str, Check] = {
    "fuzz": fuzz,
    "duplicates": duplicates,
    "queue messages": queue_messages,
    "webhook addresses": webhook_addresses,
    "restore": restore,
}
