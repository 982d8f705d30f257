"""What all tests may ask for."""

from collections.abc import Iterator

import pytest

from tests.support.house import House, house


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One Pratique for all tests that only use it."""
    with house(tmp_path_factory.mktemp("house")) as running:
        yield running
