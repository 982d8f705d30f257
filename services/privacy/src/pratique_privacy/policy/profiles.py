"""Profiles of rows: objects of counts, of which a part is published for families (Gil, Parra-Arnau and Forné 2025)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import polars as pl

from pratique_privacy.generalisation.mechanism import Task, Uncertified, entropy, generalise
from pratique_privacy.generalisation.publication import (
    Publication,
    apparent_entropy,
    names_of,
    publish,
    recoverable,
)
from pratique_privacy.generalisation.taxonomy import Floats, Places, Taxonomy, taxonomy_of
from pratique_privacy.policy.cells import Cell, Rewritten, column_of, distinct_cells
from pratique_privacy.policy.families import FAMILY, ancestors_of
from pratique_shared.contracts.canonical import canonical_json
from pratique_shared.contracts.policy import STAR, OptimalGeneralise
from pratique_shared.contracts.posture import Finding
from pratique_shared.contracts.problems import FieldError, PolicyRefused
from pratique_shared.frames.partition import coded

Counts: TypeAlias = Mapping[str, int]
Chance: TypeAlias = Callable[[int], bytes]

MOST_COUNT = 2**53
SMOOTHING = 0.01  # the part of a role's target that is uniform: a divergence must stay finite where no host has mass
_CELLS = 200_000  # profiles x leaves x levels that are worked on at a time, some 100 MB


@dataclass(frozen=True)
class Generalised:
    """The column after the step, and what the posture says about it."""

    rewritten: Rewritten
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Tree:
    """The leaves that some row has, the taxonomy over them, and the names of its groups in tree order.

    Leaves of the taxonomy that no row has are folded, under each parent, into one that stands for as many.
    """

    leaves: Sequence[str]
    taxonomy: Taxonomy
    groups: Sequence[Sequence[str]]


@dataclass(frozen=True)
class _Outcome:
    """What became of one distinct profile, rounding included; entropies in nats, `moved` as a share."""

    text: str = field(repr=False)
    before: float
    after: float
    moved: float
    there: int
    readable: int


def generalised(
    column: pl.Series, step: OptimalGeneralise, roles: pl.Series | None, chance: Chance, where: str
) -> Generalised:
    """Publish every profile of a column at the cost of the step: what leaves keep, and counts under family names.

    Each distinct profile (with its role, where that is the target) is computed once, so that equal rows stay equal;
    ties of rounding are drawn from `chance`. A cell that is no object of counts becomes `*`; null and `*` stay.
    Raises `PolicyRefused`: `hierarchy-gap` where the taxonomy misses a leaf, `gamma-uncertain`.
    """
    cells, codes = distinct_cells(column)
    read = [_counts(cell) for cell in cells]
    tree = _tree(step, sorted({name for counts in read if counts for name in counts}), where)
    role_codes = np.zeros(len(codes), dtype=np.int64) if roles is None else coded(roles).codes.astype(np.int64)
    height = int(role_codes.max(initial=0)) + 1
    distinct, place = np.unique(codes.astype(np.int64) * height + role_codes, return_inverse=True)
    matrix = _matrix(tree, read)
    filled = np.flatnonzero(matrix.sum(axis=-1)[distinct // height] > 0)
    targets = None if roles is None else _role_means(tree, matrix[codes], role_codes)
    which = distinct[filled] % height
    made = _outcomes(
        step, tree, matrix[distinct[filled] // height], None if targets is None else targets[which], chance, where
    )
    outcomes = dict(zip(filled.tolist(), made, strict=True))
    texts: list[Cell] = []
    for at, pair in enumerate(distinct.tolist()):
        cell, counts = cells[pair // height], read[pair // height]
        kept = cell if cell is None or cell == STAR else STAR if counts is None else canonical_json({})
        texts.append(outcomes[at].text if at in outcomes else kept)
    lost = np.array([counts is None and cell not in (None, STAR) for cell, counts in zip(cells, read, strict=True)])
    rewritten = Rewritten(column_of(texts, column).gather(place), int(lost[codes].sum()) if len(codes) else 0)
    rows = np.bincount(place, minlength=len(distinct))
    return Generalised(rewritten, tuple(_findings(column.name, [(o, int(rows[at])) for at, o in outcomes.items()])))


def _counts(cell: Cell) -> Counts | None:
    """Read a cell as counts by name; None if it is none."""
    if not isinstance(cell, str) or not cell.startswith("{"):
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    sound = all(type(count) is int and count >= 0 for count in found.values())
    return found if sound and sum(found.values()) <= MOST_COUNT else None


def _tree(step: OptimalGeneralise, names: list[str], where: str) -> _Tree:
    known = step.taxonomy
    ancestors: dict[str, tuple[str, ...]]
    if known is None:
        ancestors = {name: ancestors_of(name) for name in {*FAMILY, *names}}
    elif missed := len(set(names) - known.keys()):
        detail = f"{missed} names in the profiles of the column have no place in the taxonomy: add them to it."
        raise PolicyRefused("hierarchy-gap", detail, [FieldError(f"{where}/taxonomy", "give each name its ancestors")])
    else:
        ancestors = dict(known)
    there, folded = set(names), dict[tuple[str, ...], int]()
    for name, above in ancestors.items():
        if name not in there:
            folded[above] = folded.get(above, 0) + 1
    spare = sorted(folded)
    paths = [ancestors[name] for name in names] + spare
    copies = [1] * len(names) + [folded[above] for above in spare]
    levels = [_groups([path[depth] for path in paths]) for depth in range(step.levels)]
    taxonomy = taxonomy_of(levels, len(paths), copies)
    return _Tree(names, taxonomy, names_of(taxonomy, paths))


def _groups(labels: Sequence[str]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for leaf, label in enumerate(labels):
        groups.setdefault(label, []).append(leaf)
    return list(groups.values())


def _matrix(tree: _Tree, read: Sequence[Counts | None]) -> Places:
    """Return the counts of every distinct cell (cells, leaves); folded leaves come last and are zero."""
    matrix = np.zeros((len(read), tree.taxonomy.leaves), dtype=np.int64)
    place = {name: at for at, name in enumerate(tree.leaves)}
    for row, counts in enumerate(read):
        for name, count in (counts or {}).items():
            matrix[row, place[name]] = count
    return matrix


def _role_means(tree: _Tree, counts: Places, roles: Places) -> Floats:
    """Return the mean profile of each role over its rows (roles, leaves), smoothed towards the uniform one."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    sums = np.zeros((int(roles.max(initial=0)) + 1, counts.shape[1]))
    np.add.at(sums, roles, shares)
    rows = np.maximum(np.bincount(roles[totals[:, 0] > 0], minlength=len(sums)), 1)
    copies = np.empty(tree.taxonomy.leaves)
    copies[tree.taxonomy.order] = tree.taxonomy.copies
    means: Floats = (1 - SMOOTHING) * sums / rows[:, None] + SMOOTHING * copies / copies.sum()
    return means


