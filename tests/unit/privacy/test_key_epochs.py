"""A tenant's pseudonymisation keys change by epoch; what was asked for before, and what was signed, stays as it was."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.key_marks import key_mark
from pratique_privacy.keys import KeyRoom
from pratique_privacy.shipped.verify import open_certificate, read_keys
from pratique_shared.contracts.facts import FIRST_EPOCH
from pratique_shared.contracts.problems import Unavailable
from pratique_shared.runtime.artifacts import open_room
from tests.support.contract import contract_world, worked
from tests.unit.privacy.http.world import STORAGE_KEY, World

pytestmark = pytest.mark.asyncio(loop_scope="module")
MASTER = b"m" * 32
ROWS = [{"imsi": f"9997000000000{number:02d}", "cell": "a", "load": "low"} for number in range(6)]
ASKED: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"identifiers": ["imsi"], "quasi_identifiers": ["cell"], "sensitive": ["load"]},
    "policy": {"steps": [{"column": "imsi", "op": "hmac", "scope": "deterministic"}]},
    "attacks": {"partial_qi": {"forget": 0.5}, "linkage": None, "repetitions": 2, "seed": 1},
    "gate": {"k": {"min": 2}},
    "recipient": "hospital",
}


@dataclass
class Rotated:
    """One request three times: worked before a rotation, asked for before and worked after, asked for after."""

    world: World
    client: httpx.AsyncClient
    before: str
    across: str
    after: str

    async def facts(self, release: str) -> ReleaseFacts:
        found = await self.world.archive.any_release(release)
        assert found is not None
        return found

    async def pseudonyms(self, release: str) -> set[str]:
        answer = await self.client.get(f"/releases/{release}/records", params={"format": "ndjson"})
        assert answer.status_code == 200, answer.text
        return {json.loads(line)["imsi"] for line in answer.text.splitlines()}

    async def told(self, release: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the posture and the verified certificate say of the one pseudonymised column."""
        posture = (await self.client.get(f"/releases/{release}/posture")).json()
        certificate = (await self.client.get(f"/releases/{release}/certificate")).content
        keys = read_keys((await self.client.get("/keys/jwks.json")).content)
        (said,) = open_certificate(certificate, keys).predicate["pseudonymisation"]
        return posture["pseudonymisation"][0], said


async def ask(client: httpx.AsyncClient) -> str:
    answer = await client.post("/releases", json=ASKED)
    assert answer.status_code == 202, answer.text
    identity: str = answer.json()["id"]
    return identity


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rotated(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rotated]:
    world = contract_world(tmp_path_factory.mktemp("epochs"))
    client = await world.client("admin")
    before = await ask(client)
    await worked(world)
    across = await ask(client)
    rung, world.bell.rung = world.bell.rung, []
    assert (await client.post("/tenant-keys")).status_code == 201
    world.bell.rung = rung
    await worked(world)
    after = await ask(client)
    await worked(world)
    yield Rotated(world, client, before, across, after)
    await client.aclose()


async def test_a_release_keeps_the_epoch_that_it_was_asked_for_under_and_comes_out_the_same(rotated: Rotated) -> None:
    before, across, after = [(await rotated.facts(one)) for one in (rotated.before, rotated.across, rotated.after)]
    for one in (before, across, after):
        assert one.measured is not None
        assert one.requested.key is not None
    assert [one.requested.key.epoch for one in (before, across, after) if one.requested.key] == [1, 1, 2]
    matrices = [one.measured.plan.matrix.sha256 for one in (before, across, after) if one.measured]
    tables = [one.measured.table.sha256 for one in (before, across, after) if one.measured]
    assert tables[0] == tables[1] != tables[2]
    assert matrices[0] == matrices[1]
    assert before.requested.digest == across.requested.digest != after.requested.digest


async def test_pseudonyms_of_two_epochs_share_nothing(rotated: Rotated) -> None:
    before, across, after = [await rotated.pseudonyms(r) for r in (rotated.before, rotated.across, rotated.after)]
    assert len(before) == len(after) == len(ROWS)
    assert before == across
    assert not before & after


async def test_posture_and_certificate_say_whether_two_releases_can_be_joined(rotated: Rotated) -> None:
    first, across, last = [await rotated.told(one) for one in (rotated.before, rotated.across, rotated.after)]
    for posture, certificate in (first, across, last):
        assert posture == certificate
    assert first == across
    assert (first[0]["key_epoch"], last[0]["key_epoch"]) == (1, 2)
    assert first[0]["key_fingerprint"] != last[0]["key_fingerprint"]


async def test_a_join_across_epochs_meets_the_source_and_no_pseudonym(rotated: Rotated) -> None:
    posture = (await rotated.client.get(f"/releases/{rotated.after}/posture")).json()
    meetings = {each["release"]: each for each in posture["composition"]["releases"]}
    assert meetings[rotated.before]["linked"] == 0
    assert meetings[rotated.before]["shared"] == len(ROWS)


async def test_the_list_shows_every_epoch_and_no_key(rotated: Rotated) -> None:
    answer = await rotated.client.get("/tenant-keys")
    newest, first = answer.json()["data"]
    assert (newest["epoch"], newest["current"], first["epoch"], first["current"]) == (2, True, 1, False)
    for shown in (newest, first):
        key = await rotated.world.keys.tenant_keys.of("acme", shown["epoch"])
        assert shown["fingerprint"] == key_mark(key.secret, shown["epoch"]).fingerprint
        assert shown["created_at"] is not None
        for text in (key.secret.hex(), base64.b64encode(key.secret).decode()):
            assert text not in answer.text
    assert (await rotated.client.get("/tenant-keys", params={"limit": 1})).json()["next"] == "1"
    page = await rotated.client.get("/tenant-keys", params={"limit": 1, "after": "1"})
    assert [key["epoch"] for key in page.json()["data"]] == [1]


async def test_a_key_of_before_epochs_is_the_first_and_one_that_is_missing_is_not_made_anew(tmp_path: Path) -> None:
    room = open_room(tmp_path.as_uri(), "keys", STORAGE_KEY)
    keys = KeyRoom(room, MASTER)
    name, old = "tenants/acme/1", b"o" * 32
    await room.create(name, keys._master.wrap(old, name))
    assert (await keys.tenant_keys.of("acme", FIRST_EPOCH)).secret == old
    assert [key.created_at for key in await keys.tenant_keys.every("acme")] == [None]
    with pytest.raises(Unavailable):
        await keys.tenant_keys.of("acme", 2)
    assert (await keys.tenant_keys.current("acme")).secret == old
    assert old not in repr(await keys.tenant_keys.current("acme")).encode()


async def test_ten_epochs_are_ordered_by_number_and_two_rotations_at_once_agree(tmp_path: Path) -> None:
    keys = KeyRoom(open_room(tmp_path.as_uri(), "keys", STORAGE_KEY), MASTER)
    for _ in range(9):
        await keys.tenant_keys.add("acme")
    assert (await keys.tenant_keys.current("acme")).mark.epoch == 10
    one, two = await asyncio.gather(keys.tenant_keys.add("acme"), keys.tenant_keys.add("acme"))
    newest = (await keys.tenant_keys.current("acme")).mark
    assert max(one.epoch, two.epoch) == newest.epoch
    assert len({key.fingerprint for key in await keys.tenant_keys.every("acme")}) == newest.epoch
