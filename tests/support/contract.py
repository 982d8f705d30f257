"""Everything that the examples of the API speak of, made by the API itself, with the workers in this process."""

import json
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from pratique_attack_sim.jobs import AttackSim
from pratique_attack_sim.shard_child import score_in_child
from pratique_privacy.audit import AuditLog
from pratique_privacy.http import captures, datasets, releases, studies, webhooks
from pratique_privacy.http.app import create_app
from pratique_privacy.http.examples import MOMENT, OTHER, PLACES
from pratique_privacy.http.rates import Buckets, Rate, Rates
from pratique_privacy.http.services import Services
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.jobs import Privacy
from pratique_privacy.notices import archive as notice_archive
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.table_child import answer
from pratique_privacy.tables import Tables
from pratique_shared.contracts.captures import HOST_COLUMNS
from pratique_shared.contracts.facts import CaptureReady
from pratique_shared.contracts.messages import Message
from pratique_shared.runtime.artifacts import open_room
from pratique_shared.runtime.child_process import Body, Entry, Reply
from pratique_shared.runtime.children import Children
from pratique_shared.runtime.clock import Prefix, stamp
from tests.unit.privacy.http.world import PCAP, STORAGE_KEY, SilentBell, World, build_world

KEY = f"key_{MOMENT}.{'s' * 43}"
TENANT = "operator"
ROLES = ("UE", "UE", "UE", "gNB", "gNB", "AMF")


@dataclass
class _Call:
    body: Body
    given: tuple[bytes, ...]

    def blobs(self) -> Iterator[bytes]:
        yield from self.given

    def progress(self, body: Body) -> None:
        """Nobody listens."""


class Inline(Children):
    """Answers in this process: what would kill a child is an error here, and is seen."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    async def call(
        self, body: Body, blobs: AsyncIterable[bytes] | None = None, told: Callable[[Body], None] = lambda _: None
    ) -> Reply:
        given = tuple([blob async for blob in blobs]) if blobs is not None else ()
        reply = self._entry(_Call(json.loads(json.dumps(body)), given))
        return Reply(json.loads(json.dumps(reply.body)), reply.blobs)


def contract_world(folder: Path) -> World:
    """A world whose tables are read, and that works with a coordinator."""
    made = build_world(folder)
    terms = IcsTerms("http://ics.invalid", "http://pratique.invalid", TENANT)
    services = Services(
        made.archive,
        made.keys,
        made.bell,
        Tables(Inline(answer)),
        AuditLog(made.archive.releases_room),
        "0.1.0",
        ics=terms,
        rates=Rates(failures=Buckets("failures", Rate(0, 1))),  # keys that are not good are sent again and again
    )
    made.app = create_app(services)
    return made


async def furnished(folder: Path) -> World:
    """A contract world in which everything is there that the examples name; `KEY` is an admin's."""
    world = contract_world(folder)
    await world.keys.add_api_key(KEY, TENANT, "admin")
    await world.keys.add_api_key(f"{PLACES['key_id']}.{'t' * 43}", TENANT, "auditor", name="to be revoked")
    document = world.app.openapi()
    async with world.anonymous({"Authorization": f"Bearer {KEY}"}) as client:
        with _ids(MOMENT):
            await _fill(world, client, document)
        with _ids(OTHER):
            for path, sent in (("/captures", {"content": PCAP + b"x"}), *_tables(document), *_webhooks(document)):
                assert (await client.post(path, **sent)).is_success
            inline = _example(document, "/releases", "inline")
            assert (await client.post("/releases", json={**inline, "name": "to be withdrawn"})).status_code == 202
    return world


