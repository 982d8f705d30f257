"""Host profiles: packets by protocol of the hosts of a capture, generalised over the taxonomy of protocols."""

from collections.abc import Mapping, Sequence
from typing import Any

from pratique_privacy.generalisation.comparators import Comparator
from pratique_privacy.generalisation.curve import MOST_CELLS, MOST_RESULTS, Question, curve, document
from pratique_privacy.policy.families import ancestors_of
from pratique_shared.contracts.problems import Unprocessable

LEVELS = 2  # families of protocols, and what steers the network apart from what rides on it


def host_profiles(
    counts: Mapping[str, Mapping[str, int]], gammas: Sequence[float], compare: Sequence[Comparator], seed: int
) -> dict[str, Any]:
    """Generalise every distinct profile at every gamma (Gil et al. 2025); hosts without a protocol have none.

    The answer has `leaves` (names of protocols), `taxonomy` (their families and domains), `hosts` (of each profile,
    whose it is) and `results` as for profiles that are sent, in the order profile, gamma. Raises `Unprocessable`.
    """
    leaves = sorted({name for own in counts.values() for name, count in own.items() if count})
    owners: dict[tuple[int, ...], list[str]] = {}
    for host, own in counts.items():
        if any(own.values()):
            owners.setdefault(tuple(own.get(name, 0) for name in leaves), []).append(host)
    if not owners:
        raise Unprocessable("source-empty", "No host of this capture has a protocol: there is no profile.")
    names = [[ancestors_of(name)[level] for name in leaves] for level in range(LEVELS)]
    groups = [
        [[leaf for leaf, own in enumerate(level) if own == name] for name in dict.fromkeys(level)] for level in names
    ]
    profiles = list(owners)
    # Some at a time: the limit of one answer bounds the memory of one optimisation.
    step = max(1, min(MOST_CELLS // (len(leaves) * LEVELS), MOST_RESULTS) // len(gammas))
    results = []
    for start in range(0, len(profiles), step):
        question = Question(profiles[start : start + step], groups, gammas, compare=compare, seed=seed + start)
        results += [{**document(point), "profile": point.profile + start} for point in curve(question)]
    taxonomy = [dict(zip(leaves, level, strict=True)) for level in names]
    return {"leaves": leaves, "taxonomy": taxonomy, "hosts": list(owners.values()), "results": results}
