"""Fleet: attack workers on one S3 store, of which one pauses past its lease and one lags."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from pratique_shared.runtime.queues import connect
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.fleet import Found, of_fleet
from tests.support.s3 import Bucket, s3
from tests.support.valkey import valkey

WORKERS = {Profile.CI: ("late", "plain"), Profile.FULL: ("late", *["plain"] * 6)}  # beside the one that pauses
REPETITIONS = {Profile.CI: 10, Profile.FULL: 100}  # a shard each


def fleet(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Let them score a plan, and hold the figures against those of one worker that does it all at once."""
    with s3(folder) as endpoint, valkey(folder) as url:
        bucket = Bucket(endpoint, secrets.token_hex(8))
        with patch.dict(os.environ, bucket.environment):
            found = asyncio.run(_run(folder, bucket, url, profile))
    yield some("workers", 1 + len(WORKERS[profile]), 3)
    yield some("shards", found.shards, 2 * REPETITIONS[profile])
    yield some("starts of the shard whose worker paused past its lease", found.starts, 2)
    yield none("shards lost, or facts beside those of the plan", abs(found.facts - found.shards))
    yield none("facts changed by the worker that came back", found.changed)
    yield none("figures other than one worker's", not found.same)


async def _run(folder: Path, bucket: Bucket, url: str, profile: Profile) -> Found:
    bell = await connect(url)
    try:
        return await of_fleet(folder, bucket, bell, url, WORKERS[profile], REPETITIONS[profile])
    finally:
        await bell.close()
