"""The awaited client keeps every rule of the one that blocks: it is the same plans over another transport."""

import asyncio
import inspect
from pathlib import Path

import httpx
import pytest

from pratique import AsyncClient, Client, GateFailed, Profile, Refused
from pratique.verb import Listing, Verb
from tests.unit.client.certified import PARQUET, answers
from tests.unit.client.scripted import Scripted, busy, file_answer, problem


def state(status: str) -> httpx.Response:
    return httpx.Response(200, json={"id": "rel_01", "status": status, "verdict": None})


def test_both_clients_have_the_same_verbs() -> None:
    def verbs(kind: type) -> set[str]:
        every = {name for one in kind.__mro__ for name, value in vars(one).items() if isinstance(value, Verb | Listing)}
        return {name for name in every if callable(getattr(kind, name))}

    assert verbs(Client) == verbs(AsyncClient)
    assert {"require", "push_capture", "cached_records", "api_keys"} <= verbs(AsyncClient)


def test_every_verb_says_what_it_does() -> None:
    verbs = [value for one in Client.__mro__ for value in vars(one).values() if isinstance(value, Verb | Listing)]
    assert [verb for verb in verbs if not inspect.getdoc(verb)] == []


async def test_a_busy_service_is_asked_again_with_the_same_key_after_the_time_that_it_names() -> None:
    service = Scripted(busy("7"), problem(429, "too-many"), httpx.Response(202, json={"id": "rel_01"}))
    async with service.async_client() as client:
        assert (await client.create_release({"policy": "C4"}))["id"] == "rel_01"
    assert len({request.headers["Idempotency-Key"] for request in service.asked}) == 1
    assert service.slept[0] == 7
    assert 0.25 <= service.slept[1] < 0.5


async def test_a_release_is_waited_for_and_required() -> None:
    service = Scripted(state("queued"), state("attacking"), state("completed"), *answers())
    async with service.async_client() as client:
        assert (await client.wait_release("rel_01"))["status"] == "completed"
        assert (await client.require("rel_01", Profile(k=4))).rows == 8
    with pytest.raises(GateFailed):
        await Scripted(*answers()).async_client().require("rel_01", Profile(k=5))


async def test_a_list_is_walked_with_async_for() -> None:
    service = Scripted(
        httpx.Response(200, json={"data": [{"id": "rel_3"}, {"id": "rel_2"}], "next": "c"}),
        httpx.Response(200, json={"data": [{"id": "rel_1"}], "next": None}),
    )
    async with service.async_client() as client:
        assert [each["id"] async for each in client.releases()] == ["rel_3", "rel_2", "rel_1"]


async def test_a_capture_is_sent_in_pieces_and_whole_again_after_a_break(tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(bytes(range(256)) * 9)
    received: list[bytes] = []

    async def service(request: httpx.Request) -> httpx.Response:
        received.append(await request.aread())
        if len(received) == 1:
            raise httpx.WriteError("gone")
        return httpx.Response(202, json={"id": "cap_01"})

    async with AsyncClient(
        "http://127.0.0.1:8080", "key", transport=httpx.MockTransport(service), environ={}
    ) as client:
        assert (await client.push_capture(file))["id"] == "cap_01"
    assert received == [file.read_bytes()] * 2


async def test_records_are_kept_by_digest_side_by_side(tmp_path: Path) -> None:
    service = Scripted(file_answer(PARQUET, ETag='"1"'), file_answer(PARQUET, ETag='"1"'), problem(403, "gate-failed"))
    async with service.async_client() as client:
        both = (client.download_records("rel_01", tmp_path / f"{n}.parquet") for n in range(2))
        assert {each.path.read_bytes() for each in await asyncio.gather(*both)} == {PARQUET}
        with pytest.raises(Refused):
            await client.cached_records("rel_02", folder=tmp_path / "cache")


async def test_a_wait_that_is_cancelled_leaves_no_half_file(tmp_path: Path) -> None:
    begun = asyncio.Event()

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self):  # type: ignore[no-untyped-def] # noqa: ANN204 - as httpx has it
            yield PARQUET
            begun.set()
            await asyncio.sleep(60)

    def service(request: httpx.Request) -> httpx.Response:
        answer = file_answer(PARQUET)
        return httpx.Response(200, stream=Endless(), headers=answer.headers)

    async with AsyncClient(
        "http://127.0.0.1:8080", "key", transport=httpx.MockTransport(service), environ={}
    ) as client:
        task = asyncio.create_task(client.download_records("rel_01", tmp_path / "r.parquet"))
        await begun.wait()
        assert len(list(tmp_path.iterdir())) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert list(tmp_path.iterdir()) == []
