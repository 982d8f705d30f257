"""The restore rehearsal: a backup of a serving store, started elsewhere, serves the same and verifies."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from pratique import Client
from pratique.verify import Rejected, verify
from pratique_local.backup import back_up
from tests.assurance.figures import Figure, Profile, most, none, some
from tests.assurance.rehearsal import FORMATS, answers, released, routes_of
from tests.support.house import free_port, house

RELEASES = {Profile.CI: 20, Profile.FULL: 200}
BACKUP, READY = 60.0, 60.0  # seconds


def restore(profile: Profile, folder: Path) -> Iterator[Figure]:
    """Back up a store of some releases, restore it in another folder, and ask for everything again."""
    port, count = free_port(), RELEASES[profile]
    with house(folder / "house", port=port) as running, running.client() as client, running.http() as http:
        kept = released(client, count)
        routes = [route for release in kept for route in routes_of(release)]
        before = answers(http, routes)
        (folder / "keys.json").write_text(json.dumps(client.public_keys()))
        begun = time.monotonic()
        copied = back_up(running.data, folder / "backup", folder / "secrets")
        taken = time.monotonic() - begun
    yield some("releases in the store", len(kept), count)
    yield some("files copied", copied.files)
    yield most("backup of the serving store", taken, BACKUP, "s")
    begun = time.monotonic()
    shutil.copytree(folder / "backup", folder / "restored")
    shutil.copytree(folder / "secrets", folder / "restored", dirs_exist_ok=True)
    # The same port: links in the answers begin with the address.
    with house(folder / "restored", port=port) as running, running.client() as client, running.http() as http:
        yield most("copying back until it is ready", time.monotonic() - begun, READY, "s")
        after = answers(http, routes)
        yield some("answers that were 200 before", sum(status == 200 for status, _ in before.values()), len(routes))
        yield none("answers that differ afterwards", sum(after[route] != before[route] for route in routes))
        yield some("releases whose files verify", sum(_verifies(client, one, folder) for one in kept), count)
        yield some("releases made after it", len(released(client, 1)))


def _verifies(client: Client, release: str, folder: Path) -> bool:
    certificate = folder / "certificate.json"
    client.download_evidence(release, certificate)
    files = [client.download_records(release, folder / f"records.{form}", form).path for form in FORMATS]
    try:
        verify(certificate, folder / "keys.json", files)
    except Rejected:
        return False
    return True
