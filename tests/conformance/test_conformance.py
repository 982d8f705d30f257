"""The running service against the checks that lie beside the project, through its public API only."""

import subprocess
import sys

import pytest

from tests.support.beside import beside
from tests.support.house import House


@pytest.mark.parametrize("part", ["tables", "worked", "configs", "ev", "transforms", "scopes", "malformed"])
def test_the_service_answers_as_the_golden_cases_say(running: House, part: str) -> None:
    script = beside("conformance") / "conform.py"
    command = [sys.executable, str(script), "--url", running.url, "--token-file", str(running.data / "admin.key")]
    done = subprocess.run([*command, "--only", part], capture_output=True, text=True, timeout=220, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert done.stdout.splitlines()[-1].endswith(" 0 failed")
