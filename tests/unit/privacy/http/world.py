"""A small world for the API: a real store on disk, a doorbell that is only listened to, tables that answer at once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from pratique_privacy.advice import ColumnAdvice, Predicted, Suggestion
from pratique_privacy.advice.patches import appended
from pratique_privacy.archive import Archive
from pratique_privacy.audit import AuditLog
from pratique_privacy.certifying import certified
from pratique_privacy.http.app import create_app
from pratique_privacy.http.forwarding import Front
from pratique_privacy.http.rates import Rates
from pratique_privacy.http.services import Limits, Services
from pratique_privacy.identity.key_set import KeySet
from pratique_privacy.identity.terms import TokenTerms
from pratique_privacy.identity.tokens import Tokens
from pratique_privacy.keys import KeyRoom, Role
from pratique_privacy.table_child import OPERATIONS
from pratique_privacy.tables import Admitted, DatasetTable, SourceBytes, Tables
from pratique_privacy.verdict import plan_shards
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import ColumnKind
from pratique_shared.contracts.facts import (
    Blob,
    CaptureReady,
    Measured,
    Published,
    RecordsResolved,
    ReleaseRequested,
    SourceTable,
    Withheld,
)
from pratique_shared.contracts.gate import Check, GateResult, Verdict
from pratique_shared.contracts.media import Format, Upload
from pratique_shared.contracts.messages import Message, Queue
from pratique_shared.contracts.policy import IpPrefix, Policy
from pratique_shared.contracts.posture import AllColumns, Metrics, PpiParameters, RecordsSummary
from pratique_shared.contracts.problems import Problem
from pratique_shared.runtime.artifacts import Room, open_room
from pratique_shared.runtime.clock import stamp
from pratique_shared.runtime.queues import Doorbell, QueueSight
from pratique_shared.runtime.sealing import StorageKey
from tests.support.issuer import AUDIENCE, ISSUER, Issuer

STORAGE_KEY = StorageKey(b"s" * 32)
PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
ROWS = [{"ip": "192.0.2.7", "protocols": ["sctp"]}, {"ip": "192.0.2.9", "protocols": ["tcp"]}]
RELEASE: dict[str, Any] = {"source": {"records": ROWS}, "policy": "C4", "recipient": "hospital"}
COLUMNS: dict[str, ColumnKind] = {"ip": "text", "protocols": "list"}
RELEASED_ROWS = [{"ip": "192.0.2.0/24", "protocols": ["sctp"]}, {"ip": "192.0.2.0/24", "protocols": ["tcp"]}]
PREFIX = IpPrefix(column="ip", op="ip_prefix")
ADVICE = ColumnAdvice("ip", "quasi_identifier", "name:network-address", "Addresses are known elsewhere.", 2, PREFIX)
SUGGESTION = Suggestion("networks", "Networks join neighbours.", (appended(PREFIX),), Predicted(2, 1, 0.0, 1.0, 0))
RELEASED_CSV = b"ip,protocols\n192.0.2.0/24,sctp\n192.0.2.0/24,tcp\n"


class SilentBell(Doorbell):
    """Writes down what was rung. Redis is not there."""

    def __init__(self) -> None:
        self.rung: list[tuple[Queue, str, str]] = []
        self.told: dict[str, dict[str, Any]] = {}
        self.away = False
        self.workers: set[Queue] = {"ingest", "privacy", "attack"}

    async def ring(self, queue: Queue, message: Message) -> None:
        self.rung.append((queue, message.task, message.id))

    async def ring_all(self, queue: Queue, messages: Sequence[Message]) -> None:
        for message in messages:
            await self.ring(queue, message)

    async def answer(self, message: Message, work: Callable[[], Awaitable[None]]) -> None:
        await work()

    async def tell_progress(self, entity: str, progress: dict[str, Any]) -> None:
        self.told[entity] = progress

    async def progress(self, entity: str) -> dict[str, Any]:
        return self.told.get(entity, {})

    async def alive(self) -> bool:
        return True

    async def present(self, queue: Queue) -> bool:
        return queue in self.workers

    async def sight(self, queue: Queue) -> QueueSight | None:
        return None if self.away else QueueSight(0, 0.0, 0, int(queue in self.workers))


class ReadyTables(Tables):
    """Answers every call at once, and keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.rows: list[dict[str, Any]] = [{"n": n} for n in range(5)]

    async def admit(
        self,
        source: SourceBytes | None,
        columns: dict[str, ColumnKind] | None,
        *,
        policy: Policy,
        attributes: Attributes | None,
        built_in: str | None,
        pilot: str | None,
    ) -> Admitted:
        given = {"policy": policy, "attributes": attributes, "built_in": built_in, "pilot": pilot}
        self.calls.append(("admit", {"source": source, "columns": columns, **given}))
        return Admitted(attributes or Attributes(), columns or COLUMNS)

    async def dataset(self, media: Upload, data: bytes) -> DatasetTable:
        self.calls.append(("dataset", {"media": media}))
        return DatasetTable(b"PAR1" + data, 2, {"a": "integer", "b": "text"})

    async def page(self, source: SourceBytes, offset: int, limit: int) -> list[dict[str, Any]]:
        self.calls.append(("page", {"source": source}))
        return self.rows[offset : offset + limit]

    async def export(self, source: SourceBytes, form: Format) -> bytes:
        return f"{form} of {len(source.data)}".encode()

    async def generalise(self, question: dict[str, Any]) -> bytes:
        return OPERATIONS["generalise"]({"question": question}, []).blobs[0]

    async def risk(self, measured: Measured, table: bytes, by: Sequence[str], k_target: int) -> dict[str, Any]:
        bars = [{"size": 2, "classes": 1, "rows": 2}]
        found: dict[str, Any] = {
            "class": {"histogram": bars, "share_below_k": 1.0, "k_target": k_target},
            "subset": [{"columns": ["ip"], "distinct": 1, "exposure": 0.5}],
            "attribute": [{"column": "ip", "distinct": 1}, {"column": "protocols", "distinct": 2}],
            "record": [{"size": 2, "values": {"ip": "192.0.2.0/24"}}],
        }
        return {aspect: found[aspect] for aspect in by}

    async def preview(
        self,
        sources: Sequence[SourceBytes],
        *,
        policy: Policy,
        attributes: Attributes | None,
        built_in: str | None,
        ppi: PpiParameters,
        pilot: str | None,
        tenant_key: bytes,
        rows: int,
        suggest: bool,
    ) -> dict[str, Any]:
        given = {"sources": sources, "built_in": built_in, "pilot": pilot, "rows": rows, "suggest": suggest}
        self.calls.append(("preview", given))
        return {
            "before": {"metrics": figures(k=1).model_dump(mode="json"), "rows": ROWS},
            "after": {"metrics": figures(k=2).model_dump(mode="json"), "rows": RELEASED_ROWS},
            "kept": [0, 1],
            "class_sizes": [2, 2],
            "records": RecordsSummary(rows_in=2, rows_out=2, survival=1.0).model_dump(mode="json"),
            "all_columns": AllColumns(classes=2, uniques=2).model_dump(mode="json"),
            "flags": ["few_classes"],
            "findings": [],
            "attributes": (attributes or Attributes()).model_dump(mode="json"),
            "suggestions": [SUGGESTION.document()],
        }

    async def classify(self, sources: Sequence[SourceBytes]) -> list[dict[str, Any]]:
        return [ADVICE.document()]

    async def release_preview(
        self, measured: Measured, table: bytes, sources: Sequence[SourceBytes], rows: int
    ) -> list[dict[str, Any]]:
        return [{"before": {"n": 1}, "after": {"n": 0}, "class_size": 1, "changed": ["n"]}][:rows]

    async def suggestions(
        self, requested: ReleaseRequested, measured: Measured, table: bytes, sources: Sequence[SourceBytes], key: bytes
    ) -> list[dict[str, Any]]:
        return [SUGGESTION.document()]


