"""Appraisal: what a node of the lattice risks and what it costs, for each threshold of suppression."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from pratique_privacy.metrics.closeness import ordered_distance, total_variation
from pratique_privacy.metrics.diversity import distinct_l, entropy_l
from pratique_privacy.metrics.index import posture_index
from pratique_privacy.metrics.sensitive import Categories
from pratique_privacy.recommendation.classes import Classes, Distinct, classes_at, dense, kept_cells
from pratique_privacy.recommendation.lattice import Lattice, Node, Weights
from pratique_shared.contracts.adversary import Linkage, PartialQi
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.frames.linkage import expected_linkage, grid_of
from pratique_shared.frames.partition import Codes

Kept = npt.NDArray[np.bool_]
MOST_QUERIES = 200_000  # of the product of the domains: a tenth of a second
SUBSET_TUPLES = 20_000_000  # subsets x distinct tuples of one partial figure


@dataclass(frozen=True)
class Subject:
    """What is to be published: the lattice over its rows, its sensitive attributes, the label whose survival counts.

    Categories and `exempt`, the rows that class support spares, are by unit of the lattice.
    """

    lattice: Lattice = field(repr=False)
    sensitive: tuple[Categories, ...] = field(repr=False)
    label: Categories | None = field(repr=False)
    exempt: Kept | None = field(repr=False)
    ppi: PpiParameters
    partial_qi: PartialQi
    linkage: Linkage


@dataclass(frozen=True)
class Appraisal:
    """The figures of one policy: a level for each column, and classes smaller than `tau` taken out (0: none).

    Losses are shares of the most that can be lost, a suppressed row counting as lost altogether. `figures` are those
    that a gate may name; `linkage` is worked out when it is asked for.
    """

    node: Node
    tau: int
    survival: float
    label_survival: float | None
    granularity_loss: float
    entropy_loss: float
    figures: dict[str, float | None]

    @property
    def risks(self) -> tuple[float, float]:
        """Return the exact and the partial figure; 1 where there is none."""
        exact, partial = self.figures["exact_qi"], self.figures["partial_qi"]
        return (1.0 if exact is None else exact, 1.0 if partial is None else partial)

    @property
    def losses(self) -> tuple[float, float, float, float]:
        """Return what is lost, each between 0 and 1."""
        by_label = 0.0 if self.label_survival is None else 1 - self.label_survival
        return (self.entropy_loss, self.granularity_loss, 1 - self.survival, by_label)


class Appraiser:
    """Appraises nodes on codes alone: one partition a node, shared by all thresholds."""

    def __init__(self, subject: Subject, taus: Sequence[int]) -> None:
        self._subject, self._lattice = subject, subject.lattice
        self._distinct = Distinct(subject.lattice)
        label = subject.label
        alone = label is not None and not any(label is each for each in subject.sensitive)
        self._attributes = (*subject.sensitive, *((label,) if alone and label is not None else ()))
        self.taus = tuple(sorted(set(taus)))

    def appraise(self, node: Node) -> list[Appraisal]:
        """Return the appraisal for no suppression and for each threshold that takes rows out and leaves some."""
        subject = self._subject
        classes = classes_at(self._lattice, node, subject.exempt, self._attributes)
        found = [self._appraisal(classes, 0)]
        for tau in self.taus:
            rows = int(classes.sizes[classes.kept(tau)].sum())
            if 0 < rows < found[-1].figures["rows"]:  # type: ignore[operator]
                found.append(self._appraisal(classes, tau))
        return found

    def with_linkage(self, found: Appraisal) -> Appraisal:
        """Work out the linkage figure; it stays None where the product of the domains is too large."""
        if found.figures["linkage"] is not None:
            return found
        classes = classes_at(self._lattice, found.node, self._subject.exempt, ())
        kept = classes.kept(found.tau)
        columns = np.array([dense(column[kept]) for column in classes.columns])
        attack = self._subject.linkage
        domains = tuple(int(codes.max(initial=-1)) + 1 for codes in columns)
        value = None
        if prod(domains) <= MOST_QUERIES:
            grid = grid_of(columns, domains, classes.sizes[kept])
            value = expected_linkage(grid, accuracy=attack.accuracy, wrong_value=attack.wrong_value)
        return replace(found, figures={**found.figures, "linkage": value})

    def _appraisal(self, classes: Classes, tau: int) -> Appraisal:
        lattice, kept = self._lattice, classes.kept(tau)
        owners = dense(classes.owners[kept])
        sizes = np.bincount(owners, classes.sizes[kept]).astype(np.int64)
        rows = int(sizes.sum())
        cells, width = lattice.rows * len(lattice.ladders), len(lattice.ladders)
        granularity = float(classes.granularity[kept].sum()) + (lattice.rows - rows) * width
        entropy = float(classes.entropy[kept].sum()) + float(classes.all_entropy[~kept].sum())
        most = lattice.most_entropy
        figures = self._figures(classes, kept, owners, sizes)
        figures["partial_qi"] = self._partial(classes, tau, kept, owners, rows)
        return Appraisal(
            node=classes.node,
            tau=tau,
            survival=rows / lattice.rows,
            label_survival=self._label_survival(classes, kept),
            granularity_loss=granularity / cells,
            entropy_loss=min(max(entropy, 0.0) / most, 1.0) if most else 0.0,
            figures={**figures, "survival": rows / lattice.rows, "linkage": None},
        )

    def _figures(self, classes: Classes, kept: Kept, owners: Codes, sizes: Weights) -> dict[str, float | None]:
        rows, count, k = int(sizes.sum()), sizes.size, int(sizes.min())
        k_rw, ppi = Fraction(int(np.dot(sizes, sizes)), rows), self._subject.ppi
        figures: dict[str, float | None] = {
            "rows": rows,
            "classes": count,
            "k": k,
            "k_rw": float(k_rw),
            "granularity": count / rows,
            "exact_reid": count / rows,
            "exact_qi": count / rows,
            "max_risk": 1 / k,
            "uniques": int((sizes == 1).sum()),
            "share_below_k": int(sizes[sizes < ppi.k_target].sum()) / rows,
        }
        least, farthest, spread, ordered = self._sensitive(classes, kept, owners, sizes)
        if least is None or farthest is None:
            return figures | dict.fromkeys(("l", "l_entropy", "t", "t_ordered", "ppi", "ppi_prime"))
        return figures | {
            "l": least,
            "l_entropy": spread,
            "t": float(farthest),
            "t_ordered": None if ordered is None else float(ordered),
            "ppi": float(posture_index(Fraction(k), least, farthest, ppi)),
            "ppi_prime": float(posture_index(k_rw, least, farthest, ppi)),
        }

    def _sensitive(
        self, classes: Classes, kept: Kept, owners: Codes, sizes: Weights
    ) -> tuple[int | None, Fraction | None, float | None, Fraction | None]:
        """Return the worst l, t, entropy l and ordered t over the sensitive attributes."""
        least: list[int] = []
        spread: list[float] = []
        far: list[Fraction] = []
        ordered: list[Fraction] = []
        for place, attribute in enumerate(self._subject.sensitive):
            cells, empty = kept_cells(classes.crossed[place], kept, owners, sizes, attribute)
            least.append(distinct_l(cells, empty))
            spread.append(entropy_l(cells, empty, least[-1]))
            far.append(total_variation(cells))
            if attribute.ordered:
                ordered.append(ordered_distance(cells))
        return min(least, default=None), max(far, default=None), min(spread, default=None), max(ordered, default=None)

    def _partial(self, classes: Classes, tau: int, kept: Kept, owners: Codes, rows: int) -> float | None:
        width, forget = len(classes.columns), self._subject.partial_qi.forget
        tuples = int(owners.max()) + 1
        if 2**width * tuples > SUBSET_TUPLES:
            return None
        if tau == 0:
            counts = self._distinct.of_node(classes.node, tuples)
        else:
            first = np.zeros(tuples, np.intp)
            first[owners] = np.flatnonzero(kept)
            counts = self._distinct.of_tuples([column[first] for column in classes.columns])
        total = sum((1 - forget) ** size * forget ** (width - size) * count for size, count in counts)
        return min(float(total) / rows, 1.0)

    def _label_survival(self, classes: Classes, kept: Kept) -> float | None:
        label = self._subject.label
        if label is None:
            return None
        place = next(place for place, each in enumerate(self._attributes) if each is label)
        crossed = classes.crossed[place]
        before = np.bincount(crossed.values, crossed.counts, label.count)
        stays = kept[crossed.parts]
        after = np.bincount(crossed.values[stays], crossed.counts[stays], label.count)
        named = before > 0
        if label.empty is not None:
            named[label.empty] = False
        return float((after[named] / before[named]).min()) if named.any() else None
