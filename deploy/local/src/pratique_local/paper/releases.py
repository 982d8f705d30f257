"""Releases: every source under every configuration, through the same machinery as the service's."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pratique_attack_sim.shard_child import scored
from pratique_local.paper.corpus import HostTable
from pratique_privacy.pipeline import Request, code_matrix, run
from pratique_privacy.policy.builtin import BUILT_IN, BuiltIn, attributes_of
from pratique_privacy.policy.keys import Keys
from pratique_privacy.sweeps.figures import ReleaseFigures
from pratique_privacy.verdict import EXACT, plan_shards
from pratique_shared.contracts.adversary import AdversaryName, Attacks
from pratique_shared.contracts.facts import AttackPlan, Blob, ShardScored
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.frames.estimates import Estimate, Score, combine, disagrees
from pratique_shared.frames.partition import Codes

# No token leaves and no figure depends on a key; a fixed one lets the simulations be repeated.
KEY = hashlib.sha256(b"the report publishes no pseudonym").digest()


@dataclass(frozen=True)
class Swept:
    """The figures of one release, and how many of its simulations the exact values contradict."""

    figures: ReleaseFigures
    simulations: int
    disagreements: int


def sweep(tables: Sequence[HostTable], attacks: Attacks) -> Iterator[Swept]:
    """Measure and attack every table under C0 .. C7 (Kekatos et al. 2026, §V-E)."""
    for table in tables:
        for built_in in BUILT_IN.values():
            yield _release(table, built_in, attacks)


def _release(table: HostTable, built_in: BuiltIn, attacks: Attacks) -> Swept:
    attributes = attributes_of(built_in, table.hosts.columns)
    request = Request(attributes, built_in.policy, PpiParameters(), pilot=None)
    made = run(table.hosts, request, Keys(KEY, KEY), bytes)  # no configuration draws salts or tokens
    codes = code_matrix(made.table, attributes, KEY, f"{table.group}/{table.name}/{built_in.name}")
    plan, scores = _attacked(codes, attacks)
    exact = scores[EXACT.task]
    partial, linkage = _estimate(plan, scores, "partial_qi"), _estimate(plan, scores, "linkage")
    figures = ReleaseFigures(
        group=table.group,
        configuration=built_in.name,
        source=table.name,
        k=made.after.k,
        ppi=made.after.ppi,
        ppi_prime=made.after.ppi_prime,
        exact=exact.exact_qi,
        partial=_held(exact.partial_qi, partial),
        linkage=_held(exact.linkage, linkage),
    )
    pairs = [(found, value) for found, value in ((partial, exact.partial_qi), (linkage, exact.linkage)) if found]
    return Swept(figures, len(pairs), sum(disagrees(found, value) for found, value in pairs))


def _attacked(codes: Codes, attacks: Attacks) -> tuple[AttackPlan, Mapping[str, ShardScored]]:
    data = np.ascontiguousarray(codes, dtype="<i4").tobytes()
    blob = Blob(key="", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
    plan = plan_shards(attacks, blob, codes.shape[0], codes.shape[1])
    assert plan is not None
    return plan, {shard.task: scored(plan, shard, codes) for shard in plan.shards}


def _estimate(plan: AttackPlan, scores: Mapping[str, ShardScored], adversary: AdversaryName) -> Estimate | None:
    shards = [scores[shard.task] for shard in plan.shards if shard.adversary == adversary]
    if not shards:
        return None
    return combine(Score(shard.first, shard.targets, shard.sums, shard.squares) for shard in shards)


def _held(expected: float | None, simulated: Estimate | None) -> float | None:
    """Return the exact expectation where it is computed, else the simulated mean, as a gate does."""
    return expected if expected is not None or simulated is None else simulated.estimate
