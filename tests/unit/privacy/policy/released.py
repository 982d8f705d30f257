"""A table through a policy, with fixed secrets, in one call."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from pratique_privacy.policy.apply import Transformed, apply_policy
from pratique_privacy.policy.keys import Keys
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.problems import PolicyRefused
from pratique_shared.frames.records import table_of

TENANT = bytes(range(32))
RUN = b"run-secret-of-the-test-run-nr-01"
KEYS = Keys(TENANT, RUN)


def entropy(seed: int = 0) -> Callable[[int], bytes]:
    """Return a source of bytes that look fresh and repeat from run to run."""
    drawn = iter(range(10**9))
    return lambda size: hashlib.shake_256(f"{seed}/{next(drawn)}".encode()).digest(size)


def policy_of(*steps: Mapping[str, object]) -> Policy:
    """Return the policy of these steps."""
    return Policy.model_validate({"steps": steps})


def release(
    rows: Sequence[Mapping[str, object]] | pl.DataFrame,
    *steps: Mapping[str, object],
    qi: Sequence[str] = ("v",),
    keys: Keys = KEYS,
    pilot: str | None = "lab",
    seed: int = 0,
    **lists: Sequence[str],
) -> Transformed:
    """Apply the steps; what stands in no list is insensitive."""
    table = rows if isinstance(rows, pl.DataFrame) else table_of(rows)
    listed = {*qi, *(name for names in lists.values() for name in names)}
    lists.setdefault("insensitive", [name for name in table.columns if name not in listed])
    attributes = Attributes.model_validate({"quasi_identifiers": qi, **lists})
    return apply_policy(table, policy_of(*steps), attributes, keys=keys, pilot=pilot, entropy=entropy(seed))


def column(
    values: Sequence[object],
    *steps: Mapping[str, object],
    keys: Keys = KEYS,
    pilot: str | None = "lab",
    seed: int = 0,
) -> list[Any]:
    """Return one column after steps on it."""
    rows = [{"v": value} for value in values]
    named = [{"column": "v", **step} for step in steps]
    return release(rows, *named, keys=keys, pilot=pilot, seed=seed).table["v"].to_list()


def partition(labels: Sequence[object]) -> list[list[int]]:
    """Return the groups of positions that share a label."""
    keys = [repr(label) for label in labels]
    return sorted([place for place, other in enumerate(keys) if other == key] for key in set(keys))


def refusal(code: str, call: Callable[[], object]) -> PolicyRefused:
    """Return the refusal of a call, which must have this code."""
    with pytest.raises(PolicyRefused) as refused:
        call()
    assert refused.value.code == code
    return refused.value
