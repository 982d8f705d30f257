"""The checks of the assurance run, by the name of their row, in the order in which they are run."""

from tests.assurance.checks.access import access
from tests.assurance.checks.bombs import bombs
from tests.assurance.checks.canaries import canaries
from tests.assurance.checks.clock import clock_jumps
from tests.assurance.checks.contract import contract
from tests.assurance.checks.corruption import corruption
from tests.assurance.checks.disk_full import disk_full
from tests.assurance.checks.drain import drain
from tests.assurance.checks.duplicates import duplicates
from tests.assurance.checks.fleet import fleet
from tests.assurance.checks.fuzz import fuzz
from tests.assurance.checks.kills import kills
from tests.assurance.checks.load import load
from tests.assurance.checks.overload import overload
from tests.assurance.checks.path_names import path_names
from tests.assurance.checks.queue_messages import queue_messages
from tests.assurance.checks.restore import restore
from tests.assurance.checks.slow import slow_clients
from tests.assurance.checks.soak import soak
from tests.assurance.checks.webhook_addresses import webhook_addresses
from tests.assurance.figures import Check

CHECKS: dict[str, Check] = {
    "kills": kills,
    "fleet": fleet,
    "duplicates": duplicates,
    "drain": drain,
    "load": load,
    "overload": overload,
    "slow clients": slow_clients,
    "fuzz": fuzz,
    "bombs": bombs,
    "contract": contract,
    "access": access,
    "canaries": canaries,
    "queue messages": queue_messages,
    "path names": path_names,
    "webhook addresses": webhook_addresses,
    "disk full": disk_full,
    "corruption": corruption,
    "clock jumps": clock_jumps,
    "restore": restore,
    "soak": soak,
}
