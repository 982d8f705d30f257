"""Tenants of this machine's service: its own command, with the secrets of the data folder."""

import os
import subprocess
from pathlib import Path

from pratique_local.supervisor import plan


def tenants(data: Path, words: list[str]) -> int:
    """Run `python -m pratique_privacy tenant ..` on a data folder; the service may run meanwhile."""
    if not (data / "secrets.json").exists():
        raise SystemExit(f"{data} is no data folder of Pratique: start it there once, or name another by --data")
    api = next(program for program in plan(data, 0, os.environ).programs if program.name == "api")
    command = [*api.command[:-1], "tenant", *words]
    return subprocess.run(command, env=dict(api.environment), check=False).returncode  # noqa: S603 - it is ours