def _outcomes(
    step: OptimalGeneralise, tree: _Tree, counts: Places, targets: Floats | None, chance: Chance, where: str
) -> Iterator[_Outcome]:
    """Generalise distinct profiles, some at a time; the stream of one does not hang on how many there are."""
    seed = int.from_bytes(chance(16), "big")
    costs = None if step.cost is None else np.tile(np.array(step.cost), (tree.taxonomy.leaves, 1))
    at_a_time = max(1, _CELLS // (tree.taxonomy.leaves * step.levels))
    for start in range(0, len(counts), at_a_time):
        part = counts[start : start + at_a_time]
        shares = part / part.sum(axis=-1, keepdims=True)
        wanted = None if targets is None else targets[start : start + at_a_time]
        task = Task(tree.taxonomy, shares, np.full(len(part), step.gamma), costs, wanted, rates=False)
        try:
            found = generalise(task)
        except Uncertified:
            detail = "An optimum at this gamma could not be certified to 1e-7 nats: move gamma a little."
            raise PolicyRefused("gamma-uncertain", detail, [FieldError(f"{where}/gamma", "move it a little")]) from None
        for row, items in enumerate(part):
            stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(start + row,)))
            made = publish(tree.taxonomy, items, found.strategy[row], stream)
            known = recoverable(tree.taxonomy, found.strategy[row], found.active[row])
            yield _Outcome(
                text=canonical_json(_published(tree, made)),
                before=float(entropy(shares[row])),
                after=apparent_entropy(tree.taxonomy, made),
                moved=1 - int(made.leaves.sum()) / int(items.sum()),
                there=int((items > 0).sum()),
                readable=int((known & (items > 0)).sum()),
            )


def _published(tree: _Tree, made: Publication) -> dict[str, int]:
    """Return counts by name, without zeros; a group of two levels under one name is one entry."""
    found = {name: int(count) for name, count in zip(tree.leaves, made.leaves.tolist(), strict=False) if count}
    for names, counts in zip(tree.groups, made.groups, strict=True):
        for name, count in zip(names, counts.tolist(), strict=True):
            if count:
                found[name] = found.get(name, 0) + int(count)
    return found


def _findings(column: str, outcomes: Sequence[tuple[_Outcome, int]]) -> Iterator[Finding]:
    """Say over all rows what the step bought, and what an observer who knows it still reads."""
    rows = sum(count for _, count in outcomes)
    if not rows:
        return

    def mean(value: Callable[[_Outcome], float]) -> float:
        return sum(value(outcome) * count for outcome, count in outcomes) / rows

    there = sum(outcome.there * count for outcome, count in outcomes)
    readable = sum(outcome.readable * count for outcome, count in outcomes)
    detail = (
        f"Over {rows} profiles the mean entropy went from {mean(lambda o: o.before):.4f} to "
        f"{mean(lambda o: o.after):.4f} nats with {100 * mean(lambda o: o.moved):.2f} % of the counts at families. "
        f"{readable} of their {there} positive counts are recoverable by who knows the policy: entropy of a profile is "
        "no class size."
    )
    yield Finding(code="profiles-generalised", column=column, detail=detail)
