"""A taxonomy: leaves, and levels of groups above them, each level a partition that the next one only joins."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer

Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Groups = Sequence[Sequence[int]]

MAX_LEAVES = 10_000
MAX_LEVELS = 8


@dataclass(frozen=True)
class Level:
    """One level over leaves in tree order: where its groups begin, the group of each leaf, their sizes in leaves.

    `children` says where each group begins among the groups of the level below (the leaves, for the first level).
    """

    starts: Places
    group_of: Places
    sizes: Floats
    children: Places


@dataclass(frozen=True)
class Taxonomy:
    """A tree of `leaves` leaves and d levels.

    `order` lists the leaves so that every group of every level is a run; `levels` speak of leaves in that order.
    `copies` counts how many equal leaves a leaf stands for; all but a leaf without mass stand for themselves. `weights`
    is how an observer divides a group's mass among its leaves: like the copies, unless something else is known of them.
    """

    order: Places = field(repr=False)
    copies: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    levels: tuple[Level, ...]

    @property
    def leaves(self) -> int:
        """The number of leaves that are told apart."""
        return len(self.order)

    @property
    def even(self) -> bool:
        """Whether an observer spreads the mass of a group evenly."""
        return bool((self.weights == self.copies).all())

    def spread(self, masses: Sequence[Floats]) -> Floats:
        """Return what comes back to one unit of weight at each leaf, in tree order, from the masses of groups."""
        return sum(
            ((mass / level.sizes)[..., level.group_of] for mass, level in zip(masses, self.levels, strict=True)),
            start=np.zeros(self.leaves),
        )

    def sums(self, values: Floats, level: int) -> Floats:
        """Return the sum over each group of a level of values that stand in tree order on the last axis."""
        return np.add.reduceat(values, self.levels[level].starts, axis=-1)

    def means(self, values: Floats, level: int) -> Floats:
        """Return the mean over each group of a level, each leaf with its weight."""
        return self.sums(values * self.weights, level) / self.levels[level].sizes


def over_levels(values: Floats, factors: Floats | None = None) -> Floats:
    """Return the sum over the last axis, of values or of products: numpy's own sum over few levels takes longer."""
    if factors is None:
        total: Floats = np.einsum("bir->bi", values)
    else:
        total = np.einsum("bir,bir->bi" if factors.ndim == values.ndim else "bir,ir->bi", values, factors)
    return total


def taxonomy_of(
    levels: Sequence[Groups],
    leaves: int,
    copies: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
) -> Taxonomy:
    """Return the tree of these levels, finest first; each is a list of groups of leaf numbers 0 .. leaves - 1.

    `weights` are positive; without them groups are spread evenly.

    Raises `Unprocessable`: `taxonomy-size`, `taxonomy-no-partition`, `taxonomy-no-tree`.
    """
    check_size(len(levels), leaves)
    labels = [_labels(groups, leaves, depth) for depth, groups in enumerate(levels)]
    for depth in range(1, len(labels)):
        _check_joins(labels[depth - 1], labels[depth], levels[depth - 1], depth)
    order = np.lexsort((np.arange(leaves), *labels)).astype(np.int64)
    many = np.ones(leaves) if copies is None else np.asarray(copies, dtype=np.float64)
    heavy = many if weights is None else np.asarray(weights, dtype=np.float64)
    return Taxonomy(order, many[order], heavy[order], _levels(labels, order, heavy[order]))


def check_size(levels: int, leaves: int) -> None:
    """Refuse a taxonomy without a level or with more leaves or levels than are computed."""
    if not 1 <= levels <= MAX_LEVELS or not 1 <= leaves <= MAX_LEAVES:
        detail = f"A taxonomy has 1 to {MAX_LEVELS} levels over 1 to {MAX_LEAVES} leaves."
        advice = f"give 1 to {MAX_LEVELS} levels and profiles of at most {MAX_LEAVES} leaves"
        raise Unprocessable("taxonomy-size", detail, [FieldError("/taxonomy", advice)])


def _labels(groups: Groups, leaves: int, depth: int) -> Places:
    """Return the group of every leaf; refuse a level that misses a leaf, has one twice or one that is not there."""
    where = pointer("taxonomy", depth)
    listed = [leaf for group in groups for leaf in group]
    if not all(len(group) for group in groups):
        _refuse_partition(where, "has an empty group: leave it out")
    if listed and not 0 <= min(listed) <= max(listed) < leaves:
        _refuse_partition(where, f"names a leaf that the profiles do not have: leaves count from 0 to {leaves - 1}")
    named = np.array(listed, dtype=np.int64)
    counts = np.bincount(named, minlength=leaves)
    if counts.max() > 1:
        _refuse_partition(where, f"has {int((counts > 1).sum())} leaves in more than one place: name each once")
    if counts.min() < 1:
        _refuse_partition(where, f"misses {int((counts < 1).sum())} leaves: name each of {leaves} once")
    labels = np.empty(leaves, dtype=np.int64)
    labels[named] = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return labels


def _refuse_partition(where: str, advice: str) -> None:
    detail = "Every level of a taxonomy holds every leaf in exactly one group."
    raise Unprocessable("taxonomy-no-partition", detail, [FieldError(where, advice)])


def _check_joins(finer: Places, coarser: Places, groups: Groups, depth: int) -> None:
    """Refuse a level that cuts a group of the level below it."""
    firsts = np.array([group[0] for group in groups], dtype=np.int64)
    torn = np.unique(finer[coarser != coarser[firsts[finer]]])
    if torn.size:
        detail = "Levels run from fine to coarse: a level joins whole groups of the level before it."
        advice = f"cuts {torn.size} groups of level {depth}: keep the leaves of each of them together"
        raise Unprocessable("taxonomy-no-tree", detail, [FieldError(pointer("taxonomy", depth), advice)])


def _levels(labels: Sequence[Places], order: Places, weights: Floats) -> tuple[Level, ...]:
    made: list[Level] = []
    below = np.arange(len(order) + 1)
    for label in labels:
        in_order = label[order]
        starts = np.flatnonzero(np.diff(in_order, prepend=-1)).astype(np.int64)
        group_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
        children = np.searchsorted(below, starts).astype(np.int64)
        made.append(Level(starts, group_of.astype(np.int64), np.add.reduceat(weights, starts), children))
        below = starts
    return tuple(made)
