"""The life of a delivery: due by the schedule, over once it was taken, begun anew when it is asked for again."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from pratique_privacy.notices.archive import delivery_id
from pratique_privacy.notices.facts import Event, Owed, Tried
from pratique_privacy.notices.flow import (
    SUBSCRIPTION_TRIES,
    WEBHOOK_TRIES,
    Buffer,
    Delivery,
    Standing,
    bundles,
    standing,
)
from pratique_shared.runtime.clock import made_at, text_of

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
EVENT = Event(type="release.completed", subject="rel_1", at=text_of(NOON), data={})


def owed(number: int = 0, seconds: float = 0.0) -> Owed:
    at = text_of(NOON + timedelta(seconds=seconds))
    return Owed(id=f"dlv_{number}", endpoint="whk_1", event=EVENT, at=at)


def tried(seconds: float, result: str = "failed", number: int = 0) -> Tried:
    at = text_of(NOON + timedelta(seconds=seconds))
    return Tried.model_validate({"round": number, "result": result, "at": at})


def test_the_tries_follow_the_schedule_of_standard_webhooks() -> None:
    moments, tries = [], list[Tried]()
    while (due := standing(Delivery(owed(), tuple(tries)), WEBHOOK_TRIES).due) is not None:
        moments.append((due - NOON).total_seconds())
        tries.append(tried(moments[-1]))
    waits = [later - earlier for earlier, later in pairwise(moments)]
    hour = 3600
    assert moments[0] == 0
    assert waits == [5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]
    assert standing(Delivery(owed(), tuple(tries)), WEBHOOK_TRIES) == Standing("failed")


def test_a_subscription_is_tried_three_times_five_seconds_apart() -> None:
    tries = (tried(0), tried(5), tried(10))
    dues = [standing(Delivery(owed(), tries[:n]), SUBSCRIPTION_TRIES).due for n in range(4)]
    assert dues == [NOON, NOON + timedelta(seconds=5), NOON + timedelta(seconds=10), None]


@pytest.mark.parametrize("result", ["delivered", "dropped"])
def test_what_was_taken_or_dropped_is_over(result: str) -> None:
    stands = standing(Delivery(owed(), (tried(0), tried(5, result))), WEBHOOK_TRIES)
    assert (stands.status, stands.due) == (result, None)


def test_what_is_asked_for_again_begins_anew_and_at_once() -> None:
    again = text_of(NOON + timedelta(days=2))
    stands = standing(Delivery(owed(), (tried(0, "delivered"),), (again,)), WEBHOOK_TRIES)
    assert stands == Standing("pending", NOON + timedelta(days=2))
    after = (tried(0, "delivered"), tried(172_801, number=1))
    assert standing(Delivery(owed(), after, (again,)), WEBHOOK_TRIES).due == NOON + timedelta(seconds=172_806)


def test_a_buffer_sends_full_bundles_at_once_and_a_ripe_rest() -> None:
    ready = [Delivery(owed(number, seconds=number)) for number in range(5)]
    buffer = Buffer(2, timedelta(seconds=10))
    names = [[one.owed.id for one in bundle] for bundle in bundles(ready, buffer, NOON + timedelta(seconds=5))]
    assert names == [["dlv_0", "dlv_1"], ["dlv_2", "dlv_3"]]
    later = list(bundles(ready, buffer, NOON + timedelta(seconds=14)))  # the fifth has waited for 14 - 4 = 10 s
    assert [len(bundle) for bundle in later] == [2, 2, 1]
    assert [len(bundle) for bundle in bundles(ready, None, NOON)] == [1] * 5


def test_what_was_tried_before_waits_for_nobody() -> None:
    ready = [Delivery(owed(), (tried(0),))]
    assert len(list(bundles(ready, Buffer(10, timedelta(hours=1)), NOON))) == 1


def test_a_delivery_has_one_id_that_sorts_by_its_event() -> None:
    first = delivery_id("whk_1", EVENT, "")
    assert first == delivery_id("whk_1", EVENT, "")
    assert len({first, delivery_id("whk_2", EVENT, ""), delivery_id("whk_1", EVENT, "2026")}) == 3
    assert made_at(first) == NOON
