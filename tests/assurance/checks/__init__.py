"""The checks of the assurance run, by the name of their row, in the order in which they are run."""

from tests.assurance.checks.access import access
from tests.assurance.checks.clock import clock_jumps
from tests.assurance.checks.contract import contract
from tests.assurance.checks.drain import drain
from tests.assurance.checks.fleet import fleet
from tests.assurance.checks.fuzz import fuzz
from tests.assurance.checks.kills import kills
from tests.assurance.checks.load import load
from tests.assurance.checks.overload import overload
from tests.assurance.checks.slow import slow_clients
from tests.assurance.checks.soak import soak
from tests.assurance.figures import Check

CHECKS: dict[str, Check] = {
    "fuzz": fuzz,
    "kills": kills,
    "fleet": fleet,
    "load": load,
    "drain": drain,
    "overload": overload,
    "slow clients": slow_clients,
    "clock jumps": clock_jumps,
    "contract": contract,
    "access": access,
    "soak": soak,
}
