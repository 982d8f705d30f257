"""The O-RAN scenario from a generated capture to the published figures, through all parts of the product."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pratique_attack_sim.adversaries.linkage_exact import exact_linkage
from pratique_attack_sim.adversaries.partial_qi import exact_partial_qi
from pratique_attack_sim.adversaries.subsets import exposure
from pratique_ingest.plan import read_plan
from pratique_ingest.profile import profile_capture, session_row
from pratique_local.sample import truth_path, write_sample, write_truth
from pratique_privacy.metrics.measure import classes_of, measure
from pratique_privacy.policy.generalise import text_prefix_reading
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.frames.records import table_of

QI = ["region", "window", "role"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The session rows of the generated capture, the network plan taken from the truth beside it."""
    path: Path = tmp_path_factory.mktemp("oran") / "oran.pcapng"
    write_truth(path, write_sample(path, scenario="oran"))
    regions = json.loads(truth_path(path).read_text())["regions"]
    plan = "\n".join(["[regions]", *(f'"{gnb}/32" = "{region}"' for gnb, region in regions.items())])
    with path.open("rb") as source:
        profile = profile_capture(source, pilot="lab", plan=read_plan(plan))
    return [session_row(session) for session in profile.sessions]


@pytest.fixture(scope="module")
def table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """The rows with the differentiator's first octet, which says the kind of slice, as its bucket."""
    bucket = text_prefix_reading(2)
    return table_of(rows).with_columns(pl.Series("bucket", [bucket(row["sd"]) for row in rows]))


def test_the_generated_sessions_have_the_published_posture(table: pl.DataFrame) -> None:
    # Classes 6 {G,T,M}=(2,2,2), 3=(1,1,1), 3=(2,0,1): k_rw = (36+9+9)/12 = 9/2; t = 1/2 (1/3 + 1/3 + 0) - ... = 1/4.
    found = measure(table, QI, ["bucket"], ppi=PpiParameters())
    assert (found.rows, found.classes, found.k, found.l, found.t, found.k_rw) == (12, 3, 3, 2, 0.25, 4.5)
    assert (found.ppi, found.ppi_prime) == (0.765, 0.885)


def test_the_generated_sessions_are_found_as_often_as_published(table: pl.DataFrame) -> None:
    columns = [classes_of(table, [name]) for name in QI]
    codes = np.column_stack([np.asarray(column).reshape(len(table), -1)[:, 0] for column in columns]).astype(np.int32)
    assert exact_partial_qi(exposure(codes), len(table), forget=0.5) == pytest.approx(float(Fraction(3, 16)))
    assert exact_linkage(codes, accuracy=0.8, wrong_value="uniform") == pytest.approx(float(Fraction(27, 125)))


def test_without_the_network_plan_sessions_have_no_region_but_all_else(rows: list[dict[str, Any]]) -> None:
    assert {row["region"] for row in rows} == {"north", "south"}
    assert {row["role"] for row in rows} == {"UE", "RedCap UE"}
    assert len({row["subscriber"] for row in rows}) == 9
