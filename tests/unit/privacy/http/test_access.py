"""Access: every operation for every role, the tenants apart, and the recipient in its own house only."""

from collections.abc import AsyncIterator

import httpx
import pytest

from pratique_privacy.http.access import ANONYMOUS, ROLES, check_rows
from pratique_privacy.http.app import operations
from pratique_privacy.keys import Role
from pratique_shared.contracts.gate import Verdict
from tests.unit.privacy.http.world import PCAP, RELEASE, World

OPERATOR, RECIPIENT, AUDITOR = "operator", "recipient", "auditor"
# Written out by hand from the specification: the table in the code is held against it. An admin may do all of it.
MAY: dict[str, set[str]] = {
    "GET /me": {OPERATOR, RECIPIENT, AUDITOR},
    "POST /session/tickets": {OPERATOR, RECIPIENT, AUDITOR},
    "POST /captures": {OPERATOR},
    "GET /captures": {OPERATOR},
    "GET /captures/{id}": {OPERATOR},
    "GET /captures/{id}/records": {OPERATOR},
    "GET /captures/{id}/identifiers": {OPERATOR},
    "DELETE /captures/{id}": {OPERATOR},
    "POST /datasets": {OPERATOR},
    "GET /datasets": {OPERATOR},
    "GET /datasets/{id}": {OPERATOR},
    "DELETE /datasets/{id}": {OPERATOR},
    "POST /releases": {OPERATOR, RECIPIENT},
    "GET /releases": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}/events": {OPERATOR, RECIPIENT, AUDITOR},
    "POST /releases/{id}/cancel": {OPERATOR},
    "DELETE /releases/{id}": {OPERATOR},
    "GET /releases/{id}/posture": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}/gate": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}/records": {OPERATOR, RECIPIENT},
    "GET /releases/{id}/preview": {OPERATOR},
    "GET /releases/{id}/risk": {OPERATOR, AUDITOR},
    "GET /releases/{id}/suggestions": {OPERATOR},
    "GET /releases/{id}/certificate": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}/bundle": {OPERATOR, RECIPIENT, AUDITOR},
    "GET /releases/{id}/report": {OPERATOR, RECIPIENT, AUDITOR},
    "POST /releases/{id}/attacks": {OPERATOR},
    "GET /releases/{id}/attacks": {OPERATOR, AUDITOR},
    "GET /releases/{id}/attacks/{id}": {OPERATOR, AUDITOR},
    "GET /releases/{id}/attacks/{id}/events": {OPERATOR, AUDITOR},
    "POST /releases/{id}/attacks/{id}/cancel": {OPERATOR},
    "POST /sweeps": {OPERATOR},
    "GET /sweeps": {OPERATOR, AUDITOR},
    "GET /sweeps/{id}": {OPERATOR, AUDITOR},
    "GET /sweeps/{id}/results": {OPERATOR, AUDITOR},
    "GET /sweeps/{id}/events": {OPERATOR, AUDITOR},
    "POST /sweeps/{id}/cancel": {OPERATOR},
    "POST /utility": {OPERATOR},
    "GET /utility": {OPERATOR, AUDITOR},
    "GET /utility/{id}": {OPERATOR, AUDITOR},
    "GET /utility/{id}/events": {OPERATOR, AUDITOR},
    "POST /utility/{id}/cancel": {OPERATOR},
    "GET /policies": {OPERATOR, AUDITOR},
    "GET /policies/{id}": {OPERATOR, AUDITOR},
    "PUT /policies/{id}": {OPERATOR},
    "POST /classify": {OPERATOR},
    "POST /preview": {OPERATOR},
    "POST /recommendations": {OPERATOR},
    "GET /recommendations": {OPERATOR, AUDITOR},
    "GET /recommendations/{id}": {OPERATOR, AUDITOR},
    "GET /recommendations/{id}/events": {OPERATOR, AUDITOR},
    "POST /recommendations/{id}/cancel": {OPERATOR},
    "POST /profiles/generalise": {OPERATOR},
    "GET /profiles/{id}": {OPERATOR},
    "GET /profiles/{id}/events": {OPERATOR},
    "POST /profiles/{id}/cancel": {OPERATOR},
    "GET /gate-floor": {OPERATOR, AUDITOR},
    "PUT /gate-floor": set(),
    "POST /webhooks": {OPERATOR},
    "GET /webhooks": {OPERATOR},
    "GET /webhooks/{id}": {OPERATOR},
    "DELETE /webhooks/{id}": {OPERATOR},
    "GET /webhooks/{id}/deliveries": {OPERATOR},
    "POST /webhooks/{id}/deliveries/{id}/redeliver": {OPERATOR},
    "GET /integrations/ics": {OPERATOR},
    "GET /api-keys": set(),
    "POST /api-keys": set(),
    "DELETE /api-keys/{id}": set(),
    "GET /signing-keys": {OPERATOR, RECIPIENT, AUDITOR},
    "POST /signing-keys": set(),
    "GET /tenant-keys": {OPERATOR, AUDITOR},
    "POST /tenant-keys": set(),
    "GET /audit": {AUDITOR},
    "GET /audit/check": {AUDITOR},
}
OF_THE_HOUSE: dict[str, set[str]] = {"GET /metrics": set()}  # of admins only those of the tenant that operates it
OPEN = {"GET /livez", "GET /readyz", "GET /version", "GET /docs", "GET /keys/jwks.json", "GET /keys/{id}"}
OPEN |= {"GET /session", "POST /session", "DELETE /session"}
OPEN |= {"GET /ics/health", "POST /ics/info-jobs", "DELETE /ics/info-jobs/{id}"}  # the coordinator has its own token


