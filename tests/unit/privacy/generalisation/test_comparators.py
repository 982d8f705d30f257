"""Forgery and suppression show the flattest profile that their rate allows."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pratique_privacy.generalisation.comparators import COMPARATORS, Comparator, compare
from pratique_privacy.generalisation.mechanism import entropy
from tests.support.beside import golden
from tests.unit.privacy.generalisation.peer import PAPER

CRITICAL = {"forgery": "rho_crit", "forgery2": "rho2_crit", "suppression": "sigma_crit"}


@pytest.mark.parametrize("name", ["w01", "w03", "w05"])
def test_golden_levels_are_met(name: str) -> None:
    case = json.loads(Path(golden("cases") / f"{name}.json").read_text())
    profile, right = np.array(case["input"]["q"]), case["expected"]
    for kind in COMPARATORS:
        found = compare(kind, profile, case["input"]["rate"])
        assert found.critical == pytest.approx(right[CRITICAL[kind]]["float"], abs=1e-12)
        assert found.apparent == pytest.approx([share["float"] for share in right[kind]["t"]], abs=1e-12)
        assert float(entropy(found.apparent)) == pytest.approx(right[kind]["H"], abs=1e-12)


def test_the_critical_rates_of_the_published_example() -> None:
    profile = np.array(PAPER)
    # 1 - 1/(10 x .25), 10 x .25 - 1, 1 - 10 x .02
    assert [compare(kind, profile, 0).critical for kind in COMPARATORS] == pytest.approx([0.6, 1.5, 0.8])


@pytest.mark.parametrize("kind", COMPARATORS)
@pytest.mark.parametrize("profile", [[0.5, 0.3, 0.2], [0.7, 0.3, 0.0], [0.4, 0.4, 0.2]])
@pytest.mark.parametrize("rate", [0.1, 0.25])
def test_no_other_mixture_is_flatter(kind: Comparator, profile: list[float], rate: float) -> None:
    q = np.array(profile)
    steps = 50
    most = 0.0
    for first, second in product(range(steps + 1), repeat=2):
        if first + second <= steps:
            change = rate * np.array([first, second, steps - first - second]) / steps
            shown = {
                "forgery": (1 - rate) * q + change,
                "forgery2": (q + change) / (1 + rate),
                "suppression": (q - change) / (1 - rate),
            }[kind]
            if (shown >= 0).all():
                most = max(most, float(entropy(shown)))
    found = float(entropy(compare(kind, q, rate).apparent))
    assert most - 1e-12 <= found <= most + 5e-4


@pytest.mark.parametrize("kind", COMPARATORS)
def test_beyond_the_critical_rate_nothing_is_left_to_see(kind: Comparator) -> None:
    assert compare(kind, np.array([0.9, 0.1, 0.0]), 5).apparent == pytest.approx([1 / 3] * 3)
    assert compare(kind, np.array([0.9, 0.1, 0.0]), 0).apparent == pytest.approx([0.9, 0.1, 0.0])
