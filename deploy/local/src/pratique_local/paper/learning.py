"""Learning: Table V on the pooled hosts of all captures."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pratique_attack_sim.utility.forest import learn_forest
from pratique_attack_sim.utility.study import score_unit
from pratique_attack_sim.utility.table import RankTable
from pratique_local.paper.corpus import HostTable
from pratique_privacy.utility.ranks import ranked
from pratique_privacy.utility.study import combine_units
from pratique_shared.contracts.problems import Unprocessable
from pratique_shared.contracts.utility import PAPER_REPEATS, UtilityRow, UtilityTask, units_of

FEATURES = ("protocol_count", "packets", "peer_count")  # §V-G; the protocol set would tell the role by construction
LABEL = "role"


@dataclass(frozen=True)
class Learned:
    """The rows of Table V, the records and roles that they were learnt from; `edge` are the two rarest roles.

    `single` are the rows of the first split alone, as the paper reports them.
    """

    records: int
    labels: tuple[str, ...]
    edge: tuple[str, ...]
    rows: tuple[UtilityRow, ...]
    single: tuple[UtilityRow, ...]


def learn(tables: Sequence[HostTable], task: UtilityTask) -> Learned | None:
    """Run a utility study on the pooled records; None where they hold fewer than two roles to tell apart."""
    pooled = pl.concat([table.hosts.select(*FEATURES, LABEL) for table in tables])
    try:
        found = ranked(pooled, FEATURES, LABEL)
    except Unprocessable:
        return None
    table = RankTable.of(found.codes)
    scores = [score_unit(table, task, unit, learn_forest) for unit in units_of(task)]
    edge = tuple(found.labels[code] for code in table.edge.tolist())
    first = [score for score in scores if score.unit.repeat < PAPER_REPEATS]
    single = combine_units(task.model_copy(update={"repeats": PAPER_REPEATS}), first)
    return Learned(len(found.codes), found.labels, edge, combine_units(task, scores), single)