def operations_by_method() -> set[str]:
    found = set()
    for route in operations():
        parts = ["{id}" if part.startswith("{") else part for part in route.path.split("/")]
        found |= {f"{method} {'/'.join(parts)}" for method in route.methods or ()}
    return found


def test_every_operation_stands_in_the_matrix_and_the_matrix_holds_no_other() -> None:
    assert operations_by_method() == set(MAY) | set(OF_THE_HOUSE) | OPEN


def test_an_operation_without_a_row_does_not_start() -> None:
    with pytest.raises(RuntimeError, match="newOperation"):
        check_rows([*ROLES, *ANONYMOUS, "newOperation"])


@pytest.mark.parametrize("role", ["operator", "recipient", "auditor", "admin"])
async def test_a_role_may_do_what_its_column_says_and_nothing_else(world: World, role: Role) -> None:
    client = await world.client(role, recipient="hospital" if role == "recipient" else None)
    for operation, roles in MAY.items():
        method, path = operation.split(" ")
        answer = await client.request(method, path.replace("{id}", "rel_" + "0" * 26))
        refused = answer.status_code == 403 and answer.json()["code"] == "role-forbidden"
        assert refused == (role != "admin" and role not in roles), operation


async def test_without_a_key_only_the_open_operations_answer(world: World) -> None:
    client = world.anonymous()
    for operation in MAY:
        method, path = operation.split(" ")
        answer = await client.request(method, path.replace("{id}", "rel_" + "0" * 26))
        assert (answer.status_code, answer.json()["code"]) == (401, "key-missing"), operation
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/livez", "/readyz", "/version", "/docs", "/openapi.json", "/keys/jwks.json"):
        assert (await client.get(path)).status_code == 200, path


@pytest.mark.parametrize("key", ["", "key_0.x", "nonsense", "key_../../x.y", "key_" + "0" * 26 + ".secret"])
async def test_a_key_that_is_not_known_is_a_401(world: World, key: str) -> None:
    answer = await world.anonymous({"Authorization": f"Bearer {key}"}).get("/me")
    assert answer.status_code == 401


async def test_nothing_of_a_body_is_read_for_who_may_not_send_it(world: World) -> None:
    pieces = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal pieces
        pieces += 1
        yield PCAP

    answer = await (await world.client("auditor")).post("/captures", content=body())
    assert (answer.status_code, pieces) == (403, 0)


