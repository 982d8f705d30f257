"""The shard child: a matrix of codes comes in, the score of some repetitions goes out; utility units likewise."""

from typing import assert_never

import numpy as np
import numpy.typing as npt

from pratique_attack_sim.adversaries.credit import GENERATOR
from pratique_attack_sim.adversaries.exact import exact_qi
from pratique_attack_sim.adversaries.linkage import simulate_linkage
from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi, simulate_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_attack_sim.utility_child import score_units_in_child
from pratique_shared.contracts.facts import AttackPlan, Shard, ShardScored
from pratique_shared.frames.estimates import Score
from pratique_shared.runtime.child_process import Call, Reply


def score_in_child(call: Call) -> Reply:
    """Score what a call names on the matrix or table that comes with it. Runs in the child."""
    if call.body["op"] == "utility":
        return score_units_in_child(call)
    plan = AttackPlan.model_validate(call.body["plan"])
    shard = Shard.model_validate(call.body["shard"])
    codes = np.frombuffer(b"".join(call.blobs()), dtype="<i4").reshape(plan.rows, plan.columns)
    return Reply(scored(plan, shard, codes).model_dump(mode="json"), ())


def scored(plan: AttackPlan, shard: Shard, codes: npt.NDArray[np.int32]) -> ShardScored:
    """Run one shard."""
    attacks, matrix = plan.attacks, plan.matrix.sha256
    assert attacks is not None
    match shard.adversary:
        case "exact":
            exposed = exposure(codes)
            partial, linkage = attacks.partial_qi, attacks.linkage
            return ShardScored(
                matrix_sha256=matrix,
                exact_qi=exact_qi(exposed, plan.rows),
                partial_qi=None if partial is None else exact_partial_qi(exposed, plan.rows, forget=partial.forget),
                linkage=None
                if linkage is None
                else exact_linkage(codes, accuracy=linkage.accuracy, wrong_value=linkage.wrong_value),
            )
        case "partial_qi":
            assert attacks.partial_qi is not None
            forget = attacks.partial_qi.forget
            return _fact(
                matrix, simulate_partial_qi(codes, forget=forget, seed=attacks.seed, first=shard.first, last=shard.last)
            )
        case "linkage":
            assert attacks.linkage is not None
            return _fact(
                matrix,
                simulate_linkage(
                    codes,
                    accuracy=attacks.linkage.accuracy,
                    wrong_value=attacks.linkage.wrong_value,
                    seed=attacks.seed,
                    first=shard.first,
                    last=shard.last,
                ),
            )
        case _:
            assert_never(shard.adversary)


def _fact(matrix: str, score: Score) -> ShardScored:
    return ShardScored(
        matrix_sha256=matrix,
        first=score.first,
        targets=score.targets,
        sums=score.sums,
        squares=score.squares,
        generator=GENERATOR,
    )
