"""Which policy? The least-loss one that passes a gate, for a table and the classes of its columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl
from pydantic import JsonValue

from pratique_privacy.metrics.sensitive import Categories, FixedBins, Sensitive
from pratique_privacy.metrics.survival import label_columns
from pratique_privacy.policy.suppress import with_rarest_labels
from pratique_privacy.recommendation.appraisal import Appraiser, Subject
from pratique_privacy.recommendation.ladder import Ladder, ladders_of
from pratique_privacy.recommendation.lattice import MOST_NODES, Lattice
from pratique_privacy.recommendation.policies import Recipe, found_document, thinned
from pratique_privacy.recommendation.search import Budget, Found, Search
from pratique_shared.contracts.adversary import Linkage, PartialQi
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.gate import Gate
from pratique_shared.contracts.policy import Exemption, Hierarchy, Step
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.contracts.problems import FieldError, Unprocessable
from pratique_shared.contracts.studies import Recommendation

# What only a release as a whole has: the search cannot hold a gate at these.
UNSEEN = ("all_columns.uniques", "composition.")


@dataclass(frozen=True)
class Wish:
    """What is asked of a recommendation. `first` are steps that every policy begins with, already applied."""

    attributes: Attributes
    gate: Gate
    first: tuple[Step, ...]
    hierarchies: Mapping[str, Hierarchy]
    taus: tuple[int, ...]
    exempt: Exemption | None
    ppi: PpiParameters
    partial_qi: PartialQi
    linkage: Linkage


def wish_of(asked: Recommendation) -> Wish:
    """Return what is asked, in the form of the search."""
    return Wish(
        attributes=asked.attributes,
        gate=asked.gate,
        first=asked.first,
        hierarchies={
            name: Hierarchy(column=name, op="hierarchy", table=table, name=name[:100])
            for name, table in asked.hierarchies.items()
        },
        taus=asked.taus,
        exempt=asked.exempt,
        ppi=asked.ppi,
        partial_qi=asked.partial_qi,
        linkage=asked.linkage,
    )


def recommend(
    table: pl.DataFrame,
    wish: Wish,
    bins: Mapping[str, FixedBins],
    evaluations: int,
    seconds: float,
    clock: Callable[[], float],
) -> dict[str, JsonValue]:
    """Search the levels of every quasi-identifier times the thresholds of class support; see `Search`.

    A coarser level never parts what a finer one joins, so nodes are ruled out as in El Emam et al. 2009 (OLA) and
    LeFevre et al. 2005 (Incognito). The losses count a suppressed row as lost altogether; the least is that of entropy
    (Gionis and Tassa 2009), ties by the others. Seconds are those of `clock`; a search that neither end of the budget
    cuts gives the same answer each time. Raises `Unprocessable` (`lattice-too-large`, `source-empty`).
    """
    if not table.height:
        raise Unprocessable("source-empty", "The source holds no record: there is nothing to publish.")
    names = [name for name in wish.attributes.quasi_identifiers if name in table.columns]
    ladders = tuple(ladders_of(table, names, wish.hierarchies))
    _check_size(ladders)
    lattice, appraiser = prepared(table, ladders, wish, bins)
    gate = {metric: bound for metric, bound in wish.gate.items() if not metric.startswith(UNSEEN)}
    found = Search(lattice, appraiser, gate, Budget(evaluations, seconds, clock)).run()
    shown = {id(each): appraiser.with_linkage(each) for each in thinned(found.front)}
    front = tuple(shown.get(id(each), each) for each in found.front)
    best = None if found.best is None else appraiser.with_linkage(found.best)
    whole = Found(best, front, found.proved, found.cut, found.evaluated, found.ruled_out, found.nodes)
    not_held: list[JsonValue] = [metric for metric in wish.gate if metric not in gate]
    return found_document(whole, Recipe(wish.first, ladders, wish.exempt)) | {"not_held": not_held}


def _check_size(ladders: Sequence[Ladder]) -> None:
    size = prod(len(ladder.levels) for ladder in ladders)
    if size > MOST_NODES:
        detail = (
            f"The quasi-identifiers have {size} combinations of levels, at most {MOST_NODES} can be searched: name "
            "fewer quasi-identifiers, or fix some of them by a step of the policy."
        )
        raise Unprocessable("lattice-too-large", detail, [FieldError("/attributes/quasi_identifiers", "name fewer")])


def prepared(
    table: pl.DataFrame, ladders: Sequence[Ladder], wish: Wish, bins: Mapping[str, FixedBins]
) -> tuple[Lattice, Appraiser]:
    """Return the lattice of a table and the appraiser of its nodes."""
    reading = Sensitive(wish.attributes.ordered, bins)
    sensitive = [reading.categories(table, name) for name in wish.attributes.sensitive]
    names = [name for name in label_columns(wish.attributes) if name in table.columns]
    label = reading.categories(table, names[0]) if names else None
    exempt = None
    if wish.exempt is not None:
        exempt = with_rarest_labels(table[wish.exempt.column], wish.exempt.rarest)
    apart = [each.codes for each in sensitive] + ([label.codes] if label is not None else [])
    if exempt is not None:
        apart.append(exempt.astype(np.int64))
    lattice = Lattice.over(ladders, apart)

    def by_unit(categories: Categories) -> Categories:
        return Categories(categories.codes[lattice.first], categories.count, categories.empty, categories.ordered)

    attributes = tuple(by_unit(each) for each in sensitive)
    label_by_unit = None if label is None else by_unit(label)
    if label is not None and names[0] in wish.attributes.sensitive:  # one object: it is counted once
        label_by_unit = attributes[wish.attributes.sensitive.index(names[0])]
    subject = Subject(
        lattice=lattice,
        sensitive=attributes,
        label=label_by_unit,
        exempt=None if exempt is None else exempt[lattice.first],
        ppi=wish.ppi,
        partial_qi=wish.partial_qi,
        linkage=wish.linkage,
    )
    return lattice, Appraiser(subject, wish.taus)
