"""The clock: what follows from a fact is not dated before it, whatever the clock was set to in between."""

from datetime import UTC, datetime, timedelta

import pytest

from pratique_shared.runtime import clock
from pratique_shared.runtime.clock import id_after, id_at, is_id, made_at, stamp_after

EARLIER, LATER = "2026-03-01T12:00:00.000000Z", "2026-03-02T12:00:00.000001Z"


def test_a_moment_is_no_earlier_than_those_that_it_follows_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 3, 2, 12, tzinfo=UTC))
    assert stamp_after(EARLIER) == "2026-03-02T12:00:00.000000Z"
    assert stamp_after(EARLIER, LATER) == LATER


def test_an_id_comes_after_the_last_one_even_where_the_clock_was_set_back_a_day() -> None:
    ahead = id_at("aud", datetime.now(UTC) + timedelta(days=1), 2**80 - 1)
    assert id_after("aud", ahead) > ahead
    assert made_at(id_after("aud", ahead)) - made_at(ahead) == timedelta(milliseconds=1)
    behind = id_at("aud", datetime.now(UTC) - timedelta(days=1), 0)
    assert abs(made_at(id_after("aud", behind)) - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "name", [".nfs000000001", "rel_1", "rel_" + "i" * 26, "rel_7" + "z" * 25, "cap_" + "0" * 26, ""]
)
def test_a_name_that_others_gave_is_no_id(name: str) -> None:
    assert not is_id(name, "rel", "aud")


def test_an_id_is_one_of_its_kind_up_to_the_year_9774() -> None:
    assert is_id(id_at("rel", datetime(9774, 8, 21, tzinfo=UTC), 2**80 - 1), "aud", "rel")
    assert made_at("rel_6" + "z" * 25).year == 9774
