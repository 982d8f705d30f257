"""The checks of the assurance run, by the name of their row, in the order in which they are run."""

from tests.assurance.checks.fuzz import fuzz
from tests.assurance.checks.kills import kills
from tests.assurance.figures import Check

CHECKS: dict[str, Check] = {
    "fuzz": fuzz,
    "kills": kills,
}
