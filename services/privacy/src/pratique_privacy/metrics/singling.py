"""Singling out: which sets of fields tell records apart, and the smallest ones that leave a record alone."""

from dataclasses import dataclass, field
from math import comb

import numpy as np
import numpy.typing as npt

from pratique_shared.contracts.attributes import MAX_QUASI_IDENTIFIERS
from pratique_shared.frames.partition import Codes, Counts, class_labels, class_sizes

WORK = 200_000_000  # cells of subset x distinct tuple that are looked at, some seconds of one core
PAIRS = 2  # sets of one and of two fields are looked at whatever they cost

Bits = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Exposure:
    """What a set of quasi-identifiers, by position, gives away.

    `distinct` projections D_S, the share D_S / N, the rows that it leaves alone (`uniques`), and those of them that
    no smaller set inside it does (`minimal`).
    """

    subset: tuple[int, ...]
    distinct: int
    share: float
    uniques: int
    minimal: int


@dataclass(frozen=True)
class Part:
    """The part of one attribute: in how many minimal sets it stands, and how many singled-out rows have such a set."""

    minimal: int
    minimal_share: float
    rows: int
    rows_share: float


@dataclass(frozen=True)
class Singling:
    """Every subset that was looked at, smaller ones first; `largest` is the size up to which all were.

    The set of all columns is there in any case; its `minimal` is 0 while smaller sets are missing. `tuples` numbers the
    distinct tuple of each row, `minimal` holds the tuples of each minimal set.
    """

    exposures: tuple[Exposure, ...]
    columns: int
    largest: int
    tuples: Codes = field(repr=False)
    minimal: dict[tuple[int, ...], Places] = field(repr=False)

    def sets_of(self, row: int) -> list[tuple[int, ...]]:
        """Return the minimal sets that leave a row alone."""
        place = self.tuples[row]
        return [subset for subset, places in self.minimal.items() if place in places]

    def parts(self) -> list[Part]:
        """Return the part of every column in singling records out (after Elliot et al. 2002)."""
        sets = sum(places.size for places in self.minimal.values())
        singled = self._rows_of(list(self.minimal.values()))
        found = []
        for column in range(self.columns):
            own = [places for subset, places in self.minimal.items() if column in subset]
            count, rows = sum(places.size for places in own), self._rows_of(own)
            found.append(Part(count, count / sets if sets else 0.0, rows, rows / singled if singled else 0.0))
        return found

    def _rows_of(self, places: list[Places]) -> int:
        flags = np.zeros(int(self.tuples.max(initial=-1)) + 1, np.bool_)
        for some in places:
            flags[some] = True
        return int(np.count_nonzero(flags))


def singling(codes: Codes, work: int = WORK) -> Singling:
    """Return exposure, uniques and minimal sample uniques of every subset of the columns (Elliot et al. 2002).

    A row is alone on S when no other row has its values there, and S is minimal when it is alone on no smaller set
    inside S. Partitions are refined column by column over distinct tuples; a tuple alone in its class stays alone, so
    that only the others are carried on. Subsets grow up to the size that `work` allows, at least to pairs.
    """
    rows, width = codes.shape
    if width > MAX_QUASI_IDENTIFIERS:
        raise ValueError("too many quasi-identifiers")
    if not rows:
        return Singling((), width, width, np.zeros(0, np.int32), {})
    tuples = class_labels(codes)
    sizes = class_sizes(tuples)
    first = np.zeros(sizes.size, np.intp)
    first[tuples] = np.arange(rows)
    search = _Search(codes[first], sizes, rows, _largest(width, sizes.size, work))
    search.descend(0, width, np.arange(sizes.size), np.zeros(sizes.size, np.int32), 0)
    exposures = search.exposures
    if search.largest < width:
        singled = int((sizes == 1).sum())
        exposures.append(Exposure(tuple(range(width)), sizes.size, sizes.size / rows, singled, 0))
    exposures.sort(key=lambda exposure: (len(exposure.subset), exposure.subset))
    minimal = dict(sorted(search.minimal.items(), key=lambda found: (len(found[0]), found[0])))
    return Singling(tuple(exposures), width, search.largest, tuples, minimal)


def _largest(width: int, tuples: int, work: int) -> int:
    total = 0
    for size in range(1, width + 1):
        total += comb(width, size) * tuples
        if total > work and size > PAIRS:
            return size - 1
    return width


class _Search:
    """A walk over subsets in the order of their bit masks: whatever is inside a subset comes before it."""

    def __init__(self, tuples: Codes, sizes: Counts, rows: int, largest: int) -> None:
        self._tuples, self._rows, self.largest = tuples, rows, largest
        self._single = sizes == 1  # a tuple of several rows leaves none of them alone
        self._alone: dict[int, Bits] = {0: np.packbits(np.zeros(sizes.size, np.bool_))}
        self.exposures: list[Exposure] = []
        self.minimal: dict[tuple[int, ...], Places] = {}

    def descend(self, mask: int, lowest: int, open_tuples: Places, labels: Codes, apart: int) -> None:
        """Look at the subsets that add to `mask` one column below its `lowest`, and at theirs.

        `open_tuples` share their class on `mask` with others, by `labels`; `apart` tuples have one of their own.
        """
        if mask.bit_count() == self.largest:
            return
        for column in range(lowest):
            subset = mask | 1 << column
            finer = labels
            stay = np.zeros(0, np.bool_)
            classes = 0
            if open_tuples.size:
                finer = class_labels(np.column_stack([labels, self._tuples[open_tuples, column]]))
                counts = class_sizes(finer)
                stay = counts[finer] > 1
                classes = int((counts > 1).sum())
            new = open_tuples[~stay]
            self._note(mask, subset, new, apart + new.size + classes)
            self.descend(subset, column, open_tuples[stay], finer[stay], apart + new.size)

    def _note(self, parent: int, subset: int, new: Places, distinct: int) -> None:
        new = new[self._single[new]]
        alone = self._alone[parent].copy()
        if new.size:
            flags = np.zeros(self._single.size, np.bool_)
            flags[new] = True
            alone |= np.packbits(flags)
        self._alone[subset] = alone
        columns = tuple(column for column in range(self._tuples.shape[1]) if subset >> column & 1)
        least = new
        for column in columns:
            if least.size:
                inside = self._alone[subset & ~(1 << column)]
                least = least[(inside[least >> 3] >> (7 - (least & 7)) & 1) == 0]
        if least.size:
            self.minimal[columns] = least
        uniques = int(np.bitwise_count(alone).sum())
        self.exposures.append(Exposure(columns, distinct, distinct / self._rows, uniques, least.size))
