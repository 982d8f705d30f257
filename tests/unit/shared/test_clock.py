"""The clock: what follows from a fact is not dated before it, whatever the clock was set to in between."""

from datetime import UTC, datetime

import pytest

from pratique_shared.runtime import clock
from pratique_shared.runtime.clock import stamp_after

EARLIER, LATER = "2026-03-01T12:00:00.000000Z", "2026-03-02T12:00:00.000001Z"


def test_a_moment_is_no_earlier_than_those_that_it_follows_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 3, 2, 12, tzinfo=UTC))
    assert stamp_after(EARLIER) == "2026-03-02T12:00:00.000000Z"
    assert stamp_after(EARLIER, LATER) == LATER
