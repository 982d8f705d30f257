"""The audit log: every change and every reading of records leaves an entry, or does not happen."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import AuditEntry, Event, breaks, linked
from pratique_privacy.http.access import ROLES
from pratique_privacy.http.app import operations
from pratique_privacy.http.auditing import READINGS, changes, is_audited
from pratique_shared.contracts.problems import Problem, StoreFull, Unavailable
from pratique_shared.runtime.artifacts import Room, open_room
from pratique_shared.runtime.checked import checked, unchecked
from pratique_shared.runtime.sealing import StorageKey
from tests.unit.privacy.http.world import PCAP, RELEASE, World, check_problem, refuse_entries

UNAVAILABLE = Unavailable("store-unavailable", "The artifact store did not answer: try again.")
FULL = StoreFull("store-full", "The artifact store takes no more.")


def room_in(folder: Path) -> Room:
    return open_room(folder.as_uri(), "releases", StorageKey(b"s" * 32))


async def log_of(world: World, tenant: str = "acme") -> list[AuditEntry]:
    """All entries of a tenant, oldest first, without those that only begin a chain."""
    entries = await world.client("auditor", tenant=tenant)
    found = (await entries.get("/audit?limit=1000")).json()["data"]
    return [entry for entry in map(AuditEntry.model_validate, reversed(found)) if entry.phase != "opened"]


# What leaves an entry ---------------------------------------------------------------------------------------------


def test_every_change_and_every_reading_of_records_is_audited_and_nothing_else() -> None:
    routes = {route.operation_id or "": route for route in operations() if route.operation_id in ROLES}
    assert set(routes) >= READINGS
    for name, route in routes.items():
        assert is_audited(route) == (route.methods != {"GET"} or name in READINGS), name
    for name in ("getReleaseRecords", "getReleasePreview", "getCaptureRecords", "getCaptureIdentifiers", "getBundle"):
        assert is_audited(routes[name])
        assert not changes(routes[name])


async def test_every_audited_operation_says_that_the_log_may_refuse_it(world: World) -> None:
    paths = (await world.anonymous().get("/openapi.json")).json()["paths"]
    told = {one["operationId"]: one["responses"] for found in paths.values() for one in found.values()}
    for route in operations():
        if route.operation_id in ROLES and is_audited(route):
            assert {"503", "507"} <= told[route.operation_id].keys(), route.operation_id


async def test_an_entry_says_who_did_what_to_which_object_and_how_it_ended(
    world: World, operator: httpx.AsyncClient
) -> None:
    made = await operator.post("/releases", json=RELEASE)
    release = made.json()["id"]
    await world.concluded(release)
    taken = await operator.get(f"/releases/{release}/records")
    await operator.get(f"/releases/{release}/posture")  # figures: no entry
    key = (await operator.get("/me")).json()["key"]
    asked, answered, read = await log_of(world)
    assert (asked.phase, asked.operation, asked.object, asked.status) == ("asked", "createRelease", None, None)
    assert (answered.phase, answered.object, answered.status) == ("answered", release, 202)
    assert (read.phase, read.operation, read.object, read.status) == ("answered", "getReleaseRecords", release, 200)
    assert {entry.key for entry in (asked, answered, read)} == {key}
    assert {entry.role for entry in (asked, answered, read)} == {"operator"}
    assert [entry.request for entry in (answered, read)] == [a.headers["x-request-id"] for a in (made, taken)]


async def test_what_was_refused_is_there_too(world: World, operator: httpx.AsyncClient) -> None:
    auditor = await world.client("auditor")
    assert (await auditor.post("/captures", content=PCAP)).status_code == 403
    assert (await operator.delete("/releases/rel_" + "0" * 26)).status_code == 404
    assert (await world.anonymous().post("/captures", content=PCAP)).status_code == 401  # nobody who could be named
    denied, asked, missing = await log_of(world)
    assert (denied.phase, denied.role, denied.status) == ("answered", "auditor", 403)
    assert (asked.phase, missing.status) == ("asked", 404)


async def test_what_is_written_in_a_path_is_not_repeated_unless_it_is_an_id_of_ours(
    world: World, operator: httpx.AsyncClient
) -> None:
    subscriber = "001010123456789"
    await operator.delete(f"/captures/{subscriber}")
    await operator.put(f"/policies/{subscriber}", json={"steps": []})
    await operator.get(f"/captures/cap_{subscriber}/records")
    kept = b"".join(path.read_bytes() for path in (world.folder / "releases" / "audit").rglob("*") if path.is_file())
    assert b"deleteCapture" in kept
    assert subscriber.encode() not in kept
    assert all((entry.object or "").startswith("sha256:") for entry in await log_of(world))


async def test_a_new_key_is_named_and_its_secret_is_not_kept(world: World, admin: httpx.AsyncClient) -> None:
    made = (await admin.post("/api-keys", json={"role": "auditor"})).json()
    *_, answered = await log_of(world)
    assert answered.object == made["id"]
    secret = made["key"].partition(".")[2].encode()
    kept = [path.read_bytes() for path in (world.folder / "releases" / "audit").rglob("*") if path.is_file()]
    assert not [data for data in kept if secret in data]


async def test_webhooks_recommendations_and_profiles_leave_entries_and_the_secret_of_a_webhook_none(
    world: World, operator: httpx.AsyncClient
) -> None:
    made = (await operator.post("/webhooks", json={"url": "https://hooks.example.com/p"})).json()
    hook, delivery = made["id"], "dlv_" + "0" * 26
    assert (await operator.post(f"/webhooks/{hook}/deliveries/{delivery}/redeliver")).status_code == 404
    assert (await operator.get(f"/webhooks/{hook}/deliveries")).status_code == 200  # codes and times: no entry
    assert (await operator.delete(f"/webhooks/{hook}")).status_code == 204
    question = {"source": RELEASE["source"], "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["protocols"]}}
    asked = await operator.post("/recommendations", json={**question, "gate": {"k": {"min": 2}}})
    assert asked.status_code == 202
    profiles = {"profiles": [[0.5, 0.5]], "taxonomy": [[[0, 1]]], "gamma": 0.1}
    assert (await operator.post("/profiles/generalise", json=profiles)).status_code == 200
    answered = [(one.operation, one.object, one.status) for one in await log_of(world) if one.phase == "answered"]
    assert answered == [
        ("createWebhook", hook, 201),
        ("redeliver", delivery, 404),
        ("deleteWebhook", hook, 204),
        ("createRecommendation", asked.json()["id"], 202),
        ("generaliseProfiles", None, 200),
    ]
    kept = b"".join(path.read_bytes() for path in (world.folder / "releases" / "audit").rglob("*") if path.is_file())
    assert made["secret"].removeprefix("whsec_").encode() not in kept
    assert b"hooks.example.com" not in kept


# It fails closed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("problem", "status"), [(UNAVAILABLE, 503), (FULL, 507)])
async def test_without_a_log_no_audited_operation_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch, problem: Problem, status: int
) -> None:
    admin = await world.client("admin")
    release = (await admin.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    refuse_entries(world, monkeypatch, problem)
    for route in operations():
        if route.operation_id in ROLES:
            path = route.path.replace("{release_id}", release).replace("{name}", "mine").replace("{attack_id}", "x")
            for name in ("capture_id", "dataset_id", "key_id", "sweep_id", "study_id", "utility_id"):
                path = path.replace(f"{{{name}}}", "cap_" + "0" * 26)
            (method,) = route.methods or {"GET"}
            if route.operation_id == "getReleaseEvents":
                continue
            answer = await admin.request(method, path)
            assert (answer.status_code == status) == is_audited(route), route.operation_id
            if is_audited(route):
                assert answer.json()["code"] == problem.code
                assert answer.headers["retry-after"] == "1"
    facts = await world.archive.any_release(release)
    assert facts is not None
    assert not facts.withdrawn


async def test_records_do_not_leave_when_their_entry_cannot_be_written(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    refuse_entries(world, monkeypatch, UNAVAILABLE)
    answer = await operator.get(f"/releases/{release}/records?format=csv")
    check_problem(answer, 503, "store-unavailable")
    assert b"192.0.2.0" not in answer.content
    monkeypatch.undo()
    assert (await operator.get(f"/releases/{release}/records?format=csv")).status_code == 200
    auditor = await world.client("auditor")
    assert (await auditor.get("/audit/check")).json()["intact"] is True


async def test_a_defect_leaves_an_entry_without_a_status(
    world: World, operator: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(world.archive, "delete_source", broken)
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    assert (await operator.delete(f"/captures/{capture}")).status_code == 500
    *_, asked, ended = await log_of(world)
    assert [(asked.phase, asked.status), (ended.phase, ended.status)] == [("asked", None), ("answered", None)]


# Reading it -------------------------------------------------------------------------------------------------------


async def test_pages_leave_nothing_out_and_tenants_are_apart(world: World, operator: httpx.AsyncClient) -> None:
    stranger = await world.client("operator", tenant="other")
    for number in range(5):
        await operator.put(f"/policies/p{number}", json={"steps": []})
    await stranger.put("/policies/theirs", json={"steps": []})
    auditor = await world.client("auditor")
    found, after = [], ""
    while True:
        page = (await auditor.get(f"/audit?limit=3{after}")).json()
        found += page["data"]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    whole = (await auditor.get("/audit?limit=1000")).json()["data"]
    assert found == whole
    assert len(whole) == 11  # two for each, and the one that begins the chain
    assert [entry["number"] for entry in whole] == list(range(10, -1, -1))
    assert len(await log_of(world, "other")) == 2
    for cursor in ("x", "aud_0.1", f"aud_{'0' * 26}", f"aud_{'0' * 26}.x", f"rel_{'0' * 26}.1"):
        check_problem(await auditor.get(f"/audit?after={cursor}"), 422, "cursor-invalid")


async def test_those_who_wait_stand_together_in_one_block(tmp_path: Path) -> None:
    log, room = AuditLog(room_in(tmp_path)), room_in(tmp_path)
    await asyncio.gather(*(log.record("acme", Event("asked", operation=f"o{n}")) for n in range(40)))
    entries = await log.every("acme")
    assert sorted(entry.operation or "" for entry in entries) == sorted(["", *(f"o{n}" for n in range(40))])
    assert breaks(entries) == []
    assert len(await room.names("audit/acme")) <= 2


async def test_a_caller_that_goes_away_breaks_no_chain(tmp_path: Path) -> None:
    log = AuditLog(room_in(tmp_path))
    waiting = asyncio.create_task(log.record("acme", Event("asked", operation="gone")))
    await asyncio.sleep(0)
    waiting.cancel()
    await log.record("acme", Event("asked", operation="next"))
    assert {"gone", "next"} <= {entry.operation for entry in await log.every("acme")}
    assert breaks(await log.every("acme")) == []


# The chain --------------------------------------------------------------------------------------------------------


def chain(name: str = "one", count: int = 4, heads: tuple[tuple[str, str], ...] = ()) -> list[AuditEntry]:
    events = [
        Event("opened", heads=heads),
        *(Event("answered", operation=f"o{n}", status=200) for n in range(count - 1)),
    ]
    return linked(name, (-1, ""), events, "2026-01-01T00:00:00Z")


def test_an_untouched_chain_holds_in_any_order_of_reading() -> None:
    entries = chain()
    assert breaks(entries) == breaks(entries[::-1]) == breaks([]) == []
    assert breaks([*entries, *linked("one", (3, entries[-1].hash), [Event("asked")], "2026-01-02T00:00:00Z")]) == []


def altered(entries: list[AuditEntry]) -> list[AuditEntry]:
    return [entry.model_copy(update={"status": 403}) if entry.number == 2 else entry for entry in entries]


def recomputed(entries: list[AuditEntry]) -> list[AuditEntry]:
    """Altered by somebody who knows how hashes are made."""
    changed = altered(entries)
    changed[2] = changed[2].model_copy(update={"hash": changed[2].computed()})
    return changed


@pytest.mark.parametrize(
    ("tamper", "fault", "number"),
    [
        (altered, "altered", 2),
        (recomputed, "unlinked", 3),
        (lambda entries: entries[:1] + entries[2:], "missing", 1),
        (lambda entries: entries[1:], "missing", 0),
        (lambda entries: [*entries, entries[2]], "doubled", 2),
    ],
)
def test_what_was_done_to_a_chain_is_found(
    tamper: Callable[[list[AuditEntry]], list[AuditEntry]], fault: str, number: int
) -> None:
    assert (fault, number) in [(found.fault, found.number) for found in breaks(tamper(chain()))]


async def test_a_tail_cut_off_an_earlier_chain_is_found_by_a_later_one(tmp_path: Path) -> None:
    first, room = AuditLog(room_in(tmp_path)), room_in(tmp_path)
    for number in range(3):
        await first.record("acme", Event("asked", operation=f"o{number}"))
    *_, last = await room.names("audit/acme")
    second = AuditLog(room_in(tmp_path))  # another process, or the same after a restart
    await second.record("acme", Event("asked", operation="later"))
    entries = await second.every("acme")
    assert (len({entry.chain for entry in entries}), breaks(entries)) == (2, [])
    await room.delete(last)
    assert [found.fault for found in breaks(await second.every("acme"))] == ["cut-off"]


def turned(data: bytes) -> bytes:
    return data[:20] + bytes([data[20] ^ 1]) + data[21:]


@pytest.mark.parametrize("damage", [turned, lambda _: b"", lambda _: b"{}\n", lambda _: b"\xff no JSON"])
async def test_a_damaged_block_locks_nobody_out_and_the_check_names_it(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    log = AuditLog(room_in(tmp_path))
    for number in range(3):
        await log.record("acme", Event("asked", operation=f"o{number}"))
    block = sorted((tmp_path / "releases/audit/acme").rglob("aud_*"))[1]
    block.write_bytes(damage(block.read_bytes()))
    (block.parent / ".nfs000000001").write_bytes(b"of others")
    later = AuditLog(room_in(tmp_path))  # another process, or the same after a restart
    await later.record("acme", Event("asked", operation="later"))
    entries, found = await later.check("acme")
    assert [(one.chain, one.fault) for one in found if one.fault == "damaged"] == [(block.name, "damaged")]
    assert [one.number for one in found if one.fault == "missing"] == [2]  # o1; the first block begins the chain
    (opened,) = [one for one in entries if one.phase == "opened" and one.heads]
    assert opened.heads == {entries[-1].chain: next(one.hash for one in entries if one.operation == "o2")}


async def test_an_auditor_is_told_of_a_block_that_cannot_be_read(world: World, operator: httpx.AsyncClient) -> None:
    await operator.put("/policies/mine", json={"steps": []})
    path = max((world.folder / "releases" / "audit").rglob("aud_*"))
    path.write_bytes(turned(path.read_bytes()))
    check = (await (await world.client("auditor")).get("/audit/check")).json()
    assert (check["intact"], check["breaks"]) == (False, [{"chain": path.name, "number": 0, "fault": "damaged"}])


async def test_an_auditor_is_told_that_a_block_was_rewritten(world: World, operator: httpx.AsyncClient) -> None:
    await operator.put("/policies/mine", json={"steps": []})
    auditor = await world.client("auditor")
    check = (await auditor.get("/audit/check")).json()
    assert (check["intact"], check["entries"], check["chains"]) == (True, 3, 1)
    (path,) = [p for p in (world.folder / "releases" / "audit").rglob("aud_*") if b'"status":200' in p.read_bytes()]
    entry = json.loads(unchecked(path.read_bytes(), path.name))
    path.write_bytes(checked(json.dumps({**entry, "status": 403}).encode() + b"\n"))  # by one who knows of the digest
    check = (await auditor.get("/audit/check")).json()
    assert (check["intact"], [found["fault"] for found in check["breaks"]]) == (False, ["altered"])
    assert (await operator.get("/audit")).status_code == 403
