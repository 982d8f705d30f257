"""The search: the least-loss policy that passes a gate, and the front of risk against loss, within a budget."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pratique_privacy.gate import evaluate
from pratique_privacy.recommendation.appraisal import Appraisal, Appraiser
from pratique_privacy.recommendation.lattice import Lattice, Node
from pratique_shared.contracts.gate import Gate

Cut = Literal["evaluations", "seconds"]
PROBES = 24  # nodes looked at across the whole lattice first: coarse ones that fail rule finer ones out
DIGITS = 12  # of losses, which are sums of logarithms
TOLERANCE = 10.0**-DIGITS

# A coarser table never has a worse one of these, and its classes are unions of finer ones; with rows taken out only
# survival keeps that order. t and l: Li et al. 2007 and Machanavajjhala et al. 2007, monotonicity.
FALLING = frozenset(
    {"exact_qi", "exact_reid", "granularity", "partial_qi", "uniques", "max_risk", "share_below_k", "t"}
)
RISING = frozenset({"k", "l", "k_rw", "survival"})


@dataclass(frozen=True)
class Budget:
    """How much may be spent: nodes looked at, and seconds by a clock that the caller brings."""

    evaluations: int
    seconds: float
    clock: Callable[[], float] = field(repr=False)


@dataclass(frozen=True)
class Found:
    """What a search found. `proved`: no policy of the lattice that passes loses less than `best`.

    `cut` says which end of the budget came before the whole lattice was looked at.
    """

    best: Appraisal | None
    front: tuple[Appraisal, ...]
    proved: bool
    cut: Cut | None
    evaluated: int
    ruled_out: int
    nodes: int


class Search:
    """A search over one lattice for one gate."""

    def __init__(self, lattice: Lattice, appraiser: Appraiser, gate: Gate, budget: Budget) -> None:
        self._lattice, self._appraiser, self._gate, self._budget = lattice, appraiser, gate, budget
        self._until = budget.clock() + budget.seconds
        self._nodes = lattice.nodes
        self._losses = lattice.losses(self._nodes)
        self._seen: set[int] = set()
        self._hopeless = np.zeros(len(self._nodes), np.bool_)
        self._found: list[Appraisal] = []
        self._best: Appraisal | None = None

    def run(self) -> Found:
        """Look across the lattice, then for the least loss from below, then at what is left for the front."""
        count = len(self._nodes)
        cut = self._visit(list(spread(count))[:PROBES])
        proved = False
        if cut is None:
            cut = self._visit(self._from_below())
            proved = cut is None
        ruled_out = int(np.count_nonzero(self._hopeless & ~self._mask()))
        if cut is None:
            cut = self._visit(place for place in spread(count) if place not in self._seen)
        front = pareto(self._found)
        return Found(self._best, tuple(front), proved, cut, len(self._seen), ruled_out, count)

    def _from_below(self) -> Iterator[int]:
        """Yield nodes by rising loss while one could still be better than the best."""
        for place in range(len(self._nodes)):
            if self._best is not None and self._losses[place] > self._best.entropy_loss + TOLERANCE:
                return
            if place not in self._seen and not self._hopeless[place]:
                yield place

    def _visit(self, places: Iterable[int]) -> Cut | None:
        for place in places:
            if len(self._seen) >= self._budget.evaluations:
                return "evaluations"
            if self._budget.clock() >= self._until:
                return "seconds"
            self._look_at(place)
        return None

    def _look_at(self, place: int) -> None:
        self._seen.add(place)
        node: Node = tuple(int(level) for level in self._nodes[place])
        appraisals = self._appraiser.appraise(node)
        for appraisal in appraisals:
            judged = self._judged(appraisal)
            self._found.append(judged or appraisal)
            if judged is not None and (self._best is None or _order(judged) < _order(self._best)):
                self._best = judged
        if self._rules_out(appraisals):
            self._hopeless |= self._lattice.finer_than(node)

    def _judged(self, appraisal: Appraisal) -> Appraisal | None:
        """Return an appraisal that passes, with its linkage figure where the gate asks for that."""
        without = {metric: bound for metric, bound in self._gate.items() if metric != "linkage"}
        if evaluate(without, appraisal.figures).verdict != "pass":
            return None
        if "linkage" not in self._gate:
            return appraisal
        full = self._appraiser.with_linkage(appraisal)
        return full if evaluate(self._gate, full.figures).verdict == "pass" else None

    def _rules_out(self, appraisals: list[Appraisal]) -> bool:
        """Tell whether no finer node can pass, whatever it suppresses.

        Without suppression the figures keep their order along the lattice; with it survival does, and a threshold that
        takes every row here takes every row of a finer node too.
        """
        by_tau = {found.tau: found for found in appraisals}
        if not self._broken(by_tau[0], FALLING | RISING):
            return False
        last = by_tau[0]
        for tau in self._appraiser.taus:
            # A threshold that took nothing more here than the one before has the rows, hence the survival, of that one.
            last = by_tau.get(tau, last)
            if not self._broken(last, frozenset({"survival"})):
                return False
        return True

    def _broken(self, appraisal: Appraisal, metrics: frozenset[str]) -> bool:
        named = {m: bound for m, bound in self._gate.items() if m in metrics}
        for metric, bound in named.items():
            value = appraisal.figures[metric]
            if value is None:
                continue
            if metric in RISING and bound.min is not None and value < bound.min:
                return True
            if metric in FALLING and bound.max is not None and value > bound.max:
                return True
        return False

    def _mask(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        seen = np.zeros(len(self._nodes), np.bool_)
        seen[list(self._seen)] = True
        return seen


def spread(count: int) -> Iterator[int]:
    """Yield 0 .. count - 1 so that every beginning is spread over the whole: by reversed bits, the last place first."""
    bits = max((count - 1).bit_length(), 1)
    if count:
        yield count - 1
    for number in range(2**bits):
        place = int(f"{number:0{bits}b}"[::-1], 2)
        if place < count - 1:
            yield place


def pareto(found: list[Appraisal]) -> list[Appraisal]:
    """Return those that no other betters: as good in every risk and loss, and better in one. By rising loss.

    Of several with equal figures the first by level and threshold stays.
    """
    if not found:
        return []
    ordered = sorted(found, key=_order)
    points = np.array([(*each.risks, *each.losses) for each in ordered]).round(DIGITS)
    kept: list[int] = []
    front = np.empty((0, points.shape[1]))
    # Sorted by the first loss, then all the others: whoever betters a point comes before it or has an equal key.
    for place, point in enumerate(points):
        if not (front <= point).all(axis=1).any():
            beaten = (point <= front).all(axis=1)
            kept = [other for other, gone in zip(kept, beaten, strict=True) if not gone]
            kept.append(place)
            front = points[kept]
    return [ordered[place] for place in kept]


def _order(appraisal: Appraisal) -> tuple[object, ...]:
    return (*(round(loss, DIGITS) for loss in appraisal.losses), *appraisal.risks, appraisal.tau, appraisal.node)
