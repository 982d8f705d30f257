"""Tenants of this machine's service: its own command, with the secrets of the data folder."""

from pathlib import Path

from pratique_local.supervisor import check_data, run_as_house


def tenants(data: Path, words: list[str]) -> int:
    """Run `python -m pratique_privacy tenant ..` on a data folder; the service may run meanwhile."""
    check_data(data)
    return run_as_house(data, "tenant", *words)
