"""The classes of a node, and the counts that every threshold of suppression is judged by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pratique_privacy.metrics.cells import Cells
from pratique_privacy.metrics.sensitive import Categories
from pratique_privacy.recommendation.lattice import Costs, Lattice, Node, Weights
from pratique_shared.frames.partition import Codes, class_labels

Kept = npt.NDArray[np.bool_]
TABLE = 2**22  # keys below this are counted in a table, whatever the rows: 4 MB, two milliseconds


@dataclass(frozen=True)
class Crossed:
    """The non-empty cells of part x value, by part and then by value."""

    parts: npt.NDArray[np.intp] = field(repr=False)
    values: Weights = field(repr=False)
    counts: Weights = field(repr=False)


@dataclass(frozen=True)
class Classes:
    """The classes of a node in parts: rows that suppression spares are a part of their own.

    Of each part its class, its rows, the rows of its class, its values by column, and what it costs: added over rows,
    as it stands and if it were suppressed.
    """

    node: Node
    owners: Codes = field(repr=False)
    sizes: Weights = field(repr=False)
    class_sizes: Weights = field(repr=False)
    spared: Kept = field(repr=False)
    columns: tuple[Codes, ...] = field(repr=False)
    granularity: Costs = field(repr=False)
    entropy: Costs = field(repr=False)
    all_entropy: Costs = field(repr=False)
    crossed: tuple[Crossed, ...] = field(repr=False)

    def kept(self, tau: int) -> Kept:
        """Return which parts stay when classes of fewer than `tau` rows leave."""
        return (self.class_sizes >= tau) | self.spared


def classes_at(lattice: Lattice, node: Node, exempt: Kept | None, attributes: Sequence[Categories]) -> Classes:
    """Return the classes at a node, with the cells of each attribute."""
    units = [lattice.codes[column][level] for column, level in enumerate(node)]
    owners = labels_of(units)
    parts = owners if exempt is None else labels_of([owners, exempt.astype(np.int32)])
    count = int(parts.max()) + 1
    sizes = np.bincount(parts, lattice.weights, count).astype(np.int64)
    first = np.zeros(count, np.intp)
    first[parts] = np.arange(parts.size)
    columns = tuple(unit[first] for unit in units)
    costs = [lattice.costs[column][level] for column, level in enumerate(node)]
    each = zip(costs, columns, strict=True)
    granularity = sizes * np.sum([cost.granularity[codes] for cost, codes in each], axis=0)
    each = zip(costs, columns, strict=True)
    together = sizes * np.sum([cost.logarithm[codes] for cost, codes in each], axis=0)
    originals = np.bincount(parts, lattice.weighted_originals, count)
    everything = (sizes * (len(node) * np.log(lattice.rows))).astype(np.float64)
    return Classes(
        node=node,
        owners=owners[first],
        sizes=sizes,
        class_sizes=np.bincount(owners, lattice.weights).astype(np.int64)[owners[first]],
        spared=np.zeros(count, np.bool_) if exempt is None else exempt[first],
        columns=columns,
        granularity=granularity,
        entropy=together - originals,
        all_entropy=everything - originals,
        crossed=tuple(_crossed(parts, count, attribute, lattice.weights) for attribute in attributes),
    )


def _crossed(parts: Codes, count: int, attribute: Categories, weights: Weights) -> Crossed:
    width = attribute.count
    keys = parts.astype(np.int64) * width + attribute.codes
    if count * width <= max(TABLE, 4 * keys.size):
        table = np.bincount(keys, weights)
        there = np.flatnonzero(table)
        counts = table[there].astype(np.int64)
    else:
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        starts = np.flatnonzero(np.diff(ranked, prepend=-1))
        there, counts = ranked[starts], np.add.reduceat(weights[order], starts)
    owners, values = np.divmod(there, width)
    return Crossed(owners.astype(np.intp), values, counts)


def kept_cells(
    crossed: Crossed, kept: Kept, owners: Codes, sizes: Weights, attribute: Categories
) -> tuple[Cells, int | None]:
    """Return the cells of class x value over the parts that stay, and the code of what is empty.

    `owners` are the classes of those parts. Only values that are left have a code.
    """
    stays = kept[crossed.parts]
    place = np.cumsum(kept) - 1
    classes = owners[place[crossed.parts[stays]]].astype(np.int64)
    values, counts = crossed.values[stays], crossed.counts[stays]
    totals = np.bincount(values, counts, attribute.count).astype(np.int64)
    present = totals > 0
    renamed = np.cumsum(present) - 1
    width = int(present.sum())
    keys = classes * width + renamed[values]
    if not (keys[1:] > keys[:-1]).all():  # parts of one class, one spared and one not, are one again
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    of, value = np.divmod(keys[starts], width)
    cells = Cells(
        owners=of,
        values=value,
        counts=np.add.reduceat(counts, starts),
        starts=np.flatnonzero(np.diff(of, prepend=-1)),
        sizes=sizes,
        totals=totals[present],
    )
    empty = attribute.empty
    return cells, None if empty is None or not present[empty] else int(renamed[empty])


class Distinct:
    """Distinct projections on every subset of columns; those of whole tables are kept for the nodes that share them."""

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._known: dict[tuple[tuple[int, int], ...], int] = {}

    def of_node(self, node: Node, classes: int) -> list[tuple[int, int]]:
        """Return (size, distinct) of every subset of columns at their levels; `classes` is that of all of them."""
        levels = tuple(enumerate(node))
        found = [(0, 1), (len(node), classes)]
        for size in range(1, len(node)):
            found += [(size, self._count(subset)) for subset in combinations(levels, size)]
        return found

    def _count(self, subset: tuple[tuple[int, int], ...]) -> int:
        if subset not in self._known:
            if len(subset) == 1:
                ((column, level),) = subset
                self._known[subset] = self._lattice.ladders[column].levels[level].domain
            else:
                self._known[subset] = distinct_of([self._lattice.codes[column][level] for column, level in subset])
        return self._known[subset]

    @staticmethod
    def of_tuples(columns: Sequence[Codes]) -> list[tuple[int, int]]:
        """Return (size, distinct) of every subset of the columns of distinct tuples."""
        width, tuples = len(columns), columns[0].size

        def below(first: int, size: int, labels: Codes, distinct: int) -> Iterator[tuple[int, int]]:
            for column in range(first, width):
                finer, count = labels, distinct
                if distinct < tuples:  # a column more never merges classes
                    finer = labels_of([labels, columns[column]])
                    count = int(finer.max()) + 1
                yield size + 1, count
                yield from below(column + 1, size + 1, finer, count)

        return [(0, 1), *below(0, 0, np.zeros(tuples, np.int32), 1)]


def labels_of(columns: Sequence[Codes]) -> Codes:
    """Return a dense number for every combination of codes, by a table where the keys are few, else by sorting."""
    key, domain = _keys(columns)
    if domain <= max(TABLE, 4 * key.size):
        flags = np.zeros(domain, np.bool_)
        flags[key] = True
        return (np.cumsum(flags, dtype=np.int32) - np.int32(1))[key]
    order = np.argsort(key, kind="stable")
    new = np.diff(key[order], prepend=-1) != 0
    labels = np.empty(key.size, np.int32)
    labels[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return labels


def distinct_of(columns: Sequence[Codes]) -> int:
    """Return the number of distinct combinations of codes."""
    key, domain = _keys(columns)
    if domain <= max(TABLE, 4 * key.size):
        flags = np.zeros(domain, np.bool_)
        flags[key] = True
        return int(np.count_nonzero(flags))
    key.sort()
    return 1 + int(np.count_nonzero(key[1:] != key[:-1]))


def dense(codes: Codes) -> Codes:
    """Number the codes that are there 0, 1, .. in their order."""
    return labels_of([codes])


def _keys(columns: Sequence[Codes]) -> tuple[npt.NDArray[np.int64], int]:
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    domain = 1
    for size in sizes:
        domain *= size
    if domain > 2**62:  # too many combinations for one number: what is there is numbered instead
        labels = class_labels(np.column_stack(columns))
        return labels.astype(np.int64), int(labels.max()) + 1
    key = np.zeros(columns[0].size, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key *= size
        key += column
    return key, domain
