"""Rekey: fresh storage keys and a fresh master key for a data folder, and the earlier ones gone."""

import os
import subprocess
from pathlib import Path

from pratique_local.secrets import keep_secrets, secrets_in, with_first_keys, with_fresh_keys
from pratique_local.supervisor import holding, plan


def rekey(data: Path) -> int:
    """Change the keys of a service that stands still; cut off anywhere, doing it again goes on.

    Both keys are in the secrets until every data key and every tenant's key is under the fresh one. Only then are the
    earlier ones taken out.
    """
    if not (data / "secrets.json").exists():
        raise SystemExit(f"{data} is no data folder of Pratique: start it there once, or name another by --data")
    with holding(data):  # a process that knows the earlier key alone would go on wrapping with it
        keep_secrets(data, with_fresh_keys(secrets_in(data)))
        api = next(program for program in plan(data, 0, os.environ).programs if program.name == "api")
        command = [*api.command[:-1], "rekey"]
        code = subprocess.run(command, env=dict(api.environment), check=False).returncode  # noqa: S603 - it is ours
        if code == 0:
            keep_secrets(data, with_first_keys(secrets_in(data)))
            print("the earlier keys are gone; what was backed up before needs the secrets that were saved with it")
        return code
