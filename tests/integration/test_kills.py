"""Releases while processes are killed and the queue is flushed: none lost, none doubled, none different."""

from pathlib import Path

from tests.assurance.survival import survive


def test_forty_releases_survive_kills_and_flushes(tmp_path: Path) -> None:
    found = survive(tmp_path, releases=40, kills=20, pause=0.5, patience=60)
    assert (found.ended, found.withdrawn) == (36, 4)
    assert (found.lost, found.doubled, found.different, found.undead) == (0, 0, 0, 0)
    assert found.kills.done == 20
    assert max(found.kills.recoveries) < 60  # the bound is that of `make assure`, on a machine that does nothing else
