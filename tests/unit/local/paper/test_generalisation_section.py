"""The section on generalisation, with a mechanism that answers at once."""

from collections.abc import Sequence

import numpy as np
import pytest

from pratique_local.paper.document import Figure, Table
from pratique_local.paper.generalisation import (
    HALVES,
    TOY,
    TOYS,
    WAYS,
    Critical,
    Levels,
    Profiles,
    Way,
    generalisation_section,
    random_profiles,
    runs,
)
from pratique_local.paper.mechanisms import Solved


class Flat:
    """Knows the closed form, and says that every way ends at the flat profile at a rate of one."""

    def critical(self, profile: Sequence[float], levels: Levels) -> Critical:
        bound = 1 - sum(len(group) * min(profile[leaf] for leaf in group) for group in levels[-1])
        means = [sum(profile[leaf] for leaf in group) / len(group) for group in levels[-1] for _ in group]
        return Critical(bound, bound, -sum(mean * float(np.log(mean)) for mean in means))

    def entropies(self, way: Way, profiles: Profiles, levels: Levels, rate: float) -> Profiles:
        assert levels == HALVES
        return np.full(len(profiles), np.log(16) * (0.5 + rate / 2))


def chance() -> np.random.Generator:
    return np.random.default_rng(1)


def test_the_known_values_of_the_toy_hierarchies_follow_from_the_closed_form() -> None:
    for levels, known in TOYS.values():
        found = Flat().critical(TOY, levels)
        assert (round(found.bound, 12), round(found.entropy, 4)) == (known.bound, known.entropy)


def test_groups_are_runs_of_leaves() -> None:
    assert runs(2, 3) == ((0, 1), (2, 3, 4))


def test_random_profiles_are_as_many_and_as_long_as_in_the_paper_and_repeatable() -> None:
    profiles = random_profiles(chance())
    assert profiles.shape == (608, 16)
    assert np.allclose(profiles.sum(axis=1), 1)
    assert np.array_equal(profiles, random_profiles(chance()))


def test_the_section_has_the_toys_the_means_and_their_curve() -> None:
    _, toys, _, means, curve = generalisation_section(Flat(), chance())
    assert isinstance(toys, Table)
    assert toys.rows[0] == ["7 + 3", "0.4100", "0.4100", "2.1463", "0.410", "0.41", "2.1463"]
    assert isinstance(means, Table)
    assert means.rows[-1] == ["0.50", *["0.7500"] * 4]
    assert isinstance(curve, Figure)
    assert "forgery on top" in curve.svg


def test_the_service_s_own_mechanism_gives_the_known_rates_of_the_toys() -> None:
    for levels, known in TOYS.values():
        found = Solved().critical(TOY, levels)
        assert found.rate == pytest.approx(known.rate, abs=1e-6)
        assert found.bound == pytest.approx(known.bound, abs=1e-9)
        assert found.entropy == pytest.approx(known.entropy, abs=5e-5)


def test_every_way_gains_entropy_with_its_rate_and_generalisation_ends_flat_inside_its_groups() -> None:
    profiles = random_profiles(chance())[:20]
    for way in WAYS:
        low, high = (Solved().entropies(way, profiles, HALVES, rate) for rate in (0.1, 0.4))
        assert (high > low - 1e-9).all()
        assert (high <= np.log(16) + 1e-9).all()
    halves = profiles.reshape(20, 2, 8).sum(axis=2)
    flat = -(halves * np.log(halves / 8)).sum(axis=1)
    assert Solved().entropies("generalisation", profiles, HALVES, 1.0) == pytest.approx(flat, abs=1e-6)
