"""Kills: releases while API, workers and queue server are killed with -9 and the queue is flushed."""

from collections.abc import Iterator
from pathlib import Path

from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.survival import survive

RELEASES = {Profile.CI: 100, Profile.FULL: 500}
KILLS = {Profile.CI: 40, Profile.FULL: 200}
PAUSE = 1.0  # seconds between two kills, on average
RECOVERY = 15  # seconds
BACKLOG = 600  # seconds


def kills(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Post releases of rows and of captures while everything is killed; withdraw every tenth; compare all of them."""
    count = KILLS[profile]
    found = survive(folder, RELEASES[profile], count, PAUSE, BACKLOG)
    yield some("kills and flushes", found.kills.done, count)
    for name, times in sorted(found.kills.by_name.items()):
        yield some(f"of them: {name}", times)
    yield some("releases ended", found.ended, RELEASES[profile] - found.withdrawn)
    yield some("releases withdrawn", found.withdrawn)
    yield none("releases lost", found.lost)
    yield none("releases made twice", found.doubled)
    yield none("releases with other figures or bytes", found.different)
    yield none("releases that can be read though withdrawn", found.undead)
    yield some("recoveries timed", len(found.kills.recoveries), count // 4)
    recoveries = sorted(found.kills.recoveries)
    yield most("kill to all processes and /readyz, longest", recoveries[-1], RECOVERY, "s")
    yield most("kill to all processes and /readyz, median", recoveries[len(recoveries) // 2], RECOVERY, "s")
    yield most("last kill to the end of all accepted work", found.backlog, BACKLOG, "s")
