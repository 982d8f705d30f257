"""The trade-off curve: profiles generalised at several costs over one taxonomy, each with what it is held against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from pratique_privacy.generalisation import publication
from pratique_privacy.generalisation.comparators import Comparator, compare
from pratique_privacy.generalisation.mechanism import (
    Optima,
    Task,
    Uncertified,
    divergence,
    entropy,
    generalise,
    greatest_cost,
)
from pratique_privacy.generalisation.profile import Profile, profile_of
from pratique_privacy.generalisation.taxonomy import Floats, Groups, Places, Taxonomy, taxonomy_of
from pratique_shared.contracts.problems import FieldError, Unprocessable, pointer

MOST_CELLS = 40_000  # results x leaves x levels, half as many with costs: a second of one core
MOST_RESULTS = 1_000
MOST_PRICED = 60  # profiles with costs: each takes a linear program or two

_PLAIN = (
    "profile",
    "gamma",
    "entropy",
    "entropy_before",
    "gamma_crit",
    "gamma_crit_bound",
    "critical_entropy",
    "gap",
    "divergence",
    "divergence_before",
)

Numbers = Sequence[int | float]


@dataclass(frozen=True)
class Question:
    """What is asked: profiles and the levels of a taxonomy, gammas, and what else bears on the answer.

    `costs` (leaves, levels), 1 throughout if None; `target` a profile, uniform if None; `seed` decides ties where
    counts are rounded.
    """

    profiles: Sequence[Numbers] = field(repr=False)
    levels: Sequence[Groups] = field(repr=False)
    gammas: Sequence[float]
    costs: Sequence[Sequence[float]] | None = field(default=None, repr=False)
    target: Numbers | None = field(default=None, repr=False)
    compare: Sequence[Comparator] = ()
    seed: int = 1


@dataclass(frozen=True)
class Comparison:
    """What a comparator reaches at the same rate, and the rate from which on it is uniform."""

    entropy: float
    critical: float
    apparent: Floats = field(repr=False)


@dataclass(frozen=True)
class Published:
    """Whole counts: of leaves, and of the groups of each level in the order of the taxonomy given."""

    leaves: Places = field(repr=False)
    groups: tuple[list[int], ...] = field(repr=False)
    entropy: float


@dataclass(frozen=True)
class Point:
    """One profile at one gamma; arrays are in the order of the leaves."""

    profile: int
    gamma: float
    entropy: float
    entropy_before: float
    gamma_crit: float
    gamma_crit_bound: float | None
    critical_entropy: float
    gap: float
    strategy: Floats = field(repr=False)
    apparent: Floats = field(repr=False)
    recoverable: Places = field(repr=False)
    divergence: float | None
    divergence_before: float | None
    comparisons: Mapping[Comparator, Comparison]
    published: Published | None


def curve(question: Question) -> list[Point]:
    """Answer a question, in the order profile, gamma.

    Raises `Unprocessable`: what a taxonomy or a profile is refused for, `profile-length`, `costs-shape`,
    `costs-negative`, `target-zero`, `too-many-results`, `profiles-too-large`, `gamma-infeasible`, `gamma-uncertain`.
    """
    leaves = len(question.profiles[0])
    taxonomy = taxonomy_of(question.levels, leaves)
    _check_amount(question, leaves)
    profiles = [_profile(values, leaves, pointer("profiles", at)) for at, values in enumerate(question.profiles)]
    costs = None if question.costs is None else _costs(question.costs, leaves, len(question.levels))
    target = None if question.target is None else _target(question.target, leaves)
    shares = np.stack([profile.shares for profile in profiles])
    _check_gammas(question.gammas, shares, costs)
    places = np.repeat(np.arange(len(profiles)), len(question.gammas))
    wide = None if target is None else np.broadcast_to(target, (len(places), leaves))
    task = Task(taxonomy, shares[places], np.tile(np.array(question.gammas, dtype=float), len(profiles)), costs, wide)
    try:
        found = generalise(task)
    except Uncertified:
        detail = "An optimum at one of these gammas could not be certified to 1e-7 nats."
        _refuse("gamma-uncertain", detail, "/gamma", "move gamma a little, or give costs of similar size")
    chances = np.random.SeedSequence(question.seed).spawn(len(places))
    return [
        _point(question, taxonomy, profiles[place], int(place), found, row, np.random.default_rng(chances[row]))
        for row, place in enumerate(places)
    ]


def _point(
    question: Question,
    taxonomy: Taxonomy,
    profile: Profile,
    place: int,
    found: Optima,
    row: int,
    chance: np.random.Generator,
) -> Point:
    gamma = float(question.gammas[row % len(question.gammas)])
    known = publication.recoverable(taxonomy, found.strategy[row], found.active[row])
    before = None
    if question.target is not None:
        target = profile_of(question.target, "/target").shares
        before = float(divergence(profile.shares, target))
    bound = found.critical.bound
    return Point(
        profile=place,
        gamma=gamma,
        entropy=float(found.entropy[row]),
        entropy_before=float(entropy(profile.shares)),
        gamma_crit=float(found.critical.rate[row]),
        gamma_crit_bound=None if bound is None else float(bound[row]),
        critical_entropy=float(found.critical.entropy[row]),
        gap=float(found.gap[row]),
        strategy=found.strategy[row],
        apparent=found.apparent[row],
        recoverable=np.flatnonzero(known),
        divergence=None if found.divergence is None else float(found.divergence[row]),
        divergence_before=before,
        comparisons={kind: _comparison(kind, profile.shares, gamma) for kind in question.compare},
        published=_published(question, taxonomy, profile, found.strategy[row], chance),
    )


def _comparison(kind: Comparator, shares: Floats, rate: float) -> Comparison:
    made = compare(kind, shares, rate)
    return Comparison(float(entropy(made.apparent)), made.critical, made.apparent)


def _published(
    question: Question, taxonomy: Taxonomy, profile: Profile, strategy: Floats, chance: np.random.Generator
) -> Published | None:
    """Return what would be published of counts; groups stand as in the question, not in tree order."""
    if profile.counts is None:
        return None
    made = publication.publish(taxonomy, profile.counts, strategy, chance)
    place = np.empty(taxonomy.leaves, dtype=np.int64)
    place[taxonomy.order] = np.arange(taxonomy.leaves)
    groups = tuple(
        [int(counts[level.group_of[place[group[0]]]]) for group in given]
        for given, level, counts in zip(question.levels, taxonomy.levels, made.groups, strict=True)
    )
    return Published(made.leaves, groups, publication.apparent_entropy(taxonomy, made))


def document(point: Point) -> dict[str, object]:
    """Return a point as plain JSON values."""
    comparisons = {
        kind: {"entropy": made.entropy, "critical": made.critical, "apparent": made.apparent.tolist()}
        for kind, made in point.comparisons.items()
    }
    made = point.published
    published = None
    if made is not None:
        published = {"leaves": made.leaves.tolist(), "groups": made.groups, "entropy": made.entropy}
    plain = {name: getattr(point, name) for name in _PLAIN}
    return {
        **plain,
        "strategy": point.strategy.tolist(),
        "apparent": point.apparent.tolist(),
        "recoverable": len(point.recoverable),
        "recoverable_leaves": point.recoverable.tolist(),
        "comparisons": comparisons,
        "published": published,
    }


def _profile(values: Numbers, leaves: int, where: str) -> Profile:
    if len(values) != leaves:
        _refuse(
            "profile-length", "All profiles have the same leaves.", where, f"give {leaves} entries, as in the first"
        )
    return profile_of(values, where)


def _costs(given: Sequence[Sequence[float]], leaves: int, levels: int) -> Floats:
    if len(given) != leaves or any(len(row) != levels for row in given):
        detail = "Costs are a table of leaves by levels."
        _refuse("costs-shape", detail, "/costs", f"give {leaves} rows of {levels} numbers")
    costs = np.array(given, dtype=np.float64)
    if (costs < 0).any():
        _refuse("costs-negative", "A cost is not negative.", "/costs", "give 0 or more in every place")
    return costs


def _target(given: Numbers, leaves: int) -> Floats:
    target = _profile(given, leaves, "/target").shares
    if (target <= 0).any():
        detail = "The divergence from a target without mass at some leaf is infinite."
        _refuse("target-zero", detail, "/target", "give every leaf a positive share")
    return target


def _check_amount(question: Question, leaves: int) -> None:
    """Refuse what would take longer than an answer may: it says how many results would fit."""
    results, each = len(question.profiles) * len(question.gammas), leaves * len(question.levels)
    cells = MOST_CELLS if question.costs is None else MOST_CELLS // 2
    if results * each > cells or results > MOST_RESULTS:
        fit = min(cells // each, MOST_RESULTS)
        detail = "Profiles times gammas times leaves times levels are too many for one answer."
        advice = f"of {leaves} leaves and {len(question.levels)} levels ask for at most {fit} profiles times gammas"
        if not fit:
            advice = f"one profile may have at most {cells} leaves times levels"
        _refuse("profiles-too-large", detail, "/profiles", advice)
    if question.costs is not None and len(question.profiles) > MOST_PRICED:
        detail = "Profiles with costs take a linear program each."
        _refuse("too-many-profiles", detail, "/profiles", f"with costs ask for at most {MOST_PRICED} profiles")


def _check_gammas(gammas: Sequence[float], shares: Floats, costs: Floats | None) -> None:
    """Refuse a gamma that some profile cannot reach, and say what all can."""
    limit = float(greatest_cost(shares, costs).min())
    for place, gamma in enumerate(gammas):
        where = pointer("gamma", place) if len(gammas) > 1 else "/gamma"
        if gamma > limit * (1 + 1e-9) or gamma < 0:
            detail = f"No strategy costs that much: all mass at its dearest level costs {limit:.12g}."
            if gamma < 0:
                detail = "A strategy costs nothing or more."
            _refuse("gamma-infeasible", detail, where, f"give 0 to {limit:.12g}")


def _refuse(code: str, detail: str, where: str, advice: str) -> NoReturn:
    raise Unprocessable(code, detail, [FieldError(where, advice)])
