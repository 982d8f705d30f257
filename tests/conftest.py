"""What all tests may ask for."""

import secrets
from collections.abc import Iterator

import pytest

from tests.support.collector import Collector, collector
from tests.support.house import House, free_ports, house
from tests.support.s3 import Bucket, s3


@pytest.fixture(scope="session")
def spans() -> Iterator[Collector]:
    """What collects the traces of the one Pratique."""
    with collector() as spans:
        yield spans


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, spans: Collector) -> Iterator[House]:
    """One Pratique for all tests that only use it; it shows its meters, traces and every line of its log."""
    seen = {
        "PRATIQUE_LOG_LEVEL": "INFO",
        "PRATIQUE_METRICS_PORT": str(free_ports(4)),
        "OTEL_EXPORTER_OTLP_ENDPOINT": spans.url,
        "OTEL_BSP_SCHEDULE_DELAY": "500",
    }
    with house(tmp_path_factory.mktemp("house"), port=None, **seen) as running:
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
