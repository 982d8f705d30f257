"""Made-up requests: the contract tester over the whole OpenAPI document, as the tests and the assurance run call it."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.served import Served
from tests.support.contract import KEY

HERE = Path(__file__).parent
SEED = "20260101"
# Kinds of failures as the tool names them in its summary.
STATUS, SCHEMA = ("Undocumented status code",), ("Response violates schema", "Undocumented Content-Type")
_FAILURES = re.compile(r"^  \u274c \S+ (.+): (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class MadeUp:
    """What the tool said and how it ended."""

    code: int
    said: str

    @property
    def tested(self) -> int:
        """How many operations it has tested."""
        return int(self.said.partition("Tested: ")[2].split(maxsplit=1)[0])

    @property
    def cases(self) -> int:
        """How many requests it has made up."""
        found = re.search(r"(\d[\d,]*) generated", self.said)
        return int(found[1].replace(",", "")) if found else 0

    def failures(self, *kinds: str) -> int:
        """How many failures of these kinds there were; of all kinds where none is named."""
        return sum(int(count) for kind, count in _FAILURES.findall(self.said) if not kinds or kind in kinds)


def made_up(service: Served, folder: Path, *arguments: str, timeout: float) -> MadeUp:
    """Run the tool; what it says is left in the folder, too."""
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        f"--config-file={HERE / 'schemathesis.toml'}",
        "run",
        f"{service.url}/openapi.json",
        f"--header=Authorization: Bearer {KEY}",
        "--no-color",
        *arguments,
    ]
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "tests.conformance.contract_checks",
        "PYTHONPATH": os.pathsep.join([str(HERE.parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "NO_PROXY": "127.0.0.1",
    }
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, cwd=folder, env=environment
    )
    text = done.stdout + done.stderr
    (folder / "schemathesis.txt").write_text(text)
    return MadeUp(done.returncode, text)
