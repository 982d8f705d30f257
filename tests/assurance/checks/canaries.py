"""Canaries: known identifiers and keys, pushed through everything, stand in no sink, in no spelling.

No sinks are the answers that show raw records to operators on purpose (records and identifiers of a capture, the
preview), the one answer in which a key or secret is shown, the files in which an installation keeps its secrets, and
the environment that a process is started with. The key of a single run lives in one child and cannot be had from
outside, so that it cannot be looked for.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import numpy as np
import polars as pl
import redis

from tests.assurance.canary import Flock
from tests.assurance.figures import Figure, Profile, none, some
from tests.assurance.pushed import Pushed, push
from tests.assurance.queue_server import Ear, listening, server_of
from tests.assurance.rehearsal import FORMATS
from tests.integration.test_notices import TOKEN, Sink, sink
from tests.support.collector import Collector, collector
from tests.support.fake_ics import coordinator
from tests.support.house import House, free_port, free_ports, house

KINDS = (
    *("imsi", "suci", "guti", "msisdn", "imei", "address", "value", "API key", "webhook secret", "token"),
    *("queue password", "master key", "storage key", "tenant key", "data key"),
)
SECRET_FILES = ("secrets.json", "admin.key", "valkey.conf")  # what they are for
Contents = list[bytes]


def canaries(_: Profile, folder: Path) -> Iterator[Figure]:
    """Push canaries through a whole house, then look for them wherever something comes out or stays."""
    port, sinks = free_port(), dict[str, Contents]()
    with collector() as spans, sink() as there, coordinator(TOKEN) as (_ics, ics):
        there.open = True
        here = f"http://127.0.0.1:{there.server_port}"
        settings = {
            "PRATIQUE_LOG_LEVEL": "DEBUG",
            "PRATIQUE_METRICS_PORT": str(free_ports(4)),
            "OTEL_EXPORTER_OTLP_ENDPOINT": spans.url,
            "OTEL_BSP_SCHEDULE_DELAY": "500",
            "PRATIQUE_WEBHOOK_ALLOW": "127.0.0.0/8",
            "PRATIQUE_ICS_ALLOW": "127.0.0.0/8",
            "PRATIQUE_ICS_URL": ics,
            "PRATIQUE_ICS_TOKEN": TOKEN,
            "PRATIQUE_ICS_CALLBACK_URL": f"http://127.0.0.1:{port}",
        }
        with (
            house(folder / "house", port=port, **settings) as running,
            running.http() as http,
            listening(running) as ear,
        ):
            job = {"info_type_id": "privacy_posture_1.0.0", "job_owner": "w", "job_definition": {}}
            job["job_result_uri"] = f"{here}/postures"
            httpx.put(f"{ics}/data-consumer/v1/info-jobs/one", json=job, timeout=60, trust_env=False)
            pushed = Pushed(running, http)
            pushed.flock.add("token", [TOKEN])
            push(pushed, folder, f"{here}/hook")
            sinks |= _answers(pushed) | _outside(running, spans, there, ear)
            running.stop()
        sinks |= _files(running, folder)
    yield some("canaries", len(pushed.flock.values), 100)
    yield some("kinds of them", len({kind for kind, _ in pushed.flock.values}), len(KINDS))
    yield some("workers killed with their children", pushed.killed, 3)
    yield some("releases and studies", len(pushed.releases) + len(pushed.studies), 9)
    chance = np.random.default_rng(11)
    for name, contents in sinks.items():
        yield from _scanned(name, contents, pushed.flock, chance)


def _scanned(name: str, contents: Contents, flock: Flock, chance: np.random.Generator) -> Iterator[Figure]:
    whole = b"\n".join(contents)
    seen = flock.seen(whole)
    for each in flock.named(seen):
        print(f"canaries: {name} holds {each}")
    planted, found = flock.control(whole[: 1 << 22], chance)
    yield some(f"{name}: bytes scanned", len(whole))
    yield none(f"{name}: canaries found", len(seen))
    yield some(f"{name}: of {planted:,} planted in a copy, found", found, planted)


def _answers(pushed: Pushed) -> dict[str, Contents]:
    """Collect what recipients and auditors are given, evidence and released files, and what was refused."""
    evidence: Contents = []
    files: Contents = []
    shown: Contents = []
    with pushed.house.http(pushed.keys["recipient"]) as recipient, pushed.house.http(pushed.keys["auditor"]) as auditor:
        for release in pushed.releases:
            at = f"/releases/{release}"
            evidence += [recipient.get(f"{at}/{part}").content for part in ("certificate", "report", "posture", "gate")]
            evidence += _members(recipient.get(f"{at}/bundle").content) + _members(auditor.get(f"{at}/bundle").content)
            shown += [
                auditor.get(f"{at}{rest}").content for rest in ("", "/posture", "/risk", "/report", "/certificate")
            ]
            for form in FORMATS:
                answer = recipient.get(f"{at}/records?format={form}")
                if answer.status_code == 200:
                    files += [answer.content, _cells(form, answer.content)]
        lists = (
            "/releases",
            "/sweeps",
            "/utility",
            "/recommendations",
            "/policies",
            "/signing-keys",
            "/tenant-keys",
            "/me",
            "/keys/jwks.json",
        )
        shown += [each.get(path).content for path in (*lists, *pushed.studies) for each in (recipient, auditor)]
        shown += [
            auditor.get("/audit/check").content,
            pushed.http.get("/webhooks").content,
            pushed.http.get("/api-keys").content,
        ]
        audit = [pushed.http.get("/audit", params={"limit": 1000}).content]
    return {
        "refusals": pushed.errors,
        "evidence": evidence,
        "released files and their cells": files,
        "answers to recipients and auditors": shown,
        "audit": audit,
        "command lines": sorted(pushed.command_lines),
    }


def _members(bundle: bytes) -> Contents:
    if not bundle.startswith(b"PK"):
        return [bundle]
    with zipfile.ZipFile(io.BytesIO(bundle)) as box:
        return [name.encode() + b"\n" + box.read(name) for name in box.namelist()]


def _cells(form: str, content: bytes) -> bytes:
    """Return the cells of a file as text: compressed bytes show nothing."""
    match form:
        case "parquet":
            table = pl.read_parquet(io.BytesIO(content))
        case "arrow":
            table = pl.read_ipc_stream(io.BytesIO(content))
        case "csv":
            table = pl.read_csv(content)
        case _:
            return content
    return "\n".join(str(cell) for row in table.rows() for cell in row).encode()


def _outside(running: House, spans: Collector, there: Sink, ear: Ear) -> dict[str, Contents]:
    """Collect what leaves a house on its own: meters, traces, notices, and what the queue server is told."""
    server = server_of(running)
    kept: Contents = []
    for key in cast("Iterator[bytes]", server.scan_iter()):
        kept.append(key + b" " + _value(server, key))
    places = [f"http://127.0.0.1:{running.meters + place}/metrics" for place in range(4)]
    return {
        "meters": [httpx.get(place, trust_env=False, timeout=60).content for place in places],
        "traces": list(spans.raw),
        "notices": [f"{path} {json.dumps(headers)}\n".encode() + body for path, headers, body in there.taken],
        "what the queue server was told": [command.encode() for command in ear.commands],
        "keys of the queue server": kept,
    }


def _value(server: "redis.Redis", key: bytes) -> bytes:
    match server.type(key):
        case b"string":
            return cast("bytes | None", server.get(key)) or b""
        case b"zset":
            return b" ".join(cast("list[bytes]", server.zrange(key, 0, -1)))
        case other:
            raise AssertionError(f"a key of a type that is not looked into: {other!r}")


def _files(running: House, folder: Path) -> dict[str, Contents]:
    """Collect what lies on the disk: the log, the store, the queue server's files, and what a crash would leave."""
    files = [path for path in running.data.rglob("*") if path.is_file() and path.name not in SECRET_FILES]
    store = [path for path in files if path.is_relative_to(running.data / "store")]
    queue = [path for path in files if path.is_relative_to(running.data / "valkey")]
    rest = set(files) - set(store) - set(queue)
    rest |= {path for place in (folder, Path.cwd()) for path in place.glob("*core*") if path.is_file()}
    return {
        "log": [path.read_bytes() for path in rest if path.name == "test.log"],
        "facts and other small files of the store": [path.read_bytes() for path in store if "blobs" not in path.parts],
        "sealed blobs and their keys": [path.read_bytes() for path in store if "blobs" in path.parts],
        "files of the queue server": [path.read_bytes() for path in queue],
        "other files, cores among them": [
            path.name.encode() + path.read_bytes() for path in rest if path.name != "test.log"
        ],
    }
