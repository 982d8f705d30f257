"""The privacy service: `python -m pratique_privacy api` and `python -m pratique_privacy worker`."""

import asyncio
import signal
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import uvicorn
from pydantic import SecretStr

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.dashboard import routes as dashboard
from pratique_privacy.http.app import create_app
from pratique_privacy.http.services import Services
from pratique_privacy.ics.registrar import Registrar
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.jobs import Privacy
from pratique_privacy.keys import KeyRoom, fresh_key
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.courier import Courier
from pratique_privacy.notices.lines import Lines
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.outbound.post import Outbound
from pratique_privacy.tables import LIMITS, TABLE_CHILD, Tables
from pratique_shared.contracts.messages import Message
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
    public_url: str = ""  # as our users reach us; links in webhooks begin with it
    webhook_allow: str = ""  # names and networks that webhooks may go to beside public addresses
    ics_url: str = ""
    ics_callback_url: str = ""  # as the coordinator reaches us; else the public one
    ics_token: SecretStr | None = None  # what the coordinator sends with its callbacks
    ics_tenant: str = FIRST_TENANT
    ics_recipient: str = "ics"
    ics_allow: str = ""  # names and networks that consumers of the coordinator may be at


def archive_of(settings: PrivacySettings) -> Archive:
    """Open privacy's rooms."""
    return Archive(*(settings.room(name) for name in ("captures", "releases", "matrices", "scores")))


def key_room_of(settings: PrivacySettings) -> KeyRoom:
    """Open the room of keys."""
    return KeyRoom(settings.room("keys"), settings.master_key.get_secret_value())


def allowed_by(name: str, text: str) -> Allowed:
    """Read a setting that opens addresses; ends the process where it cannot be read."""
    try:
        return Allowed.parse(text)
    except ValueError as error:
        raise SystemExit(f"PRATIQUE_{name} lists networks, addresses and names: {type(error).__name__}") from None


def ics_terms(settings: PrivacySettings) -> IcsTerms | None:
    """Return the terms with the coordinator; None where no address of one is set."""
    if not settings.ics_url:
        return None
    callback = settings.ics_callback_url or settings.public_url
    if not callback:
        raise SystemExit("PRATIQUE_ICS_CALLBACK_URL is missing: our own address, as the coordinator reaches it")
    token = settings.ics_token.get_secret_value().strip() if settings.ics_token else ""
    return IcsTerms(
        url=settings.ics_url.rstrip("/"),
        callback=callback.rstrip("/"),
        tenant=settings.ics_tenant,
        recipient=settings.ics_recipient,
        token=token or None,
        allowed=allowed_by("ICS_ALLOW", settings.ics_allow),
    )


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
        webhook_allowed=allowed_by("WEBHOOK_ALLOW", settings.webhook_allow),
        ics=ics_terms(settings),
    )
    app = create_app(services)
    dashboard.install(app)
    config = uvicorn.Config(
        app,
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


class Desk:
    """What a privacy worker does side by side: answers its queue, sweeps, delivers, and stays registered."""

    def __init__(self, settings: PrivacySettings, tables: Tables, studies: Tables, bell: Doorbell) -> None:
        archive, keys, terms = archive_of(settings), key_room_of(settings), ics_terms(settings)
        agent = f"pratique/{version('pratique-privacy')}"
        base = settings.public_url or settings.ics_callback_url
        self._outs = (
            Outbound(allowed_by("WEBHOOK_ALLOW", settings.webhook_allow), agent=agent),
            Outbound(allowed_by("ICS_ALLOW", settings.ics_allow), agent=agent),
        )
        audit = AuditLog(archive.releases_room)
        lines = Lines(archive, keys, audit, *self._outs, base.rstrip("/"))
        self._courier = Courier(NoticeArchive(archive), lines, bell)
        self._privacy = Privacy(archive, keys, tables, studies, bell, Announcer(archive, self._courier.wake))
        self._registrar = None if terms is None else Registrar(terms, Subscribers(archive), bell, audit)

    async def handle(self, message: Message) -> None:
        """Pass a message on to whom it concerns."""
        match message.task:
            case "deliver":
                self._courier.wake(message.id)
            case "reconcile":
                if self._registrar is not None:
                    self._registrar.wake()
            case _:
                await self._privacy.handle(message)

    async def beside(self) -> None:
        """Do what nobody rings for, until cancelled."""
        work = [self._privacy.sweep_forever(), self._courier.run()]
        if self._registrar is not None:
            work.append(self._registrar.run())
        try:
            await asyncio.gather(*work)
        finally:
            for out in self._outs:
                await out.close()


async def work(settings: PrivacySettings) -> None:
    """Serve the privacy queue until SIGTERM."""
    tables = Tables(Children(TABLE_CHILD, LIMITS, settings.table_processes))
    studies = Tables(Children(TABLE_CHILD, LIMITS, settings.study_processes))

    @cache
    def desk(bell: Doorbell) -> Desk:
        return Desk(settings, tables, studies, bell)

    try:
        await asyncio.gather(tables.ready(), studies.ready())
        await serve(
            settings.redis_url,
            "privacy",
            lambda bell: desk(bell).handle,
            jobs=16,
            beside=lambda bell: desk(bell).beside(),
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
