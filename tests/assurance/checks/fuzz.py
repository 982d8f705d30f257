"""Mutated captures: each is answered, by every path alike, in a child that keeps its limits."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.mutations import HANG, run

CAPTURES = {Profile.CI: 4_000, Profile.FULL: 100_000}
MEMORY = 512  # MiB of a child


def fuzz(profile: Profile, _: Path) -> Iterator[Figure]:
    """Put mutated captures to limited children, a thousand each, on two processes."""
    count = CAPTURES[profile]
    found = asyncio.run(run(first=0, count=count, seed=1, processes=2))
    yield some("mutated captures answered", found.taken, count)
    yield some("packets read in them", found.packets, count)
    yield none("exceptions, hangs and dead children", len(found.faults))
    yield most("slowest capture on one path", found.slowest, HANG, "s")
    yield most("largest child", found.memory, MEMORY, "MiB")
