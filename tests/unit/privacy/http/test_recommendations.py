"""Recommendations: taken in once, worked on by whoever hears of them, answered for good."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from pratique_privacy.studies.archive import StudyArchive
from pratique_privacy.studies.jobs import Studies
from pratique_privacy.tables import SourceBytes, Tables
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.studies import Recommendation, RecommendationWork
from pratique_shared.runtime.sealing import BrokenSeal
from tests.unit.privacy.http.world import PCAP, World, check_problem

ROWS = [{"ip": f"10.0.{n % 2}.{n}", "role": "UE", "imsi": str(n)} for n in range(8)]
ASKED: dict[str, Any] = {
    "source": {"records": ROWS},
    "attributes": {"identifiers": ["imsi"], "quasi_identifiers": ["ip"], "sensitive": ["role"]},
    "gate": {"k": {"min": 3}},
}
RESULT = json.dumps(
    {
        "recommended": {"policy": {"steps": []}},
        "proved": True,
        "front": [],
        "front_size": 0,
        "search": {"cut": None},
        "levels": {},
        "not_held": [],
    }
).encode()


class Answering(Tables):
    """Answers a question at once, or refuses it."""

    def __init__(self, refuses: Unprocessable | None = None) -> None:
        self.asked: list[tuple[Recommendation, list[bytes]]] = []
        self._refuses = refuses

    async def recommend(
        self, asked: Recommendation, sources: Sequence[SourceBytes], pilot: str | None, tenant_key: bytes
    ) -> bytes:
        self.asked.append((asked, [source.data for source in sources]))
        if self._refuses is not None:
            raise self._refuses
        return RESULT


def worker(world: World, tables: Tables) -> Studies:
    return Studies(StudyArchive(world.archive), world.keys, tables, world.bell)


async def work_of(world: World, identity: str) -> RecommendationWork:
    facts = await StudyArchive(world.archive).any(identity)
    assert facts is not None
    assert isinstance(facts.requested.work, RecommendationWork)
    return facts.requested.work


async def created(client: httpx.AsyncClient, **changed: object) -> str:
    answer = await client.post("/recommendations", json={**ASKED, **changed})
    assert answer.status_code == 202, answer.text
    identity: str = answer.json()["id"]
    return identity


async def test_a_question_is_durable_owed_and_rung_when_it_is_answered(
    world: World, operator: httpx.AsyncClient
) -> None:
    answer = await operator.post("/recommendations", json=ASKED)
    body = answer.json()
    assert (answer.status_code, body["status"]) == (202, "queued")
    assert "recommended" not in body
    assert (answer.headers["location"], answer.headers["retry-after"]) == (f"/recommendations/{body['id']}", "1")
    assert world.bell.rung == [("privacy", "advance", body["id"])]
    assert (await world.archive.pending())[1] == [body["id"]]
    assert (await operator.get(answer.headers["location"])).json() == body


async def test_the_question_holds_every_default_and_drops_identifiers_that_no_step_names(
    world: World, operator: httpx.AsyncClient
) -> None:
    work = await work_of(world, await created(operator, gate=None))
    question = work.asked
    assert [step.op for step in question.first] == ["drop_column"]
    assert question.gate["k"].min == 2
    assert (question.taus, question.partial_qi.forget, question.linkage.accuracy) == ((2, 3, 5, 8, 12), 0.5, 0.8)
    assert work.source.records == ()


async def test_a_question_is_told_again_without_its_records_and_its_tables(operator: httpx.AsyncClient) -> None:
    identity = await created(operator, hierarchies={"ip": {f"10.0.{n % 2}.{n}": ["lab"] for n in range(8)}})
    body = await operator.get(f"/recommendations/{identity}")
    asked = body.json()["asked"]
    assert (asked["attributes"]["identifiers"], asked["gate"]["k"]["min"]) == (["imsi"], 3)
    assert asked["source"] is None
    assert "10.0." not in body.text


async def test_a_question_is_answered_once_and_its_records_are_forgotten(
    world: World, operator: httpx.AsyncClient
) -> None:
    identity = await created(operator)
    tables = Answering()
    work = worker(world, tables)
    await work.advance(identity)
    await work.advance(identity)
    assert len(tables.asked) == 1
    found = (await operator.get(f"/recommendations/{identity}")).json()
    assert (found["status"], found["proved"], found["recommended"]) == ("completed", True, {"policy": {"steps": []}})
    assert (await world.archive.pending())[1] == []
    inline = (await work_of(world, identity)).inline
    assert inline is not None
    with pytest.raises(BrokenSeal):
        await world.archive.releases_room.blob_bytes(inline)


async def test_a_question_that_cannot_be_answered_says_why(world: World, operator: httpx.AsyncClient) -> None:
    identity = await created(operator)
    refuses = Unprocessable("lattice-too-large", "Name fewer quasi-identifiers.")
    await worker(world, Answering(refuses)).advance(identity)
    found = (await operator.get(f"/recommendations/{identity}")).json()
    assert (found["status"], found["error"]["code"]) == ("failed", "lattice-too-large")


async def test_a_question_waits_for_its_capture_and_fails_with_it(world: World, operator: httpx.AsyncClient) -> None:
    capture = (await operator.post("/captures", content=PCAP)).json()["id"]
    identity = await created(operator, source={"capture": capture})
    tables = Answering()
    work = worker(world, tables)
    await work.advance(identity)
    assert (await operator.get(f"/recommendations/{identity}")).json()["status"] == "queued"
    await world.ready_capture(capture)
    await work.advance(identity)
    assert tables.asked[0][1] == [b'{"ip":"192.0.2.7"}\n' * 5]
    gone = await created(operator, source={"capture": capture})
    await operator.delete(f"/captures/{capture}")
    await work.advance(gone)
    assert (await operator.get(f"/recommendations/{gone}")).json()["error"]["code"] == "source-gone"


async def test_the_same_key_asks_once(operator: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "which"}
    first, again = [await operator.post("/recommendations", json=ASKED, headers=key) for _ in range(2)]
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    other = await operator.post("/recommendations", json={**ASKED, "taus": [2]}, headers=key)
    check_problem(other, 422, "idempotency-key-reused")


async def test_a_recommendation_of_another_tenant_is_not_there(world: World, operator: httpx.AsyncClient) -> None:
    identity = await created(operator)
    stranger = await world.client(tenant="other")
    check_problem(await stranger.get(f"/recommendations/{identity}"), 404, "not-found")
    check_problem(await operator.get("/recommendations/rel_" + "0" * 26), 404, "not-found")


@pytest.mark.parametrize(
    ("changed", "code", "pointer"),
    [
        ({"policy": {"steps": [{"op": "class_support", "tau": 3}]}}, "step-not-first", "/policy/steps/0"),
        ({"hierarchies": {"role": {"UE": ["any"]}}}, "column-unknown", "/hierarchies/role"),
        ({"exempt": {"column": "imsi", "rarest": 1}}, "column-unknown", "/exempt/column"),
        ({"gate": {"kk": {"min": 1}}}, "gate-unknown-metric", "/gate/kk"),
        ({"budget": {"seconds": 0}}, "body-invalid", "/budget/seconds"),
        ({"taus": [1]}, "body-invalid", "/taus/0"),
    ],
)
async def test_what_cannot_be_asked_is_refused_where_it_stands(
    operator: httpx.AsyncClient, changed: dict[str, Any], code: str, pointer: str
) -> None:
    body = check_problem(await operator.post("/recommendations", json={**ASKED, **changed}), 422, code)
    assert [error["pointer"] for error in body["errors"]] == [pointer]
