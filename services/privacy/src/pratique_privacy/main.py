"""The privacy service: `python -m pratique_privacy api`, `worker`, `tenant add NAME`, or `rekey`."""

import asyncio
import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from typing import get_args

import uvicorn

from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.dashboard import routes as dashboard
from pratique_privacy.http.app import create_app
from pratique_privacy.http.meters import watch_queues
from pratique_privacy.http.patience import Patient
from pratique_privacy.http.services import Services
from pratique_privacy.ics.registrar import Registrar
from pratique_privacy.identity.key_set import NoKeySet
from pratique_privacy.identity.tokens import Tokens
from pratique_privacy.jobs import Privacy
from pratique_privacy.keys import KeyRoom, fresh_key
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.notices.archive import NoticeArchive
from pratique_privacy.notices.courier import Courier
from pratique_privacy.notices.lines import Lines
from pratique_privacy.notices.subscribers import Subscribers
from pratique_privacy.orphans.orphanage import Orphanage
from pratique_privacy.outbound.post import Outbound
from pratique_privacy.retention.keeper import Keeper
from pratique_privacy.settings import (
    FIRST_TENANT,
    PrivacySettings,
    allowed_by,
    front_of,
    ics_terms,
    keep_of,
    key_set_of,
    rates_of,
    secret_text,
    token_terms,
)
from pratique_privacy.tables import LIMITS, TABLE_CHILD, Tables
from pratique_privacy.tenants import TenantRefused, add_admin_key, add_tenant
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import RoomName
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.meters import BUILD, serve_meters
from pratique_shared.runtime.queues import Doorbell, connect, serve
from pratique_shared.runtime.secret_files import write_secret
from pratique_shared.runtime.settings import read_environment
from pratique_shared.runtime.telemetry import log_as_json
from pratique_shared.runtime.traces import traced


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
    await keys.add_tenant(FIRST_TENANT)
    await keys.name_subjects()
    if await keys.api_keys(FIRST_TENANT):
        return
    path = settings.admin_key_file or settings.data / "admin.key"
    if not path.exists():
        write_secret(path, fresh_key() + "\n")
    await keys.add_api_key(path.read_text().strip(), FIRST_TENANT, "admin", name="first admin key")


async def tokens_of(settings: PrivacySettings, keys: KeyRoom) -> Tokens | None:
    """Return who reads tokens; None where no provider is set. Ends the process where a file of keys has none.

    A provider that does not answer yet is asked again when the first token comes.
    """
    terms = token_terms(settings)
    if terms is None:
        return None
    key_set = key_set_of(settings, f"pratique/{version('pratique-privacy')}")
    try:
        await key_set.refresh()
    except NoKeySet as problem:
        if settings.jwt_jwks_file:
            raise SystemExit(f"PRATIQUE_JWT_JWKS_FILE cannot be used: {problem}") from None
        logging.getLogger("pratique.identity").warning("tokens are refused until it answers: %s", problem)
    return Tokens(terms, key_set, keys)


async def serve_api(settings: PrivacySettings) -> None:
    """Serve the API until SIGTERM; what is under way may end within eight seconds."""
    keys, front, rates = key_room_of(settings), front_of(settings), rates_of(settings)
    await first_key(settings, keys)
    tokens = await tokens_of(settings, keys)
    tables = Tables(Children(TABLE_CHILD, LIMITS, settings.api_table_processes, settings.api_waiting))
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
        tokens=tokens,
        rates=rates,
        front=front,
        metrics_token=secret_text(settings.metrics_token),
        house=FIRST_TENANT,
    )
    app = create_app(services)
    dashboard.install(app)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=Patient,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # whom we believe is a setting of ours; uvicorn believes all of loopback
        timeout_graceful_shutdown=8,
    )
    for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn stops in order, then raises the signal once more
        signal.signal(number, lambda *_: None)
    watch = asyncio.create_task(watch_queues(bell))
    try:
        await uvicorn.Server(config).serve()
    finally:
        watch.cancel()
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
        self._orphanage = Orphanage(archive)
        self._keeper = Keeper(archive, audit, keep_of(settings))
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
        work = [self._privacy.sweep_forever(), self._courier.run(), self._orphanage.run(), self._keeper.run()]
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
            alive=settings.alive_file,
        )
    finally:
        tables.close()
        studies.close()


async def rekey(settings: PrivacySettings) -> None:
    """Put the first key of each ring around whatever another one wraps; ends with 1 where something opens to none."""
    found = {name: await settings.room(name).rewrap() for name in get_args(RoomName)}
    found["master"] = await key_room_of(settings).rewrap()
    for name, done in found.items():
        print(f"{name}: {done.found} wrapped keys, {done.changed} wrapped anew, {done.broken} that no key opens")
    if any(done.broken for done in found.values()):
        raise SystemExit("some keys open under none that is given: put the earlier keys back behind the first one")


async def keep_tenants(settings: PrivacySettings, words: list[str]) -> None:
    """Make or list tenants; what is printed is shown this once."""
    keys, audit = key_room_of(settings), AuditLog(archive_of(settings).releases_room)
    try:
        match words:
            case ["add", name]:
                print(await add_tenant(keys, audit, name))
            case ["admin-key", name]:
                print(await add_admin_key(keys, audit, name))
            case ["list"]:
                print("\n".join(await keys.tenants()))
            case _:
                raise SystemExit("say what to do: tenant add NAME, tenant admin-key NAME, or tenant list")
    except TenantRefused as refused:
        raise SystemExit(refused.detail) from None


@contextmanager
def seen(settings: PrivacySettings, process: str) -> Iterator[None]:
    """Let whoever operates the service see this process: its meters, and the traces of the block."""
    BUILD.info({"service": process, "version": version("pratique-privacy")})
    serve_meters(settings.metrics_host, settings.metrics_port)
    with traced(f"pratique-{process}", version("pratique-privacy")):
        yield


def main() -> None:
    """Read the environment and serve, as the API or as its worker, or do what only the operator of the house may."""
    settings = read_environment(PrivacySettings)
    log_as_json(settings.log_level)
    match sys.argv[1:]:
        case ["api"]:
            with seen(settings, "api"):
                asyncio.run(serve_api(settings))
        case ["worker"]:
            with seen(settings, "worker"):
                asyncio.run(work(settings))
        case ["tenant", *words]:
            asyncio.run(keep_tenants(settings, words))
        case ["rekey"]:
            asyncio.run(rekey(settings))
        case _:
            raise SystemExit("say which: api, worker, tenant or rekey")
