"""Recommendations: the least-loss policy that passes, held against the pipeline and against trying everything."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.gate import evaluate
from pratique_privacy.pipeline import Request, run
from pratique_privacy.policy.keys import Keys
from pratique_privacy.recommendation import Wish, recommend
from pratique_privacy.recommendation.appraisal import Appraisal
from pratique_privacy.recommendation.ladder import ladders_of
from pratique_privacy.recommendation.lattice import Lattice
from pratique_privacy.recommendation.recommend import prepared
from pratique_privacy.recommendation.search import pareto, spread
from pratique_shared.contracts.adversary import Linkage, PartialQi
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.gate import Bound, Gate
from pratique_shared.contracts.policy import Exemption, Policy
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.frames.partition import column_codes
from pratique_shared.frames.records import table_of
from tests.support.adversary_oracle import expected_linkage, expected_partial
from tests.support.adversary_oracle import table as rows_of_codes

NAMES = ("ip", "n", "t")
KEYS = Keys(bytes(32), bytes(32))


def still() -> float:
    return 0.0


def source(seed: int, rows: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return table_of(
        [
            {
                "ip": f"10.{draw.integers(2)}.{draw.integers(2)}.{draw.integers(3)}",
                "n": int(draw.integers(60)),
                "t": f"2026-01-0{draw.integers(1, 3)}T0{draw.integers(4)}:00:00Z",
                "role": str(draw.choice(["UE", "gNB", "AMF"], p=[0.6, 0.3, 0.1])),
            }
            for _ in range(rows)
        ]
    )


def wish(gate: Gate, **changed: object) -> Wish:
    plain = Wish(
        attributes=Attributes(quasi_identifiers=NAMES, sensitive=("role",)),
        gate=gate,
        first=(),
        hierarchies={},
        taus=(2, 4),
        exempt=None,
        ppi=PpiParameters(),
        partial_qi=PartialQi(),
        linkage=Linkage(),
    )
    return replace(plain, **changed)  # type: ignore[arg-type]


def everything(table: pl.DataFrame, asked: Wish) -> list[Appraisal]:
    """Return the appraisal of every policy of the lattice."""
    ladders = ladders_of(table, NAMES, asked.hierarchies)
    _, appraiser = prepared(table, ladders, asked, {})
    nodes = product(*(range(len(ladder.levels)) for ladder in ladders))
    return [found for node in nodes for found in appraiser.appraise(node)]


@pytest.mark.parametrize("exempt", [None, Exemption(column="role", rarest=1)])
def test_what_is_predicted_is_what_the_policy_gives(exempt: Exemption | None) -> None:
    table = source(1, 40)
    asked = wish({"k": Bound(min=2)}, exempt=exempt)
    found: Any = recommend(table, asked, {}, 1000, 60, still)
    assert len(found["front"]) > 5
    for told in found["front"]:
        policy = Policy.model_validate(told["policy"])
        made = run(table, Request(asked.attributes, policy, asked.ppi, None), KEYS, bytes)
        after, predicted = made.after.model_dump(), told["predicted"]
        for name in after.keys() & predicted.keys():
            assert predicted[name] == after[name], name
        assert predicted["survival"] == told["loss"]["survival"] == made.records.survival
        assert told["loss"]["label_survival"] == min(made.records.survival_by_label.values())
        released = rows_of_codes(column_codes(made.table, NAMES))
        assert predicted["partial_qi"] == pytest.approx(float(expected_partial(released, released, Fraction(1, 2))))
    released = rows_of_codes(column_codes(made.table, NAMES))
    assert predicted["linkage"] == pytest.approx(float(expected_linkage(released, released, Fraction(4, 5))))


GATES: list[Gate] = [
    {"k": Bound(min=3)},
    {"k": Bound(min=3), "survival": Bound(min=0.9)},
    {"t": Bound(max=0.3), "survival": Bound(min=0.5)},
    {"partial_qi": Bound(max=0.15)},
    {"l": Bound(min=2), "uniques": Bound(max=0), "exact_qi": Bound(max=0.2), "survival": Bound(min=0.7)},
    {"survival": Bound(min=1), "k": Bound(min=5)},
]


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 1000), st.sampled_from(GATES), st.booleans())
def test_nothing_that_passes_loses_less_than_what_is_recommended(seed: int, gate: Gate, exempted: bool) -> None:
    table = source(seed, 30)
    asked = wish(gate, exempt=Exemption(column="role", rarest=1) if exempted else None)
    found: Any = recommend(table, asked, {}, 10_000, 60, still)
    passing = [each for each in everything(table, asked) if evaluate(gate, each.figures).verdict == "pass"]
    assert found["proved"]
    assert found["search"]["cut"] is None
    if not passing:
        assert found["recommended"] is None
    else:
        least = min(each.entropy_loss for each in passing)
        assert found["recommended"]["loss"]["entropy"] == pytest.approx(least, abs=1e-9)


def point(appraisal: Appraisal) -> tuple[float, ...]:
    return tuple(round(figure, 12) for figure in (*appraisal.risks, *appraisal.losses))


def test_the_front_holds_what_nothing_betters() -> None:
    asked = wish({"k": Bound(min=2)})
    every = everything(source(3, 30), asked)
    points = {point(each) for each in every}

    def bettered(one: tuple[float, ...]) -> bool:
        return any(all(a <= b for a, b in zip(other, one, strict=True)) and other != one for other in points)

    assert {point(each) for each in pareto(every)} == {one for one in points if not bettered(one)}
    assert pareto([]) == []


def test_losses_are_worked_out() -> None:
    # Four addresses in two networks, of which one row each: in the network a value stands for 2 of 4, (2-1)/(4-1).
    table = table_of([{"ip": ip} for ip in ("10.0.0.1", "10.0.0.200", "10.9.9.1", "10.9.9.200")])
    ladders = ladders_of(table, ["ip"], {})
    asked = wish({}, attributes=Attributes(quasi_identifiers=("ip",)), taus=(2, 3))
    lattice, appraiser = prepared(table, ladders, asked, {})
    exact, network, one = (appraiser.appraise((level,))[0] for level in range(3))
    assert (exact.granularity_loss, exact.entropy_loss) == (0.0, 0.0)
    assert network.granularity_loss == pytest.approx(1 / 3)
    assert network.entropy_loss == pytest.approx(1 / 2)  # ln 2 / ln 4
    assert (one.granularity_loss, one.entropy_loss) == (1.0, 1.0)
    assert lattice.most_entropy == pytest.approx(4 * math.log(4))


def test_a_suppressed_row_is_lost_altogether() -> None:
    table = table_of([{"ip": ip} for ip in ("10.0.0.1", "10.0.0.1", "10.0.0.2")])
    asked = wish({}, attributes=Attributes(quasi_identifiers=("ip",)), taus=(2,))
    _, appraiser = prepared(table, ladders_of(table, ["ip"], {}), asked, {})
    plain, without = appraiser.appraise((0,))
    assert (plain.survival, without.survival, without.figures["k"]) == (1.0, 2 / 3, 2)
    assert without.granularity_loss == pytest.approx(1 / 3)
    # All suppressed: 2 ln(3/2) + ln 3; the one row: ln 3.
    assert without.entropy_loss == pytest.approx(math.log(3) / (2 * math.log(1.5) + math.log(3)))


def test_a_search_says_which_end_of_its_budget_cut_it() -> None:
    table, asked = source(5, 50), wish({"k": Bound(min=2)})
    few: Any = recommend(table, asked, {}, 5, 60, still)
    assert (few["search"]["cut"], few["search"]["evaluated"], few["proved"]) == ("evaluations", 5, False)
    ticks = iter(range(1000))
    slow: Any = recommend(table, asked, {}, 1000, 10, lambda: float(next(ticks)))
    assert (slow["search"]["cut"], slow["search"]["evaluated"]) == ("seconds", 9)


def test_a_bound_on_what_only_a_release_has_is_named_and_not_held() -> None:
    gate = {"k": Bound(min=2), "composition.k": Bound(min=2), "all_columns.uniques": Bound(max=0)}
    found: Any = recommend(source(6, 50), wish(gate), {}, 500, 60, still)
    assert found["not_held"] == ["composition.k", "all_columns.uniques"]
    assert found["recommended"] is not None


def test_a_lattice_that_is_too_large_is_refused_with_what_would_fit() -> None:
    names = [f"q{place}" for place in range(9)]
    table = table_of([dict.fromkeys(names, row * 7 % 101) for row in range(101)])
    asked = wish({}, attributes=Attributes(quasi_identifiers=tuple(names)))
    with pytest.raises(Unprocessable) as refused:
        recommend(table, asked, {}, 10, 60, still)
    assert refused.value.code == "lattice-too-large"


def test_nodes_come_by_rising_loss_and_the_finer_ones_are_known_as_such() -> None:
    table = source(7, 50)
    lattice = Lattice.over(ladders_of(table, NAMES, {}), [])
    losses = lattice.losses(lattice.nodes)
    assert (np.diff(losses) >= 0).all()
    assert lattice.finer_than((0, 0, 0)).sum() == 1
    assert lattice.finer_than(tuple(len(ladder.levels) - 1 for ladder in lattice.ladders)).all()
    assert len(lattice.nodes) == lattice.size


@pytest.mark.parametrize("places", [0, 1, 2, 7, 16])
def test_a_spread_order_names_every_place_once(places: int) -> None:
    assert sorted(spread(places)) == list(range(places))
