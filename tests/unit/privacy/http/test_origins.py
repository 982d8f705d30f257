"""A source that cannot be is pointed at where the body names it, also in a body that has no `source`."""

from typing import Any

import httpx
import pytest

from tests.unit.privacy.http.test_sweeps import captured
from tests.unit.privacy.http.world import PCAP, World, check_problem

CAPTURE, DATASET = "cap_" + "0" * 26, "dst_" + "0" * 26


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/sweeps", {"sources": ["there", CAPTURE], "configurations": ["C4"]}, "/sources/1"),
        ("/sweeps", {"sources": ["there", DATASET], "configurations": ["C4"]}, "/sources/1"),
        ("/utility", {"sources": ["there", CAPTURE]}, "/sources"),
        ("/utility", {"sources": ["there", DATASET]}, "/sources/1"),
        ("/profiles/generalise", {"capture": CAPTURE, "gamma": 0.1}, "/capture"),
    ],
)
async def test_an_unknown_source_is_pointed_at_where_the_body_names_it(
    operator: httpx.AsyncClient, path: str, body: dict[str, Any], pointer: str
) -> None:
    if "sources" in body:
        there = await captured(operator)
        body = {**body, "sources": [there if one == "there" else one for one in body["sources"]]}
    refused = check_problem(await operator.post(path, json=body), 404, "source-not-found")
    assert refused["errors"] == [{"pointer": pointer, "detail": "names nothing that you may see"}]


async def test_an_empty_source_of_a_sweep_and_a_deleted_one_keep_their_own_codes(
    world: World, operator: httpx.AsyncClient
) -> None:
    there = await captured(operator)
    empty, gone = [(await operator.post("/captures", content=PCAP + end)).json()["id"] for end in (b"x", b"y")]
    await world.ready_capture(empty, hosts=0)
    await operator.delete(f"/captures/{gone}")

    async def refused(source: str, status: int, code: str) -> object:
        answer = await operator.post("/sweeps", json={"sources": [there, source], "configurations": ["C4"]})
        return check_problem(answer, status, code)["errors"]

    assert await refused(empty, 422, "source-empty") == [{"pointer": "/sources/1", "detail": "has no records"}]
    assert await refused(gone, 410, "source-gone") == [{"pointer": "/sources/1", "detail": "was deleted"}]


@pytest.mark.parametrize("digits", ["i" + "0" * 25, "0" * 25 + "u", "7" + "0" * 25, "0" * 25, "0" * 27, "0" * 10])
async def test_what_no_id_looks_like_is_refused_before_it_is_looked_up(
    operator: httpx.AsyncClient, digits: str
) -> None:
    asked = {
        "/releases": {"source": {"capture": f"cap_{digits}"}, "policy": "C4"},
        "/preview": {"source": {"dataset": f"dst_{digits}"}, "policy": "C4"},
        "/utility": {"sources": [f"rel_{digits}"]},
    }
    for path, body in asked.items():
        check_problem(await operator.post(path, json=body), 422, "body-invalid")
    check_problem(await operator.get(f"/releases/rel_{digits}"), 404, "not-found")
