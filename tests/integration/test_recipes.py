"""The recipes of the documents work as they stand: each is taken from the text and run against one Pratique."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from pratique_local.sample import write_sample
from tests.support.house import House

REPOSITORY = Path(__file__).resolve().parents[2]
RECIPE = re.compile(r"^<!-- recipe: ([a-z]+) -->\n```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOCUMENTS = ("README.md", "docs/client.md", "docs/evidence.md")
LINES = 12  # that a recipe of the README may have, the blank ones left out


def recipes(document: str) -> dict[str, tuple[str, str]]:
    """The recipes of a document: name to language and text."""
    found = RECIPE.findall((REPOSITORY / document).read_text())
    return {name: (language, text) for name, language, text in found}


class Kitchen:
    """A folder with a capture in it, on a machine where Pratique runs."""

    def __init__(self, folder: Path, running: House) -> None:
        self.folder = folder
        (folder / "out").mkdir()
        write_sample(folder / "out" / "sample.pcapng")
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PRATIQUE_")}
        self.environ = {
            **plain,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PRATIQUE_URL": running.url,
            "PRATIQUE_KEY_FILE": str(running.data / "admin.key"),
            "PRATIQUE_CACHE": str(folder / "cache"),
            "U": running.url,
            "A": f"Authorization: Bearer {running.key}",
        }

    def cook(self, document: str, name: str, **environ: str) -> str:
        """Run a recipe and return what it printed; it fails where any line of it does."""
        language, text = recipes(document)[name]
        words = [sys.executable, "-c"] if language == "python" else ["bash", "-euo", "pipefail", "-c"]
        done = subprocess.run(
            [*words, text],
            cwd=self.folder,
            env=self.environ | environ,
            capture_output=True,
            text=True,
            timeout=220,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def kitchen(running: House, tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    return Kitchen(tmp_path_factory.mktemp("kitchen"), running)


@pytest.fixture(scope="module")
def aggregated(kitchen: Kitchen) -> str:
    """What the aggregator's recipe printed; it leaves a release behind."""
    return kitchen.cook("README.md", "aggregator")


def test_every_recipe_is_short_and_is_run() -> None:
    found = {document: recipes(document) for document in DOCUMENTS}
    assert {name: list(each) for name, each in found.items()} == {
        "README.md": ["aggregator", "shell", "auditor", "rapp"],
        "docs/client.md": ["awaited"],
        "docs/evidence.md": ["certificate", "openssl"],
    }
    for _, text in found["README.md"].values():
        assert len([line for line in text.splitlines() if line.strip()]) <= LINES


def test_the_aggregator_gets_the_records_with_what_belongs_to_them(kitchen: Kitchen, aggregated: str) -> None:
    path = Path(aggregated.split(maxsplit=1)[0])
    assert path.read_bytes().startswith(b"PAR1")
    assert kitchen.folder / "cache" in path.parents
    assert "/certificate" in aggregated


def test_the_analyst_releases_from_the_shell(kitchen: Kitchen) -> None:
    if not any(entry.name == "run" for entry in entry_points(group="pratique.local")):
        pytest.skip("pratique-local was installed before it brought `run`: make setup")
    told = kitchen.cook("README.md", "shell")
    assert "Gate: pass" in told
    assert (kitchen.folder / "night.parquet").read_bytes().startswith(b"PAR1")
    assert json.loads((kitchen.folder / "out/local/posture.json").read_text())["verdict"] == "pass"


def test_the_auditor_verifies_what_left(kitchen: Kitchen, aggregated: str) -> None:
    told = kitchen.cook("README.md", "auditor")
    assert "posture.json: as certified" in told
    assert re.search(r"^verified: rel_", told, re.MULTILINE)
    assert "intact" in told
    assert (kitchen.folder / "auditor.key").stat().st_mode & 0o077 == 0


def test_the_rapp_sees_the_releases_that_name_it(kitchen: Kitchen, aggregated: str) -> None:
    words = ["pratique", "key", "add", "recipient", "--recipient", "fl-aggregator-1", "-o", "rapp.key"]
    subprocess.run(words, cwd=kitchen.folder, env=kitchen.environ, check=True, timeout=60, capture_output=True)
    told = kitchen.cook("README.md", "rapp", PRATIQUE_KEY_FILE="")
    (release,) = set(re.findall(r"rel_[0-9a-z]{26}", aggregated))
    assert told.count(release) == 1


def test_the_awaited_client_walks_the_releases(kitchen: Kitchen, aggregated: str) -> None:
    assert "rel_" in kitchen.cook("docs/client.md", "awaited")


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("openssl")), reason="curl or openssl is not installed")
def test_a_certificate_is_verified_by_the_client_and_by_openssl_alone(kitchen: Kitchen, aggregated: str) -> None:
    release = re.search(r"rel_\w+", aggregated)
    assert release is not None
    assert "night.csv: is" in kitchen.cook("docs/evidence.md", "certificate", REL=release[0])
    assert "Signature Verified Successfully" in kitchen.cook("docs/evidence.md", "openssl", REL=release[0])
