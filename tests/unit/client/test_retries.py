"""A request that met a busy or vanished service is sent again, and never does a thing twice."""

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from pratique import Refused, Unreachable
from pratique.plan import Retry, retry_after
from tests.unit.client.scripted import Scripted, busy, problem

ACCEPTED = {"id": "rel_01", "status": "queued"}


def accepted() -> httpx.Response:
    return httpx.Response(202, json=ACCEPTED)


def test_a_release_is_asked_for_again_with_the_same_idempotency_key() -> None:
    service = Scripted(busy(), httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), accepted())
    with service.client() as client:
        assert client.create_release({"policy": "C4"}) == ACCEPTED
    keys = [request.headers["Idempotency-Key"] for request in service.asked]
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert {request.content for request in service.asked} == {b'{"policy": "C4"}'}


def test_two_releases_asked_for_have_two_idempotency_keys() -> None:
    service = Scripted(accepted(), accepted())
    with service.client() as client:
        client.create_release({})
        client.create_release({})
    first, second = (request.headers["Idempotency-Key"] for request in service.asked)
    assert first != second


def test_a_key_of_ones_own_is_sent_as_it_is() -> None:
    service = Scripted(accepted())
    with service.client() as client:
        client.create_release({}, idempotency_key="round-12")
    assert service.asked[0].headers["Idempotency-Key"] == "round-12"


def test_a_capture_cut_off_on_its_way_is_sent_whole_again(tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(bytes(range(256)) * 9)
    service = Scripted(httpx.WriteError("gone"), busy(), httpx.Response(202, json={"id": "cap_01"}))
    with service.client() as client:
        client.push_capture(file)
    assert [request.content for request in service.asked] == [file.read_bytes()] * 3
    assert len({request.headers["Idempotency-Key"] for request in service.asked}) == 1


def test_retry_after_is_waited_for_and_pauses_double_without_it() -> None:
    service = Scripted(busy(), busy("7"), problem(429, "too-many"), accepted())
    with service.client() as client:
        client.create_release({})
    first, second, third = service.slept
    assert 0.125 <= first < 0.25  # half of 0.25 s is fixed, half is spread
    assert second == 7
    assert 0.5 <= third < 1.0


def test_a_pause_never_exceeds_the_longest_one() -> None:
    retry = Retry(first_pause=1.0, longest_pause=4.0)
    assert [retry.pause(n, None, share=0.0) for n in (1, 2, 3, 4, 50)] == [0.5, 1.0, 2.0, 2.0, 2.0]


def test_the_retries_end_after_five_attempts() -> None:
    service = Scripted(*(httpx.ConnectError("refused") for _ in range(9)))
    with service.client() as client, pytest.raises(Unreachable) as caught:
        client.capture("cap_01")
    assert (caught.value.code, len(service.asked)) == ("no-connection", 5)


def test_a_retry_after_beyond_the_budget_is_told_instead_of_waited_for() -> None:
    service = Scripted(busy("3600"))
    with service.client() as client, pytest.raises(Refused) as caught:
        client.capture("cap_01")
    assert (caught.value.status, caught.value.retry_after, service.slept) == (503, 3600.0, [])


def test_pauses_together_stay_within_the_budget() -> None:
    service = Scripted(*(busy("25") for _ in range(9)))
    with service.client() as client, pytest.raises(Refused):
        client.capture("cap_01")
    assert service.slept == [25, 25]  # a third would make 75 s of 60


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 415, 422, 500, 507])
def test_an_answer_that_says_no_for_good_is_asked_once(status: int) -> None:
    service = Scripted(problem(status, "no"))
    with service.client() as client, pytest.raises(Refused) as caught:
        client.create_release({})
    assert (caught.value.status, len(service.asked)) == (status, 1)


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    noon = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after("12") == 12.0
    assert retry_after("Fri, 01 May 2026 12:00:30 GMT", lambda: noon) == 30.0
    assert retry_after("Fri, 01 May 2026 11:00:00 GMT", lambda: noon) == 0.0
    assert retry_after("soon") is None
    assert retry_after(None) is None
