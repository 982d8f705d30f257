"""Mechanisms: the ways of publishing a profile that the report holds against each other (Gil et al. 2025)."""

from collections.abc import Sequence

import numpy as np

from pratique_local.paper.generalisation import Critical, Levels, Profiles, Way
from pratique_privacy.generalisation.comparators import compare
from pratique_privacy.generalisation.mechanism import Task, entropy, generalise
from pratique_privacy.generalisation.taxonomy import Taxonomy, taxonomy_of


class Solved:
    """Answers by the optima that the service itself gives."""

    def critical(self, profile: Sequence[float], levels: Levels) -> Critical:
        """Return the critical rate of one profile under a hierarchy, with closed form and entropy."""
        taxonomy = _taxonomy(levels, len(profile))
        found = generalise(Task(taxonomy, np.array([profile]), np.zeros(1))).critical
        assert found.bound is not None
        return Critical(float(found.rate[0]), float(found.bound[0]), float(found.entropy[0]))

    def entropies(self, way: Way, profiles: Profiles, levels: Levels, rate: float) -> Profiles:
        """Return the greatest entropy of each profile (nats) that a way of publishing reaches at a rate."""
        if way == "generalisation":
            taxonomy = _taxonomy(levels, profiles.shape[1])
            return generalise(Task(taxonomy, profiles, np.full(len(profiles), rate))).entropy
        return entropy(np.array([compare(way, profile, rate).apparent for profile in profiles]))


def _taxonomy(levels: Levels, leaves: int) -> Taxonomy:
    return taxonomy_of([[list(group) for group in level] for level in levels], leaves)