async def test_what_is_another_tenants_is_not_there(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    dataset = (await operator.post("/datasets", content=b"a\n1\n", headers={"Content-Type": "text/csv"})).json()["id"]
    webhook = (await operator.post("/webhooks", json={"url": "https://hooks.example.com/x"})).json()["id"]
    await world.concluded(release)
    await world.ready_capture(capture)
    stranger = await world.client("admin", tenant="other")
    ids = {"releases": release, "captures": capture, "datasets": dataset, "webhooks": webhook}
    for operation in MAY:
        method, path = operation.split(" ")
        kind = path.split("/")[1]
        if "{id}" in path and kind in ids:
            answer = await stranger.request(method, path.replace("{id}", ids[kind]))
            assert (answer.status_code, answer.json()["code"]) == (404, "not-found"), operation
    for kind in ids:
        assert (await stranger.get(f"/{kind}")).json()["data"] == []
        assert len((await operator.get(f"/{kind}")).json()["data"]) == 1
    for source in ({"capture": capture}, {"dataset": dataset}, {"captures": [capture]}):
        answer = await stranger.post("/releases", json={"source": source, "policy": "C4"})
        assert (answer.status_code, answer.json()["code"]) == (404, "source-not-found")


async def test_a_recipient_sees_the_releases_of_its_own_name_only(world: World, operator: httpx.AsyncClient) -> None:
    mine = (await operator.post("/releases", json=RELEASE)).json()["id"]
    theirs = (await operator.post("/releases", json={**RELEASE, "recipient": "rival"})).json()["id"]
    nobodys = (await operator.post("/releases", json={**RELEASE, "recipient": None})).json()["id"]
    for release in (mine, theirs, nobodys):
        await world.concluded(release)
    hospital = await world.client("recipient", recipient="hospital")
    assert [entry["id"] for entry in (await hospital.get("/releases")).json()["data"]] == [mine]
    for part in ("", "/posture", "/gate", "/records", "/events"):
        assert (await hospital.get(f"/releases/{mine}{part}")).status_code == 200, part
        for other in (theirs, nobodys):
            assert (await hospital.get(f"/releases/{other}{part}")).status_code == 404, part
    unbound = await world.client("recipient")
    assert (await unbound.get(f"/releases/{nobodys}")).status_code == 404


async def test_a_recipient_is_not_shown_the_figures_of_the_raw_table(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release)
    hospital = await world.client("recipient", recipient="hospital")
    theirs = (await hospital.get(f"/releases/{release}/posture")).json()
    ours = (await operator.get(f"/releases/{release}/posture")).json()
    assert ours["before"]["k"] == 1
    assert "before" not in theirs
    assert theirs["after"] == ours["after"]


@pytest.mark.parametrize(("verdict", "told"), [("pass", {"cold": 1.0}), ("fail", {})])
async def test_a_recipient_is_told_the_labels_of_released_rows_and_no_value_of_what_stays_behind(
    world: World, operator: httpx.AsyncClient, verdict: Verdict, told: dict[str, float]
) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.concluded(release, verdict, survival_by_label={"cold": 1.0, "rare disease": 0.0})
    hospital = await world.client("recipient", recipient="hospital")
    posture = (await hospital.get(f"/releases/{release}/posture")).json()
    report = (await hospital.get(f"/releases/{release}/report")).text
    assert posture["records"]["survival_by_label"] == told
    assert ("cold" in report, "rare disease" in report) == ("cold" in told, False)
    ours = (await operator.get(f"/releases/{release}/posture")).json()
    assert ours["records"]["survival_by_label"] == {"cold": 1.0, "rare disease": 0.0}


async def test_a_recipient_asks_on_open_sources_under_the_tenants_policies(
    world: World, operator: httpx.AsyncClient
) -> None:
    shut = (await operator.post("/captures?open_to=rival", content=PCAP)).json()["id"]
    open_ = (await operator.post("/captures?open_to=rival,hospital", content=PCAP + b"x")).json()["id"]
    hospital = await world.client("recipient", recipient="hospital")

    async def ask(**body: object) -> tuple[int, str | None]:
        answer = await hospital.post("/releases", json={"source": {"capture": open_}, "policy": "C4", **body})
        return answer.status_code, answer.json().get("code")

    assert await ask() == (202, None)
    assert await ask(source={"capture": shut}) == (404, "source-not-found")
    assert await ask(source={"records": RELEASE["source"]["records"]}) == (403, "records-not-open")
    assert await ask(policy={"steps": []}) == (403, "policy-not-stored")
    assert await ask(recipient="rival") == (403, "recipient-not-yours")
    assert await ask(gate={}) == (403, "gate-required")
    assert await ask(attributes={"quasi_identifiers": ["role"]}) == (403, "attributes-not-yours")
    (made,) = (await hospital.get("/releases")).json()["data"]
    assert made["recipient"] == "hospital"


async def test_an_auditor_is_shown_no_record_by_way_of_the_risk(world: World, operator: httpx.AsyncClient) -> None:
    release = (await operator.post("/releases", json=RELEASE)).json()["id"]
    await world.measured(release)
    auditor = await world.client("auditor")
    assert (await auditor.get(f"/releases/{release}/risk")).json().keys() == {"class", "subset", "attribute"}
    assert (await auditor.get(f"/releases/{release}/risk?by=record")).status_code == 403
    assert (await operator.get(f"/releases/{release}/risk?by=record")).json().keys() == {"record"}
    assert (await operator.get(f"/releases/{release}/risk?by=shoe-size")).status_code == 422


@pytest.mark.parametrize("text", ["", "x", "key_", f"key_{'a' * 300}.x", "key_../../etc.x", f"key_{'0' * 26}"])
async def test_a_key_that_is_none_is_unknown_whatever_its_form(world: World, text: str) -> None:
    stranger = world.anonymous({"Authorization": f"Bearer {text}"})
    assert (await stranger.get("/me")).status_code == 401


async def test_a_cursor_beyond_every_calendar_is_refused(operator: httpx.AsyncClient) -> None:
    for cursor in ("rel_" + "z" * 26, "rel_7" + "z" * 25, "cap_" + "0" * 26, "x"):
        answer = await operator.get(f"/releases?after={cursor}")
        assert (answer.status_code, answer.json()["code"]) == (422, "cursor-invalid")
