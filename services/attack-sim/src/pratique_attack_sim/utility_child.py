"""The utility operation of the child: a table of ranks comes in, the scores of some units go out."""

import importlib

import numpy as np

from pratique_attack_sim.utility.study import Learn, score_unit
from pratique_attack_sim.utility.table import RankTable
from pratique_shared.contracts.utility import UtilityTask, UtilityUnit
from pratique_shared.runtime.children import Call, Reply

FOREST = "pratique_attack_sim.utility.forest"


def score_units_in_child(call: Call) -> Reply:
    """Score the units that a call names on the table that comes with it. Runs in the child.

    The body is `{"op": "utility", "task": UtilityTask, "units": [UtilityUnit], "rows": n, "columns": d + 1}`, the blob
    the table row by row in little-endian 32 bits, labels last; the answer is `{"scores": [UtilityScored]}`.
    """
    body = call.body
    task = UtilityTask.model_validate(body["task"])
    units = [UtilityUnit.model_validate(unit) for unit in body["units"]]
    codes = np.frombuffer(b"".join(call.blobs()), dtype="<i4").reshape(body["rows"], body["columns"])
    table = RankTable.of(codes)
    # Loaded on the first call only: most attack workers never need it, and it takes seconds and 100 MB.
    learn: Learn = importlib.import_module(FOREST).learn_forest
    scores = []
    for unit in units:
        scores.append(score_unit(table, task, unit, learn).model_dump(mode="json"))
        call.progress({"done": len(scores), "total": len(units)})
    return Reply({"scores": scores}, ())
