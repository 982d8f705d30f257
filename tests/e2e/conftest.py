"""The browser and a signed-in window for the tests of the dashboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pratique_local.sample import write_sample
from tests.support.browser import Desk, chromium, desk
from tests.support.house import House
from tests.support.released import Released, release_both


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of the dashboard; it ends with them, for its loop would be in the way of others."""
    with chromium() as started:
        yield started


@pytest.fixture
def window(browser: Browser, running: House) -> Iterator[Desk]:
    """A watched window where nobody is signed in."""
    with desk(browser, running) as opened:
        yield opened


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated capture."""
    path: Path = tmp_path_factory.mktemp("sample") / "night.pcapng"
    write_sample(path)
    return path


@pytest.fixture(scope="session")
def capture(running: House, sample: Path) -> str:
    """The id of that capture, profiled."""
    with running.client() as client:
        identity: str = client.push_capture(sample, pilot="lab")["id"]
        client.wait_capture(identity)
    return identity


@pytest.fixture(scope="session")
def released(running: House) -> Released:
    """Two releases of one table: one that fails its gate, one that passes it."""
    with running.client() as client:
        return release_both(client)


@pytest.fixture(scope="session")
def study(running: House, capture: str) -> dict[str, str]:
    """A small study of each kind."""
    with running.client() as client:
        attacks = {"partial_qi": {}, "linkage": {}, "repetitions": 1}
        asked = {"sources": [capture], "configurations": ["C2", "C4"], "attacks": attacks}
        sweep = client.create_sweep(asked)["id"]
        utility = client.create_utility({"sources": [capture], "repeats": 2, "trees": 5, "taus": [1, 2]})["id"]
        client.wait_sweep(sweep, 60)
        client.wait_utility(utility, 60)
    return {"sweeps": sweep, "utility": utility}


@pytest.fixture(scope="session")
def views(capture: str, released: Released, study: dict[str, str]) -> dict[str, str]:
    """Every view with something in it: its address, and what is there once it is drawn."""
    return {
        f"#/captures/{capture}": "figure.chart canvas",
        f"#/workbench?source={capture}": ".chip",
        "#/releases": "table",
        f"#/releases/{released.suppressed}": "[data-metric=k]",
        f"#/releases/compare?one={released.raw}&other={released.suppressed}": "canvas",
        f"#/risk/{released.raw}": "canvas",
        f"#/attacks/{released.suppressed}": "canvas",
        f"#/explore/sweeps/{study['sweeps']}": "canvas",
        f"#/explore/utility/{study['utility']}": "canvas",
        "#/explore/recommendations/new": "fieldset.classes select",
        "#/explore/sweeps/new": ".ticks input",
        "#/integrations/ics": "section",
        "#/integrations/webhooks": "form",
        "#/integrations/api-keys": "table",
        "#/integrations/signing-keys": "table",
        "#/integrations/tenant-keys": "table",
        "#/integrations/gate-floor": "form",
        "#/audit": "table",
    }
