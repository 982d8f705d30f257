"""Policies, gate floor, trials, keys: what stands beside the releases."""

from typing import Any

import httpx
import pytest

from pratique_privacy.http.trials import Preview
from tests.unit.privacy.http.world import RELEASE, ROWS, World, check_problem

Body = dict[str, Any]
STEPS = [{"column": "ip", "op": "ip_prefix", "v4": 16, "v6": 48}]
STORED = {
    "steps": STEPS,
    "attributes": {"quasi_identifiers": ["ip"], "sensitive": ["protocols"]},
    "gate": {"k": {"min": 4}},
    "attacks": {"repetitions": 3},
    "ppi": {"k_target": 9},
}


async def test_a_policy_is_kept_by_name_and_version(operator: httpx.AsyncClient) -> None:
    first = (await operator.put("/policies/night", json=STORED)).json()
    same = (await operator.put("/policies/night", json=STORED)).json()
    second = (await operator.put("/policies/night", json={"steps": []})).json()
    assert (first["version"], same["version"], second["version"]) == (1, 1, 2)
    answer = await operator.get("/policies/night")
    assert answer.json() == second
    assert (answer.json()["steps"], answer.json()["built_in"]) == ([], False)
    again = await operator.get("/policies/night", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


async def test_the_list_holds_the_built_ins_and_the_stored(operator: httpx.AsyncClient) -> None:
    await operator.put("/policies/night", json=STORED)
    names: list[str] = []
    after: str | None = ""
    while after is not None:
        page = (await operator.get("/policies", params={"limit": 4, **({"after": after} if after else {})})).json()
        names, after = names + [entry["name"] for entry in page["data"]], page["next"]
    assert names == ["C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "night"]


async def test_wrong_policies_are_turned_down(operator: httpx.AsyncClient) -> None:
    check_problem(await operator.put("/policies/C4", json={"steps": []}), 409, "policy-built-in")
    check_problem(await operator.put("/policies/-x", json={"steps": []}), 422, "query-invalid")
    check_problem(await operator.put(f"/policies/{'0' * 64}", json={"steps": []}), 422, "query-invalid")
    check_problem(await operator.put("/policies/x", json={"steps": [{}]}), 422, "body-invalid")
    check_problem(await operator.put("/policies/x", json={"gate": {"kk": {"min": 1}}}), 422, "gate-unknown-metric")
    check_problem(await operator.get("/policies/x"), 404, "not-found")
    check_problem(await operator.post("/releases", json={**RELEASE, "policy": "x"}), 422, "policy-unknown")


async def test_a_release_takes_what_its_stored_policy_brings(world: World, operator: httpx.AsyncClient) -> None:
    stored = (await operator.put("/policies/night", json=STORED)).json()

    async def fact(**body: object) -> dict[str, Any]:
        answer = await operator.post("/releases", json={"source": {"records": ROWS}, "policy": "night", **body})
        return (await world.requested(answer.json()["id"])).model_dump(mode="json", exclude_unset=True)

    plain = await fact()
    assert plain["policy"]["steps"] == STEPS
    assert plain["attributes"]["quasi_identifiers"] == ["ip"]
    assert (plain["gate"]["k"]["min"], plain["ppi"]["k_target"], plain["attacks"]["repetitions"]) == (4, 9, 3)
    assert plain["policy_sha256"] != stored["sha256"]  # one names the steps, the other all that is stored
    own = await fact(gate={"k": {"min": 1}}, attacks=None, ppi={"k_target": 2})
    assert (own["gate"]["k"]["min"], own["ppi"]["k_target"], own["attacks"]) == (1, 2, None)
    await operator.put("/policies/night", json={"steps": []})
    by_digest = await fact(policy=stored["sha256"])
    assert by_digest["policy"]["steps"] == STEPS


async def test_a_recipient_can_only_tighten_the_gate_of_a_policy(world: World, operator: httpx.AsyncClient) -> None:
    await operator.put("/policies/night", json=STORED)
    headers = {"Content-Type": "text/csv"}
    dataset = (await operator.post("/datasets?open_to=hospital", content=b"a\n1\n", headers=headers)).json()["id"]
    hospital = await world.client("recipient", recipient="hospital")
    asked = {"source": {"dataset": dataset}, "policy": "night", "gate": {"k": {"min": 1}, "t": {"max": 0.5}}}
    release = (await hospital.post("/releases", json=asked)).json()["id"]
    gate = (await world.requested(release)).gate
    assert (gate["k"].min, gate["t"].max) == (4, 0.5)
    for weaker in ({"attacks": {"linkage": {"accuracy": 0}}}, {"attacks": None}, {"ppi": {"k_target": 1}}):
        check_problem(await hospital.post("/releases", json={**asked, **weaker}), 403, "parameters-not-yours")
    await operator.put("/policies/open", json={**STORED, "gate": {}})
    release = (await hospital.post("/releases", json={"source": asked["source"], "policy": "open"})).json()["id"]
    assert (await world.requested(release)).gate["k"].min == 2  # no gate at all is for operators only


async def test_a_digest_stands_for_the_gate_too(world: World, operator: httpx.AsyncClient) -> None:
    tight = (await operator.put("/policies/tight", json={**STORED, "gate": {"k": {"min": 10}}})).json()["sha256"]
    await operator.put("/policies/loose", json={**STORED, "gate": {}})
    asked = {"source": {"records": ROWS}, "policy": f"sha256:{tight}"}
    release = (await operator.post("/releases", json=asked)).json()["id"]
    assert (await world.requested(release)).gate["k"].min == 10


@pytest.mark.parametrize(
    ("floor", "weaker", "pointer"),
    [
        ({"linkage": {"max": 0.1}}, {"attacks": {"linkage": {"accuracy": 0.1}}}, "/attacks/linkage/accuracy"),
        (
            {"linkage": {"max": 0.1}},
            {"attacks": {"linkage": {"wrong_value": "exclude"}}},
            "/attacks/linkage/wrong_value",
        ),
        ({"partial_qi": {"max": 0.1}}, {"attacks": {"partial_qi": {"forget": 1}}}, "/attacks/partial_qi/forget"),
        ({"ppi": {"min": 0.9}}, {"ppi": {"weights": [1, 0, 0]}}, "/ppi"),
        ({"share_below_k": {"max": 0}}, {"ppi": {"k_target": 1}}, "/ppi"),
    ],
)
async def test_a_floor_is_held_under_the_default_parameters(
    world: World, operator: httpx.AsyncClient, floor: Body, weaker: Body, pointer: str
) -> None:
    admin = await world.client("admin")
    await admin.put("/gate-floor", json={"gate": floor})
    answer = await operator.post("/releases", json={**RELEASE, **weaker})
    assert [error["pointer"] for error in check_problem(answer, 422, "floor-parameters")["errors"]] == [pointer]
    assert (await operator.post("/releases", json=RELEASE)).status_code == 202


async def test_a_release_without_attributes_needs_a_policy_that_brings_some(operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/releases", json={"source": {"records": ROWS}, "policy": {"steps": STEPS}})
    body = check_problem(answer, 422, "attributes-missing")
    assert body["errors"][0]["pointer"] == "/attributes"


async def test_a_built_in_lends_its_steps_to_the_attributes_given(world: World, operator: httpx.AsyncClient) -> None:
    attributes = {"quasi_identifiers": ["ip"], "sensitive": ["role"], "drop": ["protocols"]}
    answer = await operator.post("/releases", json={**RELEASE, "attributes": attributes})
    fact = await world.requested(answer.json()["id"])
    assert fact.built_in == "C4"
    assert [step.op for step in fact.policy.steps] == ["ip_prefix", "threshold"]
    assert fact.attributes is not None
    assert fact.attributes.sensitive == ("role",)


async def test_the_floor_holds_whatever_is_asked(world: World, operator: httpx.AsyncClient) -> None:
    admin = await world.client("admin")
    assert (await operator.get("/gate-floor")).json() == {"gate": {}}
    assert (await admin.put("/gate-floor", json={"gate": {"k": {"min": 5}, "t": {"max": 0.4}}})).status_code == 200
    assert (await operator.get("/gate-floor")).json()["gate"]["k"]["min"] == 5
    release = (await operator.post("/releases", json={**RELEASE, "gate": {"k": {"min": 2}}})).json()["id"]
    gate = (await world.requested(release)).gate
    assert (gate["k"].min, gate["t"].max) == (5, 0.4)
    none_asked = (await operator.post("/releases", json={**RELEASE, "gate": {}})).json()["id"]
    assert (await world.requested(none_asked)).gate == gate
    stranger = await world.client("operator", tenant="other")
    assert (await stranger.get("/gate-floor")).json() == {"gate": {}}
    check_problem(await admin.put("/gate-floor", json={"gate": {"kk": {"min": 1}}}), 422, "gate-unknown-metric")


async def test_an_unknown_metric_in_a_gate_is_pointed_at(operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/releases", json={**RELEASE, "gate": {"k": {"min": 2}, "safety": {"min": 1}}})
    assert check_problem(answer, 422, "gate-unknown-metric")["errors"][0]["pointer"] == "/gate/safety"


async def test_a_trial_stores_nothing(world: World, operator: httpx.AsyncClient) -> None:
    asked = {"source": {"records": ROWS}, "policy": "C4"}
    answer = await operator.post("/preview", json=asked)
    shown = Preview.model_validate(answer.json())
    assert (answer.status_code, shown.before.metrics.k, shown.after.metrics.k) == (200, 1, 2)
    (advice,) = (await operator.post("/classify", json={"source": {"records": ROWS}})).json()["columns"]
    assert (advice["column"], advice["class"], advice["step"]["op"]) == ("ip", "quasi_identifier", "ip_prefix")
    assert not (world.folder / "releases" / "blobs").exists()
    assert not (world.folder / "releases" / "facts").exists()
    large = {"source": {"records": [{"n": 1}] * 10_001}, "policy": "C4"}
    check_problem(await operator.post("/preview", json=large), 422, "too-many-records")


async def test_keys_are_made_shown_once_and_revoked(world: World) -> None:
    admin = await world.client("admin")
    made = await admin.post("/api-keys", json={"role": "recipient", "recipient": "hospital", "name": "FL"})
    body = made.json()
    assert (made.status_code, made.headers["cache-control"]) == (201, "private, no-store")
    client = world.anonymous({"Authorization": f"Bearer {body['key']}"})
    me = (await client.get("/me")).json()
    assert (me["key"], me["tenant"], me["role"], me["recipient"]) == (body["id"], "acme", "recipient", "hospital")
    listed = await admin.get("/api-keys")
    assert listed.json()["data"][0]["id"] == body["id"]
    assert body["key"].partition(".")[2] not in listed.text
    assert (await admin.delete(f"/api-keys/{body['id']}")).status_code == 204
    assert (await client.get("/me")).status_code == 401
    assert (await admin.get("/api-keys")).json()["data"][0]["revoked"]


@pytest.mark.parametrize(
    "body",
    [{"role": "recipient"}, {"role": "operator", "recipient": "x"}, {"role": "king"}, {"role": "auditor", "a": 1}],
)
async def test_a_key_that_makes_no_sense_is_not_made(admin: httpx.AsyncClient, body: dict[str, str]) -> None:
    check_problem(await admin.post("/api-keys", json=body), 422, "body-invalid")


async def test_a_key_ends_when_it_says(world: World, admin: httpx.AsyncClient) -> None:
    past = await admin.post("/api-keys", json={"role": "auditor", "expires_at": "2020-01-01T00:00:00+01:00"})
    assert past.json()["expires_at"] == "2019-12-31T23:00:00.000000Z"
    answer = await world.anonymous({"Authorization": f"Bearer {past.json()['key']}"}).get("/me")
    assert check_problem(answer, 401, "key-expired")
    naive = await admin.post("/api-keys", json={"role": "auditor", "expires_at": "2040-01-01T00:00:00"})
    check_problem(naive, 422, "body-invalid")


async def test_no_admin_locks_itself_or_another_tenant_out(world: World, admin: httpx.AsyncClient) -> None:
    me = (await admin.get("/me")).json()["key"]
    check_problem(await admin.delete(f"/api-keys/{me}"), 409, "own-key")
    stranger = await world.client("admin", tenant="other")
    check_problem(await stranger.delete(f"/api-keys/{me}"), 404, "not-found")
