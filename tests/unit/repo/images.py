"""The Dockerfile and the compose file as the tests read them."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.unit.repo.source import REPOSITORY

DOCKERFILE = "deploy/docker/Dockerfile"
Instruction = tuple[str, str]


def stages(text: str) -> dict[str, list[Instruction]]:
    """The instructions of each named stage, its `FROM` first; comments left out and continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found: dict[str, list[Instruction]] = {}
    name = ""
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            name = rest.rpartition(" AS ")[2]
            found[name] = []
        if word and name:
            found[name].append((word, " ".join(rest.split())))
    return found


def lineage(found: dict[str, list[Instruction]], name: str) -> list[Instruction]:
    """The instructions that make an image, those of the stages below it first."""
    parent = found[name][0][1].partition(" AS ")[0]
    below = lineage(found, parent) if parent in found else []
    return below + found[name]


def last(found: dict[str, list[Instruction]], name: str, word: str) -> str:
    """What the last instruction of a kind says: the one that counts."""
    return [rest for kind, rest in lineage(found, name) if kind == word][-1]


@cache
def dockerfile() -> dict[str, list[Instruction]]:
    """The stages of our Dockerfile."""
    return stages((REPOSITORY / DOCKERFILE).read_text())


@cache
def compose() -> dict[str, Any]:
    """The compose file as compose understands it; skips the test where compose is not installed."""
    beside = Path(sys.executable).with_name("docker-compose")
    binary = str(beside) if beside.is_file() else shutil.which("docker-compose")
    if binary is None:
        pytest.skip("docker-compose is not installed: `make setup` brings it")
    # No environment: neither secrets nor an engine are needed to read the file.
    answer = subprocess.run(
        [binary, "--file", "docker-compose.yml", "config", "--format", "json"],
        cwd=REPOSITORY,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr.decode()
    loaded: dict[str, Any] = json.loads(answer.stdout)
    return loaded
