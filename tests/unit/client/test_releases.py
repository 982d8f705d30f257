"""The calls around a release: waiting for it, walking lists."""

from collections.abc import Callable

import httpx
import pytest

from pratique import LocalFault, RunFailed, StillRunning, Unreachable
from pratique.plan import Pause, Plan, Work
from pratique.waiting import Patience, wait
from tests.unit.client.scripted import Scripted


def state(status: str, **further: object) -> httpx.Response:
    return httpx.Response(200, json={"id": "rel_01", "status": status, **further})


def test_a_release_is_waited_for_until_it_is_completed() -> None:
    service = Scripted(state("queued"), state("running"), state("attacking"), state("completed", verdict="fail"))
    seen: list[str] = []
    with service.client() as client:
        final = client.wait_release("rel_01", notice=lambda each: seen.append(each["status"]))
    assert final["verdict"] == "fail"
    assert seen == ["queued", "running", "attacking", "completed"]


@pytest.mark.parametrize(
    ("ending", "code"),
    [(state("failed", error={"code": "source-gone", "detail": "d"}), "source-gone"), (state("cancelled"), "cancelled")],
)
def test_a_release_that_ended_badly_is_an_error_with_the_services_code(ending: httpx.Response, code: str) -> None:
    with Scripted(ending).client() as client, pytest.raises(RunFailed) as caught:
        client.wait_release("rel_01")
    assert caught.value.code == code


class Hours:
    """A clock that only pauses move."""

    now = 0.0

    def clock(self) -> float:
        return self.now


def looking(hours: Hours, answers: Callable[[float], dict[str, object]], patience: Patience) -> dict[str, object]:
    """Perform a wait in which every look takes no time."""

    def look() -> Plan[dict[str, object]]:
        yield Work(lambda: None)
        return answers(hours.now)

    plan = wait(look, patience, clock=hours.clock)
    try:
        while True:
            step = next(plan)
            if isinstance(step, Pause):
                hours.now += step.seconds
    except StopIteration as done:
        final: dict[str, object] = done.value
        return final


def test_waiting_ends_when_the_time_given_is_over() -> None:
    with pytest.raises(StillRunning, match="rel_01"):
        looking(Hours(), lambda _: {"id": "rel_01", "status": "running"}, Patience(seconds=60))


def test_waiting_outlives_a_restart_of_the_service() -> None:
    def answers(now: float) -> dict[str, object]:
        if 5 < now < 20:
            raise Unreachable("no-connection", "gone")
        return {"id": "rel_01", "status": "completed" if now > 25 else "running"}

    hours = Hours()
    final = looking(hours, answers, Patience(seconds=600))
    assert final == {"id": "rel_01", "status": "completed"}
    assert 25 < hours.now < 28  # looks are at most 2 s apart


def test_waiting_ends_when_the_service_stays_away() -> None:
    hours = Hours()

    def answers(now: float) -> dict[str, object]:
        raise Unreachable("no-connection", "gone")

    with pytest.raises(Unreachable):
        looking(hours, answers, Patience())
    assert 30 < hours.now < 33


def test_a_list_is_walked_page_by_page() -> None:
    service = Scripted(
        httpx.Response(200, json={"data": [{"id": "cap_3"}, {"id": "cap_2"}], "next": "c2"}),
        httpx.Response(200, json={"data": [{"id": "cap_1"}], "next": None}),
    )
    with service.client() as client:
        assert [each["id"] for each in client.captures()] == ["cap_3", "cap_2", "cap_1"]
    assert [request.url.params.get("after") for request in service.asked] == [None, "c2"]


def test_pages_that_go_round_in_a_circle_are_no_list() -> None:
    page = {"data": [], "next": "c1"}
    service = Scripted(httpx.Response(200, json=page), httpx.Response(200, json=page))
    with service.client() as client, pytest.raises(Unreachable):
        list(client.releases())


@pytest.mark.parametrize("value", ["", ".", "..", "..."])
def test_an_id_that_would_lead_elsewhere_is_not_asked_for(value: str) -> None:
    service = Scripted()
    with service.client() as client, pytest.raises(LocalFault):
        client.release(value)
    assert service.asked == []


def test_an_id_stays_one_step_of_the_path() -> None:
    service = Scripted(state("queued"))
    with service.client() as client:
        client.release("../captures?x=1")
    assert service.asked[0].url.raw_path == b"/releases/..%2Fcaptures%3Fx%3D1"
