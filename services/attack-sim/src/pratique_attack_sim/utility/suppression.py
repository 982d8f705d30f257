"""Suppression of a training part: records in small classes leave, unless their label is exempt."""

import numpy as np

from pratique_attack_sim.utility.table import RankTable, Rows


def survivors(table: RankTable, training: Rows, tau: int, exempt_rarest: int) -> Rows:
    """Return the rows of the training part whose class has at least `tau` rows there, or whose label is exempt.

    The classes are those of the whole feature tuple, counted inside the training part: a recipient of the training
    part sees no more of a record than that. Exempt are the `exempt_rarest` rarest labels of the table (Kekatos et al.
    2026, §V-G).
    """
    _, classes, sizes = np.unique(table.features[training], axis=0, return_inverse=True, return_counts=True)
    kept = sizes[classes.reshape(-1)] >= tau
    kept |= np.isin(table.labels[training], table.rarest(exempt_rarest))
    return training[kept]
