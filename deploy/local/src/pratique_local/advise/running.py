"""The constructor: the profile that an observer would have of the user so far."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pratique_privacy.generalisation.taxonomy import Floats

Start = Literal["zero", "uniform"]


@dataclass
class RunningProfile:
    """Weights by leaf. A declared profile stays as it is; an inferred one counts items and forgets old ones.

    `decay` is the part of the past that one item takes away: with d, an item of k items ago counts (1 - d)^k. An
    inferred profile starts with nothing, or as if one item of every leaf had been seen.
    """

    weights: Floats = field(repr=False)
    declared: bool = False
    decay: float = 0.0

    @classmethod
    def inferred(cls, leaves: int, start: Start, decay: float) -> "RunningProfile":
        """Return a profile that has seen nothing yet."""
        return cls(np.zeros(leaves) if start == "zero" else np.ones(leaves), decay=decay)

    def see(self, leaf: int) -> None:
        """Take in one item."""
        if not self.declared:
            self.weights = self.weights * (1 - self.decay)
            self.weights[leaf] += 1

    def shares(self) -> Floats | None:
        """Return the profile, or None before anything is known."""
        total = float(self.weights.sum())
        return self.weights / total if total > 0 else None
