"""The privacy service: `python -m pratique_privacy api` and `python -m pratique_privacy worker`."""

import asyncio
import signal
import sys
from importlib.metadata import version
from pathlib import Path

import uvicorn

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.http.app import create_app
from pratique_privacy.http.services import Services
from pratique_privacy.jobs import Privacy
from pratique_privacy.keys import KeyRoom, fresh_key
from pratique_privacy.tables import LIMITS, TABLE_CHILD, Tables
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.queues import Doorbell, connect, serve
from pratique_shared.runtime.secret_files import write_secret
from pratique_shared.runtime.settings import Key, Settings, read_environment
from pratique_shared.runtime.telemetry import log_as_json

FIRST_TENANT = "operator"


class PrivacySettings(Settings):
    """What privacy reads beyond the common settings: the master key, where to listen, how many table children."""

    master_key: Key
    host: str = "127.0.0.1"
    port: int = 8080
    table_processes: int = 1
    study_processes: int = 1  # a search of a minute holds up no release
    api_table_processes: int = 2  # a slow preview leaves one for those who ask for releases
    admin_key_file: Path | None = None


def archive_of(settings: PrivacySettings) -> Archive:
    """Open privacy's rooms."""
    return Archive(*(settings.room(name) for name in ("captures", "releases", "matrices", "scores")))


def key_room_of(settings: PrivacySettings) -> KeyRoom:
    """Open the room of keys."""
    return KeyRoom(settings.room("keys"), settings.master_key.get_secret_value())


async def first_key(settings: PrivacySettings, keys: KeyRoom) -> None:
    """Write an admin key to its file on the first start: 0600, never shown again.

    The file comes first: a crash between the two leaves a key that the next start puts in force.
    """
    if await keys.api_keys(FIRST_TENANT):
        return
    path = settings.admin_key_file or settings.data / "admin.key"
    if not path.exists():
        write_secret(path, fresh_key() + "\n")
    await keys.add_api_key(path.read_text().strip(), FIRST_TENANT, "admin", name="first admin key")


async def serve_api(settings: PrivacySettings) -> None:
    """Serve the API until SIGTERM; what is under way may end within eight seconds."""
    keys = key_room_of(settings)
    await first_key(settings, keys)
    tables = Tables(Children(TABLE_CHILD, LIMITS, settings.api_table_processes))
    await tables.ready()
    bell = await connect(settings.redis_url)
    archive = archive_of(settings)
    services = Services(
        archive=archive,
        keys=keys,
        bell=bell,
        tables=tables,
        audit=AuditLog(archive.releases_room),
        version=version("pratique-privacy"),
    )
    config = uvicorn.Config(
        create_app(services),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=8,
    )
    for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn stops in order, then raises the signal once more
        signal.signal(number, lambda *_: None)
    try:
        await uvicorn.Server(config).serve()
    finally:
        tables.close()
        await bell.close()


async def work(settings: PrivacySettings) -> None:
    """Serve the privacy queue until SIGTERM."""
    archive, keys = archive_of(settings), key_room_of(settings)
    tables = Tables(Children(TABLE_CHILD, LIMITS, settings.table_processes))
    studies = Tables(Children(TABLE_CHILD, LIMITS, settings.study_processes))

    def privacy(bell: Doorbell) -> Privacy:
        return Privacy(archive, keys, tables, studies, bell)

    try:
        await asyncio.gather(tables.ready(), studies.ready())
        await serve(
            settings.redis_url,
            "privacy",
            lambda bell: privacy(bell).handle,
            jobs=16,
            beside=lambda bell: privacy(bell).sweep_forever(),
        )
    finally:
        tables.close()
        studies.close()


def main() -> None:
    """Read the environment and serve, as the API or as its worker."""
    settings = read_environment(PrivacySettings)
    log_as_json(settings.log_level)
    match sys.argv[1:]:
        case ["api"]:
            asyncio.run(serve_api(settings))
        case ["worker"]:
            asyncio.run(work(settings))
        case _:
            raise SystemExit("say which: api or worker")
