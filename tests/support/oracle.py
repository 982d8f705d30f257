"""The slow literal reading of every metric, in plain Python and fractions: what the fast code is held against."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

Row = Mapping[str, object]
Value = str | int | float | bool | tuple[object, ...] | None


@dataclass(frozen=True)
class Truth:
    """The exact figures of one table and one sensitive attribute."""

    rows: int
    classes: int
    k: int
    l: int  # noqa: E741 - the field's standard name
    l_entropy: float
    t: Fraction
    t_ordered: Fraction | None
    k_rw: Fraction
    granularity: Fraction
    max_risk: Fraction
    uniques: int
    share_below_k: Fraction
    ppi: Fraction
    ppi_prime: Fraction


def plain(value: object) -> Value:
    """Return a value that compares as the product says: lists as sets, NaN as null."""
    if isinstance(value, list | tuple | set):
        return tuple(sorted({str(element) for element in value}))
    if isinstance(value, float) and math.isnan(value):
        return None
    assert value is None or isinstance(value, str | int | float | bool)
    return value


def classes_of(rows: Sequence[Row], qi: Sequence[str]) -> list[list[int]]:
    """Return the positions of the rows of each class."""
    found: dict[tuple[Value, ...], list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        found[tuple(plain(row.get(name)) for name in qi)].append(position)
    return list(found.values())


def truth(
    rows: Sequence[Row],
    qi: Sequence[str],
    sa: str,
    *,
    k_target: int = 5,
    l_target: int = 2,
    weights: tuple[str, str, str] = ("0.4", "0.3", "0.3"),
    order: Sequence[object] | None = None,
) -> Truth:
    """Return the figures of a table with at least one row, from their definitions."""
    n = len(rows)
    classes = classes_of(rows, qi)
    sizes = [len(group) for group in classes]
    values = [plain(row.get(sa)) for row in rows]
    groups = [[values[position] for position in group] for group in classes]
    k, k_rw = min(sizes), Fraction(sum(size**2 for size in sizes), n)
    l = min(len({v for v in group if not _empty(v)}) for group in groups)  # noqa: E741
    t = max(total_variation(group, values) for group in groups)

    def index(size: Fraction) -> Fraction:
        w_k, w_l, w_t = map(Fraction, weights)
        return w_k * min(size / k_target, Fraction(1)) + w_l * min(Fraction(l, l_target), Fraction(1)) + w_t * (1 - t)

    return Truth(
        rows=n,
        classes=len(classes),
        k=k,
        l=l,
        l_entropy=min(_effective([v for v in group if not _empty(v)]) for group in groups),
        t=t,
        t_ordered=_worst_ordered(groups, values, order),
        k_rw=k_rw,
        granularity=Fraction(len(classes), n),
        max_risk=Fraction(1, k),
        uniques=sizes.count(1),
        share_below_k=Fraction(sum(size for size in sizes if size < k_target), n),
        ppi=index(Fraction(k)),
        ppi_prime=index(k_rw),
    )


def total_variation(group: Sequence[Value], release: Sequence[Value]) -> Fraction:
    """Return half the sum of the absolute differences of the shares, empties as one category."""
    mine = Counter("" if _empty(v) else v for v in group)
    all_of_them = Counter("" if _empty(v) else v for v in release)
    shares = [Fraction(mine[v], len(group)) - Fraction(all_of_them[v], len(release)) for v in all_of_them]
    return sum((abs(share) for share in shares), Fraction(0)) / 2


def ordered_distance(group: Sequence[Value], release: Sequence[Value], ranked: Sequence[Value]) -> Fraction:
    """Return the sum of the absolute cumulative differences over the ranked distinct values, over m - 1."""
    if len(ranked) == 1:
        return Fraction(0)
    gap, total = Fraction(0), Fraction(0)
    for value in ranked:
        gap += Fraction(group.count(value), len(group)) - Fraction(release.count(value), len(release))
        total += abs(gap)
    return total / (len(ranked) - 1)


def exposure(rows: Sequence[Row], qi: Sequence[str]) -> dict[tuple[int, ...], int]:
    """Return the number of distinct projections on every non-empty subset of the quasi-identifiers, by position."""
    subsets = [s for size in range(1, len(qi) + 1) for s in combinations(range(len(qi)), size)]
    return {s: len({tuple(plain(row.get(qi[i])) for i in s) for row in rows}) for s in subsets}


def _worst_ordered(
    groups: Sequence[Sequence[Value]], values: Sequence[Value], order: Sequence[object] | None
) -> Fraction | None:
    distinct = list(dict.fromkeys(values))
    if order is not None:
        if any(value not in order for value in distinct):
            return None
        ranked = sorted(distinct, key=order.index)
    elif any(isinstance(value, bool) or not isinstance(value, int | float) for value in distinct):
        return None
    else:
        ranked = sorted(distinct, key=lambda value: float(str(value)))
    return max(ordered_distance(group, values, ranked) for group in groups)


def _effective(values: Sequence[Value]) -> float:
    if not values:
        return 0.0
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-math.fsum(share * math.log(share) for share in shares))


def _empty(value: Value) -> bool:
    return value is None or value in ("", ())
