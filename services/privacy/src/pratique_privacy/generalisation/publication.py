"""An honest publication: what leaves keep, what was moved up to families, and what can be read back from the two."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pratique_privacy.generalisation.mechanism import entropy
from pratique_privacy.generalisation.taxonomy import Floats, Places, Taxonomy

_TRACE = 1e-9  # a share of all mass that a group would not publish


@dataclass(frozen=True)
class Publication:
    """Counts of leaves in their order, and of the groups of each level in tree order."""

    leaves: Places = field(repr=False)
    groups: tuple[Places, ...] = field(repr=False)


def publish(taxonomy: Taxonomy, counts: Places, strategy: Floats, chance: np.random.Generator) -> Publication:
    """Round a strategy to whole items: each leaf's count is divided by largest remainders, ties drawn from `chance`.

    Every item is published once, at its leaf or at a group above it: the sum of each top-level group never changes.
    `strategy` (leaves, levels) is in shares of all items.
    """
    total = int(counts.sum())
    moved = np.minimum(strategy * total, counts[:, None])
    kept = np.maximum(counts - moved.sum(axis=-1), 0)
    divided = divide(np.concatenate([kept[:, None], moved], axis=-1), counts, chance)
    in_order = divided[taxonomy.order]
    groups = tuple(np.add.reduceat(in_order[:, 1 + r], level.starts) for r, level in enumerate(taxonomy.levels))
    return Publication(divided[:, 0], groups)


def divide(parts: Floats, counts: Places, chance: np.random.Generator) -> Places:
    """Return whole numbers near `parts` (rows, parts) that sum to `counts`: largest remainders, ties by lot."""
    whole = np.floor(parts + 1e-9).astype(np.int64)
    whole = np.minimum(whole, counts[:, None])
    missing = counts - whole.sum(axis=-1)
    # Rounding may have given one too many: it is taken from the part that was rounded up most.
    remainder = np.round(parts - whole, 9)
    lots = chance.random(parts.shape)
    rank = np.argsort(np.lexsort((lots, -remainder), axis=-1), axis=-1)
    whole = whole + (rank < missing[:, None])
    lowest = parts.shape[1] - 1 - rank
    divided: Places = np.maximum(whole - (lowest < -missing[:, None]), 0)
    return divided


def apparent(taxonomy: Taxonomy, publication: Publication) -> Floats:
    """Return the profile that an observer gets by spreading each group's count evenly over its leaves."""
    back = taxonomy.spread([count.astype(np.float64) for count in publication.groups]) * taxonomy.weights
    shown = publication.leaves.astype(np.float64)
    shown[taxonomy.order] += back
    profile: Floats = shown / shown.sum()
    return profile


def apparent_entropy(taxonomy: Taxonomy, publication: Publication) -> float:
    """Return the entropy of the profile that an observer gets, in nats."""
    return float(entropy(apparent(taxonomy, publication)[taxonomy.order], taxonomy.copies))


def recoverable(taxonomy: Taxonomy, strategy: Floats, active: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the leaves whose true share follows from what is published, for who knows the policy (Gil et al. 2025).

    What leaves keep and what groups hold is published. An observer repeats the optimisation on it and learns which
    parts of a strategy can be positive (`active`, leaves by levels). A group without mass received none; the mass of a
    group with one possible giver is that giver's; that of several can be divided in many ways. A leaf is recovered if
    each of its parts is settled so.
    """
    order = taxonomy.order
    moved, giving = strategy[order], active[order]
    settled = np.ones(len(order), dtype=np.bool_)
    for depth, level in enumerate(taxonomy.levels):
        held = taxonomy.sums(moved[:, depth], depth) > _TRACE
        givers = taxonomy.sums(giving[:, depth] * taxonomy.copies, depth)
        open_ = held & (givers > 1)
        settled &= ~(open_[level.group_of] & giving[:, depth])
    found = np.empty(len(order), dtype=np.bool_)
    found[order] = settled
    return found


def names_of(taxonomy: Taxonomy, labels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the names of the groups of each level in tree order, from each leaf's ancestors."""
    firsts = [taxonomy.order[level.starts] for level in taxonomy.levels]
    return [[labels[leaf][depth] for leaf in leaves] for depth, leaves in enumerate(firsts)]
