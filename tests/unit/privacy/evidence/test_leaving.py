"""What leaves is what was signed for: facts that somebody else wrote into the store open nothing."""

import base64
import json

import httpx
import pytest

from pratique_privacy.evidence.envelope import Signer, sealed
from pratique_privacy.flow import ReleaseFacts
from pratique_privacy.signing import PublicHalf
from pratique_shared.contracts.facts import Published
from pratique_shared.contracts.gate import Verdict
from pratique_shared.contracts.model import Contract
from pratique_shared.runtime.checked import checked
from tests.unit.privacy.http.world import RELEASE, World, check_problem

WAYS = ("records?format=csv", "records?format=json", "records?format=parquet", "certificate", "bundle")


async def facts_of(world: World, client: httpx.AsyncClient, verdict: Verdict = "pass") -> ReleaseFacts:
    identity: str = (await client.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(identity, verdict)
    facts = await world.archive.any_release(identity)
    assert facts is not None
    return facts


def forge(world: World, facts: ReleaseFacts, name: str, fact: Contract) -> None:
    """Write a fact as whoever reaches the disk or the bucket can: its digest needs no key."""
    path = world.folder / "releases" / "facts" / facts.requested.id / name
    path.write_bytes(checked(fact.model_dump_json().encode()))


async def check_nothing_leaves(world: World, facts: ReleaseFacts, client: httpx.AsyncClient) -> None:
    for way in WAYS:
        answer = await client.get(f"/releases/{facts.requested.id}/{way}")
        check_problem(answer, 500, "stored-bytes-damaged")
        assert b"the table" not in answer.content
        assert b"192.0.2.7" not in answer.content


def published_of(other: ReleaseFacts, **changed: object) -> Published:
    assert isinstance(other.outcome, Published)
    return other.outcome.model_copy(update=changed)


@pytest.mark.parametrize("wanted", ["table", "inline"])
async def test_a_release_that_failed_its_gate_is_not_opened_by_the_outcome_of_another(
    world: World, operator: httpx.AsyncClient, wanted: str
) -> None:
    passed, failed = await facts_of(world, operator), await facts_of(world, operator, "fail")
    assert failed.measured is not None
    blob = failed.measured.table if wanted == "table" else failed.requested.inline
    assert blob is not None
    files = dict.fromkeys(("parquet", "arrow", "csv", "ndjson"), blob)
    forge(world, failed, "outcome", published_of(passed, files=files))
    await check_nothing_leaves(world, failed, operator)
    forge(world, failed, "outcome", published_of(passed, files=files, certificate=blob))
    await check_nothing_leaves(world, failed, operator)
    forge(world, failed, "outcome", published_of(passed, files=files, certificate=None))
    for way in WAYS:
        check_problem(await operator.get(f"/releases/{failed.requested.id}/{way}"), 409, "not-certified")


async def test_a_file_beside_those_that_were_signed_for_is_not_served(
    world: World, operator: httpx.AsyncClient
) -> None:
    facts = await facts_of(world, operator)
    assert facts.measured is not None
    assert isinstance(facts.outcome, Published)
    forge(world, facts, "outcome", published_of(facts, files={**facts.outcome.files, "csv": facts.measured.table}))
    await check_nothing_leaves(world, facts, operator)


async def test_a_release_of_another_recipient_or_tenant_than_was_signed_for_is_served_to_nobody(
    world: World, operator: httpx.AsyncClient
) -> None:
    facts = await facts_of(world, operator)
    await world.keys.add_tenant("harbour")
    forge(world, facts, "requested", facts.requested.model_copy(update={"recipient": "another"}))
    await check_nothing_leaves(world, facts, await world.client("recipient", recipient="another"))
    forge(world, facts, "requested", facts.requested.model_copy(update={"tenant": "harbour"}))
    await check_nothing_leaves(world, facts, await world.client(tenant="harbour"))


async def test_a_signature_of_a_key_that_only_its_public_half_speaks_for_opens_nothing(
    world: World, operator: httpx.AsyncClient
) -> None:
    facts, stranger = await facts_of(world, operator), Signer(b"s" * 32)
    certificate = (await operator.get(f"/releases/{facts.requested.id}/certificate")).json()
    statement = json.loads(base64.b64decode(certificate["payload"]))
    half = PublicHalf(
        tenant="acme", number=2, key=base64.b64encode(stranger.public.raw).decode(), created_at="2026-01-01T00:00:00Z"
    )
    public = world.folder / "keys" / "public" / stranger.public.kid
    public.write_bytes(checked(half.model_dump_json().encode()))
    assert stranger.public in [one.public for one in await world.keys.signing.of("acme")]
    room, folder = world.archive.releases_room, f"blobs/{facts.requested.id}"
    for number, forged in enumerate((sealed(statement, stranger), b"{}", b"\xff", b'{"payload": ')):
        blob = await room.put_bytes(f"{folder}/forged-{number}", forged)
        forge(world, facts, "outcome", published_of(facts, certificate=blob))
        await check_nothing_leaves(world, facts, operator)


async def test_what_was_signed_under_an_earlier_key_leaves_on(world: World, operator: httpx.AsyncClient) -> None:
    facts = await facts_of(world, operator)
    await world.keys.signing.rotate("acme")
    for way in WAYS:
        assert (await operator.get(f"/releases/{facts.requested.id}/{way}")).status_code == 200
