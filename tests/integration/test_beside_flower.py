"""The client installs beside Flower, moves none of its pins, and is what Flower takes for a strategy and an exit."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FLOWER = "flwr==1.42.*"
CLIENT = Path(__file__).resolve().parents[2] / "clients" / "python"
PROGRAM = """
from flwr.app.exception import AppExitException
from flwr.app import ArrayRecord, ConfigRecord
from flwr.serverapp.strategy import FedAvg
from pratique import Client
from pratique.flower import PostureGate, RoundRefused
from pratique.plan import Retry

class Gated(PostureGate, FedAvg):
    pass

client = Client("http://127.0.0.1:1", "key", environ={}, retry=Retry(attempts=1))
strategy = Gated(releases="rel_01", client=client, min_train_nodes=3)
assert strategy.min_train_nodes == 3
assert issubclass(RoundRefused, AppExitException)
try:
    strategy.configure_train(1, ArrayRecord(), ConfigRecord(), None)
except RoundRefused as refused:
    print(int(refused.exit_code), refused)
"""

pytestmark = pytest.mark.skipif(
    not os.environ.get("PRATIQUE_FLOWER"), reason="needs a package index and a minute: make federation runs it"
)


class Environment:
    """A virtual environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin" / "python"
        self.uv("venv", "--quiet", str(folder))

    def uv(self, *words: str) -> str:
        done = subprocess.run([sys.executable, "-m", "uv", *words], capture_output=True, text=True, check=False)
        if done.returncode and re.search("error sending request|dns error|Connection refused", done.stderr):
            pytest.skip("no package index is reachable")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pip(self, verb: str, *words: str) -> str:
        return self.uv("pip", verb, "--python", str(self.python), *words)

    def versions(self) -> set[str]:
        return {line for line in self.pip("freeze").splitlines() if line}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("flower") / "env")
    made.pip("install", "--quiet", FLOWER)
    return made


def test_the_client_moves_no_pin_of_flower_and_brings_nothing_else(environment: Environment, tmp_path: Path) -> None:
    before = environment.versions()
    environment.uv("build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(CLIENT))
    (wheel,) = tmp_path.glob("pratique-*.whl")
    environment.pip("install", "--quiet", str(wheel))
    assert {name.partition(" ")[0].partition("==")[0] for name in environment.versions() - before} == {"pratique"}
    assert before <= environment.versions()
    environment.pip("check")


def test_a_round_is_refused_under_the_real_flower(environment: Environment, tmp_path: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PRATIQUE_"))}
    done = subprocess.run(
        [environment.python, "-c", PROGRAM],
        env=plain | {"FLWR_HOME": str(tmp_path), "FLWR_TELEMETRY_ENABLED": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "200 Round 1 is refused: No connection to http://127.0.0.1:1.\n"
