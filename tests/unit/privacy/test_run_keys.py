"""Keys of a run live in one task: neither they nor what is derived of them is in the store, the queue or the log."""

import base64
import hmac
import json
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pratique_attack_sim.jobs import AttackSim
from pratique_attack_sim.shard_child import score_in_child
from pratique_privacy import table_child
from pratique_privacy.flow import due
from pratique_privacy.jobs import Privacy
from pratique_privacy.notices.announcer import Announcer
from pratique_privacy.policy.keys import Keys
from pratique_privacy.table_child import answer
from pratique_privacy.tables import Tables
from pratique_shared.contracts.facts import KEY_SUFFIX, Blob, Published
from pratique_shared.contracts.messages import Message
from pratique_shared.contracts.policy import Scope
from pratique_shared.runtime.artifacts import RoomName, open_room
from pratique_shared.runtime.queues import Doorbell, connect
from tests.support.contract import Inline, contract_world
from tests.support.valkey import valkey
from tests.unit.privacy.http.world import STORAGE_KEY, World

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOMS: tuple[RoomName, ...] = ("captures", "releases", "matrices", "scores", "keys")
COLUMNS = {"imsi": "hmac", "ip": "ipv4_shaped", "address": "crypto_pan"}
ROWS = [
    {
        "imsi": f"9997000000000{number:02d}",
        "ip": f"10.0.0.{number}",
        "address": f"10.1.0.{number}",
        "name": f"n{number}",
        "cell": "a",
        "s": "x",
    }
    for number in range(6)
]
ASKED: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"identifiers": [*COLUMNS, "name"], "quasi_identifiers": ["cell"], "sensitive": ["s"]},
    "policy": {
        "steps": [
            *({"column": column, "op": op, "scope": "per_run"} for column, op in COLUMNS.items()),
            {"column": "name", "op": "salted_hash"},
        ]
    },
    "attacks": {"partial_qi": {"forget": 0.5}, "linkage": None, "repetitions": 2, "seed": 1},
    "gate": {"k": {"min": 2}},
}


class Watched(Keys):
    """Keys that tell what they are and what is derived of them for the run."""

    seen: set[bytes] = set()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seen.add(self.run)

    def derive(self, scope: Scope, pilot: str | None, domain: str, form: str = "hmac") -> bytes:
        key = super().derive(scope, pilot, domain, form)
        if scope == "per_run":
            self.seen.add(key)
        return key


class Entropy:
    """`secrets` of the table child, whose draws are written down: run secrets and salts."""

    def __init__(self, seen: set[bytes]) -> None:
        self._seen = seen

    def token_bytes(self, count: int) -> bytes:
        drawn = hmac.digest(b"entropy of a test", str(len(self._seen)).encode(), "sha256")[:count].ljust(count, b"\7")
        self._seen.add(drawn)
        return drawn


@dataclass
class Run:
    """A release that was made, what was secret in it, and everything that it left behind."""

    world: World
    release: str
    secrets: frozenset[bytes]
    server: Path
    bell: Doorbell
    log: str

    async def left(self) -> dict[str, bytes]:
        """Every sink by its name, blobs opened too."""
        found = {
            str(path): path.read_bytes()
            for folder in (self.world.folder, self.server)
            for path in folder.rglob("*")
            if path.is_file()
        }
        for name in ROOMS:
            room = open_room(self.world.folder.as_uri(), name, STORAGE_KEY)
            for key in await room.names("blobs"):
                if not key.endswith(KEY_SUFFIX):
                    found[f"{name} {key}"] = b"".join([p async for p in room.blob(Blob(key=key, sha256="", bytes=0))])
        redis = self.bell._redis
        for key in await redis.keys("*"):
            found[f"redis {key!r}"] = key + (await redis.dump(key) or b"")
        return {**found, "log": self.log.encode()}


def forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it could have been written."""
    texts = (secret.hex(), secret.hex().upper(), str(int.from_bytes(secret, "big")), repr(secret)[2:-1])
    yield secret
    for text in texts:
        yield text.encode()
        yield text.encode("utf-16-le")
    for offset in range(3):  # base64 of something that the secret is a part of
        padded = base64.b64encode(bytes(offset) + secret)
        yield padded[4 if offset else 0 : -4]
        yield base64.urlsafe_b64encode(bytes(offset) + secret)[4 if offset else 0 : -4]


def hits(secrets: frozenset[bytes], sinks: dict[str, bytes]) -> list[str]:
    """Where a secret stands in one of its forms."""
    wanted = [form for secret in secrets for form in forms(secret)]
    return [name for name, data in sinks.items() if any(form in data for form in wanted)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Run]:
    server = tmp_path_factory.mktemp("valkey")
    world = contract_world(tmp_path_factory.mktemp("run"))
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(f"{record.getMessage()} {record.__dict__}")  # type: ignore[method-assign]
    logger, level = logging.getLogger(), logging.getLogger().level
    with valkey(server) as url, pytest.MonkeyPatch.context() as patch:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        Watched.seen.clear()
        patch.setattr(table_child, "Keys", Watched)
        patch.setattr(table_child, "secrets", Entropy(Watched.seen))
        bell = await connect(url)
        client = await world.client("admin")
        release = (await client.post("/releases", json=ASKED)).json()["id"]
        await work(world, bell, release)
        yield Run(world, release, frozenset(Watched.seen), server, bell, "\n".join(lines))
        logger.removeHandler(handler)
        logger.setLevel(level)
        await client.aclose()
        await bell.close()


async def work(world: World, bell: Doorbell, release: str) -> None:
    """Do what is owed of a release, with a real queue server at hand."""
    tables, archive = Tables(Inline(answer)), world.archive
    privacy = Privacy(archive, world.keys, tables, tables, bell, Announcer(archive, lambda: None))
    scores = open_room(world.folder.as_uri(), "scores", STORAGE_KEY)
    attack = AttackSim(archive.matrices_room, scores, Inline(score_in_child), bell)
    for _ in range(20):
        facts = await archive.any_release(release)
        assert facts is not None
        owed = due(facts)
        if not owed:
            return
        if owed[0].queue == "attack" and await archive.matrices.names(release):
            await attack.handle(Message(task=owed[0].task, id=release))
        else:
            await privacy.handle(Message(task="advance", id=release))
    raise AssertionError("the release did not come to its end")


async def test_no_key_of_a_run_is_left_anywhere(run: Run) -> None:
    facts = await run.world.archive.any_release(run.release)
    assert facts is not None
    assert isinstance(facts.outcome, Published)
    assert len(run.secrets) >= 1 + len(COLUMNS) + 1  # the run's own, one for each column, a salt
    sinks = await run.left()
    assert {"log"} < sinks.keys()
    assert any(name.startswith("redis ") for name in sinks)
    assert sum(name.startswith("releases blobs/") for name in sinks) >= 6
    assert hits(run.secrets, sinks) == []


async def test_the_keys_that_were_looked_for_are_those_that_made_the_released_pseudonyms(run: Run) -> None:
    client = await run.world.client("admin")
    answer = await client.get(f"/releases/{run.release}/records", params={"format": "ndjson"})
    released = {json.loads(line)["imsi"] for line in answer.text.splitlines()}
    await client.aclose()
    for row in ROWS:
        made = {hmac.new(key, row["imsi"].encode(), "sha256").hexdigest()[: len(min(released))] for key in run.secrets}
        assert made & released, "none of the keys makes this pseudonym"


async def test_the_search_finds_a_key_in_every_kind_of_sink_and_every_form(run: Run) -> None:
    secret = max(run.secrets, key=len)
    for number, form in enumerate(forms(secret)):
        planted = b"before" + form + b"after"
        assert hits(run.secrets, {"sink": planted}) == ["sink"], number
    around = base64.b64encode(b"x" + secret + b"yz")
    assert hits(run.secrets, {"sink": around}) == ["sink"]
    await run.bell._redis.set("planted", secret.hex())
    blob = await run.world.archive.releases_room.put_bytes("blobs/rel_planted/x", b"a" + secret)
    await run.world.archive.releases_room.create("facts/rel_planted/x", json.dumps(secret.hex()).encode())
    found = hits(run.secrets, await run.left())
    await run.world.archive.releases_room.shred(blob)
    await run.world.archive.releases_room.delete("facts/rel_planted/x")
    await run.bell._redis.delete("planted")
    assert {"redis b'planted'", "releases blobs/rel_planted/x"} < set(found)
    assert sum("facts/rel_planted/x" in name for name in found) == 1
