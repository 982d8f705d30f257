"""Datasets: tables read in a child, kept as Parquet."""

import httpx
import pytest

from tests.unit.privacy.http.world import World, check_problem

CSV = {"Content-Type": "text/csv; charset=utf-8"}


async def test_a_table_is_taken_in_with_its_columns(world: World, operator: httpx.AsyncClient) -> None:
    answer = await operator.post("/datasets?name=ev&pilot=lab", content=b"a,b\n1,x\n", headers=CSV)
    body = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/datasets/{body['id']}")
    assert body["rows"] == 2
    assert body["columns"] == [{"name": "a", "type": "integer"}, {"name": "b", "type": "text"}]
    assert (await operator.get(f"/datasets/{body['id']}")).json() == body
    assert (await operator.get("/datasets")).json() == {"data": [body], "next": None}
    ready, _ = await world.archive.dataset("acme", body["id"])
    assert (await world.archive.captures_room.blob_bytes(ready.table)).startswith(b"PAR1")


@pytest.mark.parametrize("media", ["", "application/octet-stream", "application/vnd.apache.parquet"])
async def test_a_kind_that_is_not_read_is_a_415(operator: httpx.AsyncClient, media: str) -> None:
    check_problem(
        await operator.post("/datasets", content=b"PAR1", headers={"Content-Type": media}), 415, "not-a-table"
    )


async def test_an_idempotency_key_stands_for_one_table(world: World, operator: httpx.AsyncClient) -> None:
    headers = {**CSV, "Idempotency-Key": "k"}
    first = await operator.post("/datasets", content=b"a\n1\n", headers=headers)
    again = await operator.post("/datasets", content=b"a\n1\n", headers=headers)
    assert (again.json(), again.headers["idempotent-replayed"]) == (first.json(), "true")
    check_problem(await operator.post("/datasets", content=b"a\n2\n", headers=headers), 422, "idempotency-key-reused")
    assert [name for name, _ in world.tables.calls] == ["dataset"]


async def test_a_deleted_table_is_gone(world: World, operator: httpx.AsyncClient) -> None:
    identity = (await operator.post("/datasets", content=b"a\n1\n", headers=CSV)).json()["id"]
    assert (await operator.delete(f"/datasets/{identity}")).status_code == 204
    check_problem(await operator.get(f"/datasets/{identity}"), 410, "deleted")
    assert (await operator.get("/datasets")).json()["data"] == []
    answer = await operator.post("/releases", json={"source": {"dataset": identity}, "policy": "C4"})
    check_problem(answer, 410, "source-gone")


async def test_a_release_of_a_table_is_admitted_by_its_rows(world: World, operator: httpx.AsyncClient) -> None:
    identity = (await operator.post("/datasets?pilot=lab", content=b"a\n1\n", headers=CSV)).json()["id"]
    assert (await operator.post("/releases", json={"source": {"dataset": identity}, "policy": "C4"})).status_code == 202
    name, given = world.tables.calls[-1]
    assert (name, given["source"].media, given["source"].data, given["source"].pilot, given["columns"]) == (
        "admit",
        "parquet",
        b"PAR1a\n1\n",
        "lab",
        None,
    )
