"""Rekey: fresh storage keys and a fresh master key for a data folder, and the earlier ones gone."""

from pathlib import Path

from pratique_local.secrets import keep_secrets, secrets_in, with_first_keys, with_fresh_keys
from pratique_local.supervisor import check_data, holding, run_as_house


def rekey(data: Path) -> int:
    """Change the keys of a service that stands still; cut off anywhere, doing it again goes on.

    Both keys are in the secrets until every data key and every tenant's key is under the fresh one. Only then are the
    earlier ones taken out.
    """
    check_data(data)
    with holding(data):  # a process that knows the earlier key alone would go on wrapping with it
        keep_secrets(data, with_fresh_keys(secrets_in(data)))
        code = run_as_house(data, "rekey")
        if code == 0:
            keep_secrets(data, with_first_keys(secrets_in(data)))
            print("the earlier keys are gone; what was backed up before needs the secrets that were saved with it")
        return code