async def _fill(world: World, client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    policy = _example(document, "/policies/{name}", "prefix", "put")
    assert (await client.put("/policies/networks", json=policy)).status_code == 200
    assert (await client.post("/captures?name=night&pilot=lab", content=PCAP)).status_code == 202
    await _profiled(world, PLACES["capture_id"])
    for path, sent in (*_tables(document), *_webhooks(document)):
        assert (await client.post(path, **sent)).status_code == 201
    assert (await client.post("/releases", json=_example(document, "/releases", "inline"))).status_code == 202
    await worked(world)
    attacks = "/releases/{release_id}/attacks"
    for path, example in (
        ("/sweeps", "own_configuration"),
        ("/utility", "one_split"),
        ("/recommendations", "dataset"),
        ("/profiles/generalise", "capture"),
        (attacks, "sharper"),
    ):
        taken = await client.post(path.format_map(PLACES), json=_example(document, path, example))
        assert taken.status_code == 202, taken.text
    await worked(world)


def _example(document: dict[str, Any], path: str, name: str, method: str = "post") -> Any:  # noqa: ANN401 - JSON
    return document["paths"][path][method]["requestBody"]["content"]["application/json"]["examples"][name]["value"]


def _tables(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    media = "text/csv"
    table = document["paths"]["/datasets"]["post"]["requestBody"]["content"][media]["examples"]["table"]["value"]
    return [("/datasets", {"content": table.encode(), "headers": {"Content-Type": media}})]


def _webhooks(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [("/webhooks", {"json": _example(document, "/webhooks", "releases")})]


async def _profiled(world: World, capture: str) -> None:
    """Write what ingest writes of a capture with twelve hosts."""
    room, folder = world.archive.captures_room, f"blobs/{capture}"
    lines = [json.dumps(_host(number)) for number in range(12)]
    seen = {"imsi": [{"value": "999700000000001", "packets": 2, "hosts": ["10.0.0.1"]}], "suci": []}
    blobs = {
        "host_records": await room.put_bytes(f"{folder}/hosts", "".join(f"{line}\n" for line in lines).encode()),
        "session_records": await room.put_bytes(f"{folder}/sessions", b""),
        "identifiers": await room.put_bytes(f"{folder}/ids", json.dumps(seen).encode()),
    }
    ready = CaptureReady(
        packets=240,
        bytes=24000,
        complete=True,
        warnings=(),
        link_types=("ethernet",),
        started="2026-01-01T00:00:00.000000Z",
        ended="2026-01-01T00:04:00.000000Z",
        hosts=len(lines),
        sessions=0,
        at=stamp(),
        **blobs,
    )
    await world.archive.captures.commit(capture, "outcome", ready)


def _host(number: int) -> dict[str, Any]:
    role = ROLES[number % len(ROLES)]
    protocols = ["gtp-u", "ip"] if role == "UE" else ["ngap", "sctp"]
    host: dict[str, Any] = {name: [] if kind == "list" else None for name, kind in HOST_COLUMNS.items()}
    return host | {
        "ip": f"10.0.{number % 3}.{number + 1}",
        "role": role,
        "role_evidence": "protocols",
        "roles": [role],
        "protocols": protocols,
        "protocol_count": len(protocols),
        "protocol_packets": dict.fromkeys(protocols, 10 + number),
        "packets": 20 + 2 * number,
        "bytes": 2000 + number,
        "peer_count": 1 + number % 2,
        "first_seen": "2026-01-01T00:00:00.000000Z",
        "last_seen": "2026-01-01T00:04:00.000000Z",
        "pilot": "lab",
        "imsi": ["999700000000001"] if number == 0 else [],
    }


async def worked(world: World) -> None:
    """Do what was rung for, until nothing is owed."""
    assert isinstance(world.bell, SilentBell)
    tables, archive = Tables(Inline(answer)), world.archive
    privacy = Privacy(archive, world.keys, tables, tables, world.bell, Announcer(archive, lambda: None))
    scores = open_room(world.folder.as_uri(), "scores", STORAGE_KEY)
    attack = AttackSim(archive.matrices_room, scores, Inline(score_in_child), world.bell)
    while world.bell.rung:
        queue, task, identity = world.bell.rung.pop(0)
        message = Message(task=task, id=identity)
        if queue == "privacy" and task == "advance":
            await privacy.handle(message)
        elif queue == "attack":
            await attack.handle(message)


@contextmanager
def _ids(rest: str) -> Iterator[None]:
    """Let the next thing of each kind have the id of the examples."""
    used: set[str] = set()

    def named(prefix: Prefix) -> str:
        used.add(prefix)
        return f"{prefix}_{rest}"

    def delivered(endpoint: str, event: object, since: str) -> str:
        return f"dlv_{rest}"

    with ExitStack() as stack:
        for module in (captures, datasets, releases, studies, webhooks):
            stack.enter_context(patch.object(module, "new_id", named))
        stack.enter_context(patch.object(notice_archive, "delivery_id", delivered))
        yield
