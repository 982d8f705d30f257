"""Orphans: which blobs no fact names, and since when; the decision without the store."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from pratique_shared.contracts.facts import KEY_SUFFIX

AGE = timedelta(hours=24)  # no writer comes to its fact that late: a task ends after an hour
PATIENCE = 600.0  # seconds of a clock that never jumps between the look that finds an orphan and the one that ends it
_NAMED = re.compile(rb'"(blobs/[^"\\]+)"')


def named_in(facts: Iterable[bytes]) -> frozenset[str]:
    """Return the keys of the blobs that facts name, whatever kind of fact and wherever in it.

    A fact is read as text, so that one of a kind that came later keeps its blobs too.
    """
    return frozenset(key.decode() for fact in facts for key in _NAMED.findall(fact))


def unnamed(written: Mapping[str, datetime], named: frozenset[str], at: datetime) -> frozenset[str]:
    """Return the blobs that no fact names and of which nothing was written for `AGE`."""
    newest: dict[str, datetime] = {}
    for key, moment in written.items():
        blob = key.removesuffix(KEY_SUFFIX)
        newest[blob] = max(moment, newest.get(blob, moment))
    return frozenset(blob for blob, moment in newest.items() if blob not in named and at - moment > AGE)


def seen_twice(
    first_seen: Mapping[str, float], found: frozenset[str], at: float
) -> tuple[dict[str, float], frozenset[str]]:
    """Return what to remember for the next look, and the orphans that may go.

    The calendar alone is not believed: a clock that jumps ahead makes every blob look old. `at` is monotonic, and an
    orphan goes when it was one `PATIENCE` ago already.
    """
    remembered = {blob: first_seen.get(blob, at) for blob in found}
    ripe = frozenset(blob for blob, since in remembered.items() if at - since >= PATIENCE)
    return {blob: since for blob, since in remembered.items() if blob not in ripe}, ripe
