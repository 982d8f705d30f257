"""From scores to the gate: shards planned, estimates combined, the figures that a gate is held against."""

from collections.abc import Mapping

from pratique_privacy.gate import evaluate, figures_of
from pratique_shared.contracts.adversary import AdversaryName, Attacks
from pratique_shared.contracts.facts import AttackPlan, Blob, Measured, ReleaseRequested, Shard, ShardScored
from pratique_shared.contracts.gate import GateResult
from pratique_shared.contracts.posture import AttackFigures, AttackResult, CompositionFigures
from pratique_shared.contracts.problems import Conflict
from pratique_shared.frames.estimates import Score, combine, disagrees

SHARD_LOOKUPS = 50_000_000  # look-ups of a query's subset in a projection count, about ten seconds of one core

MOST_SHARDS = 200  # of one adversary: each is a fact, a message and a call
EXACT = Shard(adversary="exact", first=0, last=1)


def plan_shards(attacks: Attacks | None, matrix: Blob, rows: int, columns: int) -> AttackPlan:
    """Cut the repetitions of each adversary into shards of about ten seconds; the cut changes no number.

    Without adversaries there are no shards, and the matrix is kept for those that are asked for later.
    """
    if attacks is None:
        return AttackPlan(matrix=matrix, rows=rows, columns=columns, attacks=None, shards=())
    per_repetition = max(rows, 1) * 2**columns
    step = max(1, SHARD_LOOKUPS // per_repetition, -(-attacks.repetitions // MOST_SHARDS))
    shards = [EXACT]
    asked: list[AdversaryName] = []
    if attacks.partial_qi is not None:
        asked.append("partial_qi")
    if attacks.linkage is not None:
        asked.append("linkage")
    for adversary in asked:
        cuts = range(0, attacks.repetitions, step)
        shards += [Shard(adversary=adversary, first=at, last=min(at + step, attacks.repetitions)) for at in cuts]
    return AttackPlan(matrix=matrix, rows=rows, columns=columns, attacks=attacks, shards=tuple(shards))


def attack_figures(plan: AttackPlan, scores: Mapping[str, ShardScored]) -> AttackFigures | None:
    """Combine the scores of a plan; None when no adversary was asked for.

    Raises `Conflict` when a score was made on another matrix than that of the plan.
    """
    if plan.attacks is None:
        return None
    if any(score.matrix_sha256 != plan.matrix.sha256 for score in scores.values()):
        raise Conflict("score-differs", "A score was made on other codes than those of this release.")
    exact = scores[EXACT.task]
    attacks = plan.attacks
    partial = linkage = None
    if attacks.partial_qi is not None:
        partial = _result(plan, attacks, "partial_qi", scores, exact.partial_qi)
    if attacks.linkage is not None:
        linkage = _result(plan, attacks, "linkage", scores, exact.linkage)
    return AttackFigures(exact_qi=exact.exact_qi, partial_qi=partial, linkage=linkage)


def _result(
    plan: AttackPlan,
    attacks: Attacks,
    adversary: AdversaryName,
    scores: Mapping[str, ShardScored],
    exact: float | None,
) -> AttackResult:
    shards = [scores[shard.task] for shard in plan.shards if shard.adversary == adversary]
    shards.append(scores[EXACT.task])  # an adversary whose exact part failed has failed
    failed = next((shard.error for shard in shards if shard.error is not None), None)
    estimate = None
    if failed is None:
        estimate = combine(Score(s.first, s.targets, s.sums, s.squares) for s in shards[:-1])
    return AttackResult(
        exact=exact,
        estimate=None if estimate is None else estimate.estimate,
        se=None if estimate is None else estimate.se,
        se_targets=None if estimate is None else estimate.se_targets,
        ci95=None if estimate is None else estimate.ci95,
        repetitions=attacks.repetitions,
        seed=attacks.seed,
        generator=next((shard.generator for shard in shards if shard.generator), ""),
        parameters=getattr(attacks, adversary).model_dump(),
        agrees=None if estimate is None or exact is None else not disagrees(estimate, exact),
        error=None if failed is None else failed.code,
    )


def judge(
    requested: ReleaseRequested,
    measured: Measured,
    attacks: AttackFigures | None,
    composition: CompositionFigures | None,
) -> GateResult:
    """Hold the gate; an adversary that failed, even one that no bound names, leaves the verdict open."""
    figures = figures_of(measured.after, measured.all_columns, attacks, measured.records.survival, composition)
    gate = evaluate(requested.gate, figures, empty=measured.after.rows == 0)
    failed = attacks is not None and (
        attacks.exact_qi is None
        or any(result is not None and result.error is not None for result in (attacks.partial_qi, attacks.linkage))
    )
    if failed and gate.verdict == "pass":
        return GateResult(verdict="indeterminate", checks=gate.checks)
    return gate
