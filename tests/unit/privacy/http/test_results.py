"""Results: nothing leaves but a pass, and what leaves is what was measured."""

import base64
import hashlib

import httpx
import pytest

from pratique_shared.contracts.facts import Failure, ReleaseFailed
from pratique_shared.contracts.gate import Verdict
from pratique_shared.runtime.clock import stamp
from tests.unit.privacy.http.world import RELEASE, RELEASED_CSV, World, check_problem


async def asked(client: httpx.AsyncClient, **changed: object) -> str:
    identity: str = (await client.post("/releases", json={**RELEASE, **changed})).json()["id"]
    return identity


async def test_a_posture_grows_from_nothing_to_metrics_to_a_verdict(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    start = await operator.get(f"/releases/{release}/posture")
    assert (start.status_code, start.json()["status"], "after" in start.json()) == (202, "queued", False)
    await world.measured(release)
    middle = await operator.get(f"/releases/{release}/posture")
    assert (middle.status_code, middle.json()["after"]["k"], middle.json()["verdict"]) == (202, 2, None)
    assert middle.json()["gate"] is None
    await world.concluded(release)
    end = await operator.get(f"/releases/{release}/posture")
    body = end.json()
    assert (end.status_code, body["status"], body["verdict"], body["unit"]) == (200, "completed", "pass", "row")
    assert (body["records"]["in"], body["records"]["out"]) == (2, 2)
    assert body["gate"]["checks"] == [{"metric": "k", "op": ">=", "bound": 2.0, "value": 2.0, "status": "pass"}]
    assert body["files"]["csv"] == hashlib.sha256(RELEASED_CSV).hexdigest()
    assert body["ppi_parameters"] == {"k_target": 5, "l_target": 2, "weights": [0.4, 0.3, 0.3]}
    assert body["flags"] == ["few_classes"]


async def test_a_finished_posture_has_a_tag_that_spares_the_next_answer(
    world: World, operator: httpx.AsyncClient
) -> None:
    release = await asked(operator)
    await world.concluded(release)
    for part in ("posture", "gate", "records?format=csv", "records?format=json"):
        first = await operator.get(f"/releases/{release}/{part}")
        again = await operator.get(f"/releases/{release}/{part}", headers={"If-None-Match": first.headers["etag"]})
        assert (first.status_code, again.status_code, again.content) == (200, 304, b""), part
        assert "Authorization" in first.headers["vary"]
        assert first.headers["cache-control"].startswith("private")
        other = await operator.get(f"/releases/{release}/{part}", headers={"If-None-Match": '"x"'})
        assert other.status_code == 200


async def test_no_gate_at_all_is_flagged(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator, gate={})
    await world.concluded(release)
    assert (await operator.get(f"/releases/{release}/posture")).json()["flags"] == ["few_classes", "no_gate"]


async def test_a_failed_release_says_why(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    failure = Failure(code="hierarchy-misses", detail="The table misses 3 values.")
    await world.archive.conclude(release, ReleaseFailed(error=failure, at=stamp()))
    state = (await operator.get(f"/releases/{release}")).json()
    assert (state["status"], state["error"]) == ("failed", {"code": failure.code, "detail": failure.detail})
    for part in ("posture", "gate", "records", "risk", "preview"):
        body = check_problem(await operator.get(f"/releases/{release}/{part}"), 409, "release-failed")
        assert failure.code in body["detail"]


@pytest.mark.parametrize("verdict", ["fail", "indeterminate"])
async def test_records_stay_behind_a_gate_that_did_not_pass(
    world: World, operator: httpx.AsyncClient, verdict: Verdict
) -> None:
    release = await asked(operator)
    await world.concluded(release, verdict)
    for query in ("", "?format=json", "?format=csv", "?format=arrow", "?format=ndjson", "?format=parquet"):
        check_problem(await operator.get(f"/releases/{release}/records{query}"), 403, "gate-failed")
    assert (await operator.get(f"/releases/{release}/gate")).json()["verdict"] == verdict


async def test_records_wait_for_the_outcome(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    check_problem(await operator.get(f"/releases/{release}/records"), 409, "not-finished")
    await world.measured(release)
    check_problem(await operator.get(f"/releases/{release}/records"), 409, "not-finished")
    waiting = await operator.get(f"/releases/{release}/gate")
    assert (waiting.status_code, waiting.json()) == (202, {"verdict": None, "checks": []})


async def test_a_file_travels_with_its_digest(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    await world.concluded(release)
    answer = await operator.get(f"/releases/{release}/records", headers={"Accept": "text/csv"})
    digest = hashlib.sha256(RELEASED_CSV)
    assert answer.content == RELEASED_CSV
    assert answer.headers["repr-digest"] == f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
    assert answer.headers["etag"] == f'"{digest.hexdigest()}"'
    assert f"{release}.csv" in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", "application/vnd.apache.parquet"),
        ("*/*", "application/vnd.apache.parquet"),
        ("text/html, */*;q=0.8", "application/vnd.apache.parquet"),
        ("application/json", "application/json"),
        (
            "application/x-ndjson;q=0.2, application/vnd.apache.arrow.stream;q=0.9",
            "application/vnd.apache.arrow.stream",
        ),
        ("TEXT/CSV; q=1", "text/csv; charset=utf-8"),
        ("text/csv;q=0, */*", "application/vnd.apache.parquet"),
        ("text/csv;q=much", "application/vnd.apache.parquet"),
    ],
)
async def test_the_form_follows_accept(world: World, operator: httpx.AsyncClient, accept: str, media: str) -> None:
    release = await asked(operator)
    await world.concluded(release)
    answer = await operator.get(f"/releases/{release}/records", headers={"Accept": accept})
    assert answer.headers["content-type"] == media


async def test_a_json_page_is_a_view_of_the_released_file(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    await world.concluded(release)
    page = (await operator.get(f"/releases/{release}/records?format=json&limit=3")).json()
    assert page == {"data": world.tables.rows[:3], "next": "3"}
    rest = (await operator.get(f"/releases/{release}/records?format=json&limit=3&after=3")).json()
    assert rest == {"data": world.tables.rows[3:], "next": None}
    assert world.tables.calls[-1][1]["source"].data == b"PAR1 released PAR1"


async def test_one_flipped_bit_is_never_served(world: World, operator: httpx.AsyncClient) -> None:
    release = await asked(operator)
    await world.concluded(release)
    path = world.folder / "releases" / "blobs" / release / "file-csv"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    answer = await operator.get(f"/releases/{release}/records?format=csv")
    check_problem(answer, 500, "stored-bytes-damaged")


async def test_the_operator_sees_rows_before_and_after_and_what_would_help(
    world: World, operator: httpx.AsyncClient
) -> None:
    release = await asked(operator)
    for part in ("preview", "risk", "suggestions"):
        check_problem(await operator.get(f"/releases/{release}/{part}"), 409, "not-finished")
    await world.measured(release)
    preview = (await operator.get(f"/releases/{release}/preview?n=1")).json()
    assert preview["note"] == "not released"
    assert preview["rows"] == [{"before": {"n": 1}, "after": {"n": 0}, "class_size": 1, "changed": ["n"]}]
    (suggestion,) = (await operator.get(f"/releases/{release}/suggestions")).json()
    assert suggestion["predicted"]["k"] == 2
    risk = (await operator.get(f"/releases/{release}/risk?by=class,subset")).json()
    assert list(risk) == ["class", "subset"]
    assert risk["class"]["k_target"] == 5
    assert risk["class"]["attacked"] is None  # the adversaries have not run
