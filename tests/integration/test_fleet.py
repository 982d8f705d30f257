"""Many attack workers on one S3 store: the numbers of one, whoever pauses, lags or is counted twice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pratique_shared.runtime.queues import Doorbell, connect
from tests.assurance.fleet import of_fleet
from tests.support.s3 import Bucket
from tests.support.valkey import valkey


@pytest.fixture
async def queue(tmp_path: Path) -> AsyncIterator[tuple[Doorbell, str]]:
    with valkey(tmp_path) as url:
        bell = await connect(url)
        yield bell, url
        await bell.close()


async def test_a_fleet_with_one_that_pauses_past_its_lease_and_one_that_lags_finds_what_one_worker_finds(
    tmp_path: Path, bucket: Bucket, queue: tuple[Doorbell, str]
) -> None:
    found = await of_fleet(tmp_path, bucket, *queue, ("late", "plain"), 5)
    assert found.starts >= 2  # the sleeper's and that of whoever did its work
    assert not found.changed  # what came first stands
    assert found.facts == found.shards  # nothing doubled, nothing lost
    assert found.same
