"""The calls around a release: waiting for it, requiring its gate, walking lists."""

from collections.abc import Callable

import httpx
import pytest

from pratique import GateFailed, LocalFault, RunFailed, StillRunning, Unreachable
from pratique.waiting import Patience, wait
from tests.unit.client.scripted import Scripted, problem

CHECKS = [
    {"metric": "k", "op": ">=", "bound": 3, "value": 2, "status": "fail"},
    {"metric": "t", "op": "<=", "bound": 0.5, "value": 0.25, "status": "pass"},
]


def state(status: str, **further: object) -> httpx.Response:
    return httpx.Response(200, json={"id": "rel_01", "status": status, **further})


def posture(status: str, verdict: str | None, checks: object = ()) -> httpx.Response:
    return httpx.Response(
        200,
        json={
            "release": "rel_01",
            "status": status,
            "verdict": verdict,
            "gate": {"verdict": verdict, "checks": checks},
        },
    )


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
    """A clock that only sleep moves."""

    now = 0.0

    def sleep(self, pause: float) -> None:
        self.now += pause

    def clock(self) -> float:
        return self.now


def looking(
    answers: Callable[[float], dict[str, object]], patience: Patience
) -> tuple[Hours, dict[str, object] | None]:
    hours = Hours()
    return hours, wait(lambda: answers(hours.now), patience, sleep=hours.sleep, clock=hours.clock)


def test_waiting_ends_when_the_time_given_is_over() -> None:
    with pytest.raises(StillRunning, match="rel_01"):
        looking(lambda _: {"id": "rel_01", "status": "running"}, Patience(seconds=60))


def test_waiting_outlives_a_restart_of_the_service() -> None:
    def answers(now: float) -> dict[str, object]:
        if 5 < now < 20:
            raise Unreachable("no-connection", "gone")
        return {"id": "rel_01", "status": "completed" if now > 25 else "running"}

    hours, final = looking(answers, Patience(seconds=600))
    assert final == {"id": "rel_01", "status": "completed"}
    assert 25 < hours.now < 28  # looks are at most 2 s apart


def test_waiting_ends_when_the_service_stays_away() -> None:
    hours = Hours()

    def answers() -> dict[str, object]:
        raise Unreachable("no-connection", "gone")

    with pytest.raises(Unreachable):
        wait(answers, Patience(), sleep=hours.sleep, clock=hours.clock)
    assert 30 < hours.now < 33


def test_require_returns_the_posture_of_a_release_that_passes() -> None:
    with Scripted(posture("completed", "pass")).client() as client:
        assert client.require("rel_01")["verdict"] == "pass"


@pytest.mark.parametrize(
    ("verdict", "told"), [("fail", "fail"), ("indeterminate", "indeterminate"), (None, "indeterminate")]
)
def test_require_raises_for_every_verdict_but_pass(verdict: str | None, told: str) -> None:
    with Scripted(posture("completed", verdict, CHECKS)).client() as client, pytest.raises(GateFailed) as caught:
        client.require("rel_01")
    assert (caught.value.verdict, caught.value.checks) == (told, tuple(CHECKS))
    assert str(caught.value) == f"The gate of rel_01 says {told} on k."


def test_require_does_not_take_a_running_release_for_a_passing_one() -> None:
    with Scripted(posture("attacking", "pass")).client() as client, pytest.raises(StillRunning):
        client.require("rel_01")


def test_require_passes_on_that_a_release_is_withdrawn() -> None:
    with Scripted(problem(410, "withdrawn")).client() as client, pytest.raises(Exception, match="It is so") as caught:
        client.require("rel_01")
    assert not isinstance(caught.value, GateFailed)


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
