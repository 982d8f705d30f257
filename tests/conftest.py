"""What all tests may ask for."""

import secrets
from collections.abc import Iterator

import pytest

from tests.support.house import House, house
from tests.support.s3 import Bucket, s3


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One Pratique for all tests that only use it."""
    with house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One simulated S3 for all tests that need one."""
    with s3(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty prefix of a bucket, to which the environment leads."""
    bucket = Bucket(s3_server, secrets.token_hex(8))
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    return bucket
