"""Ladders: the levels that a column could be published at."""

import polars as pl
import pytest

from pratique_privacy.recommendation.ladder import ladder_of
from pratique_shared.contracts.policy import Hierarchy
from pratique_shared.contracts.problems import PolicyRefused


def rungs(column: pl.Series, hierarchy: Hierarchy | None = None) -> list[tuple[int, list[dict[str, object]]]]:
    ladder = ladder_of(column, hierarchy)
    excluded = {"column", "table", "name"}
    return [
        (level.domain, [step.model_dump(exclude=excluded, exclude_none=True) for step in level.steps])
        for level in ladder.levels
    ]


def test_addresses_climb_to_their_networks_and_levels_that_join_nothing_are_left_out() -> None:
    addresses = pl.Series("ip", ["10.0.0.1", "10.0.0.200", "10.0.9.1", "10.9.0.1", "11.0.0.1"])
    assert rungs(addresses) == [
        (5, []),  # a /28 would part them like the addresses themselves
        (4, [{"op": "ip_prefix", "v4": 24, "v6": 64}]),
        (3, [{"op": "ip_prefix", "v4": 16, "v6": 48}]),
        (2, [{"op": "ip_prefix", "v4": 8, "v6": 32}]),
        (1, [{"op": "cell"}]),
    ]


def test_numbers_climb_through_bins_that_nest() -> None:
    found = rungs(pl.Series("n", range(1000)))
    widths = [step[0]["width"] for _, step in found if step and step[0]["op"] == "bin"]
    assert widths == [50.0, 100.0, 500.0]
    assert [domain for domain, _ in found] == [1000, 20, 10, 2, 1]


def test_the_hour_of_the_day_and_the_day_are_two_ways_up() -> None:
    times = pl.Series("at", [f"2026-01-0{day}T{hour:02}:00:00Z" for day in (1, 2) for hour in (1, 2, 3)])
    ladder = ladder_of(times)
    units = [level.steps[0].model_dump().get("unit") for level in ladder.levels[1:]]
    assert units == ["day", "hour_of_day", None]  # minutes to hours join nothing here
    day, hour, star = 1, 2, 3
    assert not ladder.coarser[day, hour]
    assert not ladder.coarser[hour, day]
    assert ladder.coarser[:, star].all()
    assert ladder.coarser[0].all()


def test_sets_of_protocols_climb_to_families_and_other_text_to_prefixes() -> None:
    assert [d for d, _ in rungs(pl.Series("p", [["NGAP"], ["S1AP"], ["PFCP"]]))] == [3, 2, 1]
    assert rungs(pl.Series("cell", ["ab1", "ab2", "ab3", "cd1"])) == [
        (4, []),
        (2, [{"op": "text_prefix", "n": 2}]),
        (1, [{"op": "cell"}]),
    ]
    assert [d for d, _ in rungs(pl.Series("yes", [True, False, None]))] == [3, 2]
    assert rungs(pl.Series("same", ["x", "x"])) == [(1, [])]


def test_a_hierarchy_gives_its_own_levels_and_must_know_every_value() -> None:
    table = {"SCTP": ("signalling", "any"), "NGAP": ("signalling", "any"), "DNS": ("naming", "any")}
    given = Hierarchy(column="x", op="hierarchy", table=table)
    found = rungs(pl.Series("p", ["SCTP", "NGAP", "DNS"]), given)
    assert found == [(3, []), (2, [{"op": "hierarchy", "level": 1}]), (1, [{"op": "hierarchy", "level": 2}])]
    with pytest.raises(PolicyRefused) as refused:
        ladder_of(pl.Series("p", ["SCTP", "QUIC"]), given)
    assert refused.value.code == "hierarchy-gap"
