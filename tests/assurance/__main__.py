"""`python -m tests.assurance`: every check against its bound, one line a figure; 1 where one does not hold."""

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.assurance.checks import CHECKS
from tests.assurance.figures import Check, Figure, Profile
from tests.assurance.report import Outcome, keep, kept, made_here, page, said

KEPT = Path("out/assurance")  # the last outcome of each check, from which the page is made


def run(name: str, check: Check, profile: Profile) -> Outcome:
    """Run a check in a folder of its own; say each figure when it is there."""
    figures: list[Figure] = []
    error, begun, made = "", time.monotonic(), made_here(profile)  # a revision that comes meanwhile was not measured
    with tempfile.TemporaryDirectory(prefix=f"assure-{name.replace(' ', '-')}-") as folder:
        try:
            for figure in check(profile, Path(folder)):
                figures.append(figure)
                print(f"{name}: {said(figure)}", flush=True)
        except Exception as raised:  # noqa: BLE001 - the other checks are run all the same
            traceback.print_exc()
            error = type(raised).__name__
    outcome = Outcome(name, figures, error, time.monotonic() - begun, made)
    verdict = "pass" if outcome.holds else f"FAIL {error}".rstrip()
    print(f"{name}: {verdict}, {outcome.seconds:.0f} s", flush=True)
    return outcome


def main() -> int:
    """Run the checks that were asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance", description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="check", help=", ".join(CHECKS))
    parser.add_argument("--profile", type=Profile, choices=list(Profile), default=Profile.CI)
    parser.add_argument("--report", type=Path, help="write the page there")
    asked = parser.parse_args()
    if unknown := set(asked.checks) - set(CHECKS):
        parser.error(f"no such check: {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")
    outcomes = []
    for name in asked.checks or CHECKS:
        outcomes.append(run(name, CHECKS[name], asked.profile))
        keep(outcomes[-1], KEPT)
    if asked.report:
        asked.report.write_text(page(kept(CHECKS, KEPT)))
    missed = [outcome.check for outcome in outcomes if not outcome.holds]
    print(f"{len(outcomes)} checks, {len(missed)} failed{': ' if missed else ''}{', '.join(missed)}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
