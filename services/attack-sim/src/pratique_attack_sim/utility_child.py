"""The utility operation of the child: a table of ranks comes in, the scores of some units go out."""

import importlib

import numpy as np

from pratique_attack_sim.utility.study import Learn, score_unit
from pratique_attack_sim.utility.table import RankTable
from pratique_shared.contracts.utility import RepeatScored, UtilityPlan, units_of
from pratique_shared.runtime.child_process import Call, Reply

FOREST = "pratique_attack_sim.utility.forest"


def score_units_in_child(call: Call) -> Reply:
    """Score the units that a call names on the table that comes with it. Runs in the child.

    The body is `{"op": "utility", "plan": UtilityPlan, "task": the shard's name}`, the blob the table row by row in
    little-endian 32 bits, labels last; the answer is a `RepeatScored`.
    """
    plan = UtilityPlan.model_validate(call.body["plan"])
    repeat = plan.tasks.index(call.body["task"])
    units = [unit for unit in units_of(plan.task) if unit.repeat == repeat]
    codes = np.frombuffer(b"".join(call.blobs()), dtype="<i4").reshape(plan.rows, plan.columns)
    table = RankTable.of(codes)
    # Loaded on the first call only: most attack workers never need it, and it takes seconds and 100 MB.
    learn: Learn = importlib.import_module(FOREST).learn_forest
    scores = tuple(score_unit(table, plan.task, unit, learn) for unit in units)
    return Reply(RepeatScored(matrix_sha256=plan.matrix.sha256, scores=scores).model_dump(mode="json"), ())