@dataclass
class World:
    """The app, its parts, and a client for each role."""

    app: FastAPI
    archive: Archive
    keys: KeyRoom
    bell: SilentBell
    tables: ReadyTables
    folder: Path
    released_lines: bytes = b"{}\n"
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    @property
    def audit(self) -> AuditLog:
        """The log of the app."""
        services: Services = self.app.state.services
        return services.audit

    async def client(
        self, role: Role = "operator", tenant: str = "acme", recipient: str | None = None
    ) -> httpx.AsyncClient:
        """A client that holds a fresh key."""
        _, key = await self.keys.new_api_key(tenant, role, recipient=recipient)
        return self.anonymous({"Authorization": f"Bearer {key}"})

    def anonymous(self, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
        """A client without a key."""
        # The transport must not raise what the app let through: a defect has to come back as an answer.
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://pratique", headers=headers)
        self.clients.append(client)
        return client

    async def requested(self, release_id: str) -> ReleaseRequested:
        """What was asked of a release, as it was written down."""
        facts = await self.archive.any_release(release_id)
        assert facts is not None
        return facts.requested

    async def ready_capture(self, capture_id: str, hosts: int = 5, plan_sha256: str | None = None) -> None:
        """Write what ingest writes of a capture."""
        room, folder = self.archive.captures_room, f"blobs/{capture_id}"
        blobs = {
            "host_records": await room.put_bytes(f"{folder}/hosts", b'{"ip":"192.0.2.7"}\n' * hosts),
            "session_records": await room.put_bytes(f"{folder}/sessions", b""),
            "identifiers": await room.put_bytes(f"{folder}/ids", b'{"imsi":[{"value":"1","packets":2,"hosts":[]}]}'),
        }
        ready = CaptureReady(
            packets=9,
            bytes=900,
            complete=True,
            warnings=(),
            link_types=("ethernet",),
            started=None,
            ended=None,
            hosts=hosts,
            sessions=0,
            plan_sha256=plan_sha256,
            at=stamp(),
            **blobs,
        )
        await self.archive.captures.commit(capture_id, "outcome", ready)

    async def measured(self, release_id: str, survival_by_label: Mapping[str, float] | None = None) -> None:
        """Write what the worker writes of a release up to its figures."""
        room, codes = self.archive.releases_room, self.archive.matrices_room
        facts = await self.archive.any_release(release_id)
        assert facts is not None
        assert facts.requested.inline is not None
        table = SourceTable(origin="inline", pilot=None, blob=facts.requested.inline)
        await self.archive.releases.commit(release_id, "records", RecordsResolved(tables=(table,), at=stamp()))
        fact = Measured(
            read=(table.blob.sha256,),
            attributes=Attributes(quasi_identifiers=("ip",), sensitive=("protocols",)),
            unit="row",
            records=RecordsSummary(
                rows_in=2, rows_out=2, survival=1.0, survival_by_label=dict(survival_by_label or {})
            ),
            before=figures(k=1),
            after=figures(k=2),
            all_columns=AllColumns(classes=1, uniques=0),
            flags=("few_classes",),
            findings=(),
            table=await room.put_bytes(f"blobs/{release_id}/table", b"the table"),
            plan=plan_shards(None, await codes.put_bytes(f"blobs/{release_id}/codes", bytes(8)), 2, 1),
            versions={},
            at=stamp(),
        )
        await self.archive.releases.commit(release_id, "measured", fact)

    async def concluded(
        self, release_id: str, verdict: Verdict = "pass", survival_by_label: Mapping[str, float] | None = None
    ) -> None:
        """Write the outcome of a release: its files after a pass, none otherwise."""
        await self.measured(release_id, survival_by_label)
        gate = GateResult(verdict=verdict, checks=(Check(metric="k", op=">=", bound=2, value=2, status=verdict),))
        common: dict[str, Any] = {
            "read": (),
            "verdict": verdict,
            "gate": gate,
            "attacks": None,
            "prior_releases": (),
            "policy_sha256": "0" * 64,
            "at": stamp(),
        }
        if verdict == "pass":
            files = await self._files(self.archive.releases_room, release_id)
            types = {"ip": "text", "protocols": "list"}
            published = Published(**common, files=files, schema_types=types)
            await self.archive.conclude(release_id, await self._certified(release_id, published))
        else:
            await self.archive.conclude(release_id, Withheld(**common))

    async def _certified(self, release_id: str, published: Published) -> Published:
        facts = await self.archive.any_release(release_id)
        assert facts is not None
        proof = await certified(self.archive, self.keys, replace(facts, outcome=published))
        room, folder = self.archive.releases_room, f"blobs/{release_id}"
        certificate = await room.put_bytes(f"{folder}/certificate", proof.certificate)
        disclosures = await room.put_bytes(f"{folder}/disclosures", proof.disclosures)
        return published.model_copy(update={"certificate": certificate, "disclosures": disclosures})

    async def _files(self, room: Room, release_id: str) -> dict[str, Blob]:
        contents = {
            "parquet": b"PAR1 released PAR1",
            "arrow": b"ARROW",
            "csv": RELEASED_CSV,
            "ndjson": self.released_lines,
        }
        return {form: await room.put_bytes(f"blobs/{release_id}/file-{form}", data) for form, data in contents.items()}


def figures(k: int) -> Metrics:
    """Metrics of two rows with this k; the other figures say nothing."""
    empty: dict[str, Any] = dict.fromkeys(
        name for name in Metrics.model_fields if name not in ("rows", "classes", "k", "by_sensitive")
    )
    return Metrics(rows=2, classes=2 // k, k=k, **empty)


def build_world(
    folder: Path,
    limits: Limits | None = None,
    *,
    issuer: Issuer | None = None,
    rates: Rates | None = None,
    front: Front | None = None,
) -> World:
    """A world below this folder, with an identity provider where one is given."""
    key, url = STORAGE_KEY, folder.as_uri()
    archive = Archive(
        open_room(url, "captures", key),
        open_room(url, "releases", key),
        open_room(url, "matrices", key),
        open_room(url, "scores", key),
    )
    keys, bell, tables = KeyRoom(open_room(url, "keys", key), b"m" * 32), SilentBell(), ReadyTables()
    audit = AuditLog(archive.releases_room)
    tokens = None if issuer is None else Tokens(TokenTerms(ISSUER, (AUDIENCE,)), KeySet(issuer.fetch), keys)
    services = Services(
        archive,
        keys,
        bell,
        tables,
        audit,
        "0.1.0",
        limits or Limits(),
        tokens=tokens,
        rates=rates or Rates(),
        front=front or Front(),
    )
    app = create_app(services)
    return World(app, archive, keys, bell, tables, folder)


def check_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The body of a refusal, which is a problem document with this status and code."""
    body: dict[str, Any] = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert body["request_id"] == answer.headers["x-request-id"]
    assert {"type", "title", "detail"} <= body.keys()
    return body


def refuse_entries(world: World, monkeypatch: pytest.MonkeyPatch, problem: Problem) -> None:
    """Let no entry be written from now on."""
    room, create = world.archive.releases_room, world.archive.releases_room.create

    async def refusing(key: str, data: bytes) -> bool:
        if key.startswith("audit/"):
            raise problem
        return await create(key, data)

    monkeypatch.setattr(room, "create", refusing)
