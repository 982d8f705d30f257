"""The checks of the assurance run, by the name of their row, in the order in which they are run."""

from tests.assurance.checks.bombs import bombs
from tests.assurance.checks.canaries import canaries
from tests.assurance.checks.corruption import corruption
from tests.assurance.checks.disk_full import disk_full
from tests.assurance.checks.duplicates import duplicates
from tests.assurance.checks.fuzz import fuzz
from tests.assurance.checks.path_names import path_names
from tests.assurance.checks.queue_messages import queue_messages
from tests.assurance.checks.restore import restore
from tests.assurance.checks.webhook_addresses import webhook_addresses
from tests.assurance.figures import Check

CHECKS: dict[str, Check] = {
    "fuzz": fuzz,
    "canaries": canaries,
    "disk full": disk_full,
    "corruption": corruption,
    "duplicates": duplicates,
    "queue messages": queue_messages,
    "path names": path_names,
    "webhook addresses": webhook_addresses,
    "bombs": bombs,
    "restore": restore,
}
