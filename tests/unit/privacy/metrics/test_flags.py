"""What a reader must know before trusting the figures."""

import numpy as np
import polars as pl

from pratique_privacy.metrics.flags import flags, identifying
from pratique_privacy.metrics.measure import measure
from pratique_privacy.metrics.sensitive import FixedBins
from pratique_privacy.metrics.survival import labels_lost, survival_by_label
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.posture import PpiParameters
from pratique_shared.frames.records import LIST

MANY = pl.DataFrame({"q": [1, 2, 3, 4] * 10, "s": ["x", "y"] * 20, "n": [0, 1] * 20})
ROLES = Attributes(quasi_identifiers=("q",), sensitive=("s",), insensitive=("n",))


def raised(
    table: pl.DataFrame,
    *,
    bins: dict[str, FixedBins] | None = None,
    survival: dict[str, float] | None = None,
    no_gate: bool = False,
) -> tuple[str, ...]:
    after = measure(table, ROLES.quasi_identifiers, ROLES.sensitive, ppi=PpiParameters())
    return flags(table, after, ROLES, bins=bins or {}, survival_by_label=survival or {}, no_gate=no_gate)


def test_a_sound_release_has_no_flags() -> None:
    assert raised(MANY) == ()


def test_a_constant_sensitive_attribute_or_a_single_class_makes_t_trivial() -> None:
    assert raised(MANY.with_columns(s=pl.lit("x"))) == ("trivial_t",)
    assert raised(MANY.with_columns(q=pl.lit(1))) == ("trivial_t", "few_classes")
    numeric = MANY.with_columns(s=pl.col("n"))
    assert raised(numeric, bins={"s": FixedBins((100.0,), "above")}) == ("trivial_t",)
    assert raised(numeric, bins={"s": FixedBins((1.0,), "above")}) == ()


def test_thirty_rows_and_three_classes_are_not_few() -> None:
    three = MANY.filter(pl.col("q") < 4)
    assert three.height == 30
    assert raised(three) == ()
    assert raised(three.head(29)) == ("few_classes",)
    assert raised(MANY.filter(pl.col("q") < 3)) == ("few_classes",)


def test_a_starred_or_dropped_sensitive_attribute_is_told() -> None:
    starred = MANY.with_columns(s=pl.when(pl.col("q") == 1).then(pl.lit("*")).otherwise("s"))
    assert raised(starred) == ("suppressed_sa",)
    assert raised(MANY.drop("s")) == ("trivial_t", "suppressed_sa")
    lists = MANY.with_columns(pl.Series("s", [["*"], ["a"]] * 20, dtype=LIST))
    assert raised(lists) == ("suppressed_sa",)


def test_an_insensitive_column_with_more_than_half_unique_values_is_a_fingerprint() -> None:
    # 40 rows: 20 unique values are half, 21 are more.
    half = MANY.with_columns(pl.Series("n", [*range(20), *[-1] * 20]))
    more = MANY.with_columns(pl.Series("n", [*range(21), *[-1] * 19]))
    assert raised(half) == ()
    assert raised(more) == ("identifying_insensitive",)
    assert identifying(more, ["n", "gone"]) == ["n"]
    sparse = MANY.with_columns(pl.Series("n", [1, 2, 3, *[None] * 37]))
    assert identifying(sparse, ["n"]) == ["n"]
    assert identifying(MANY.with_columns(pl.Series("n", [None] * 40, dtype=pl.Int64)), ["n"]) == []


def test_an_empty_release_says_so_and_that_no_gate_stood() -> None:
    assert raised(MANY.head(0), no_gate=True, survival={"x": 0.0}) == (
        "empty_release",
        "rare_labels_lost",
        "no_gate",
    )


def test_survival_is_told_per_label_and_a_lost_label_is_flagged() -> None:
    labels = pl.Series(["UE", "UE", "AMF", None, "", "UE"])
    kept = np.array([True, False, False, True, False, True])
    survived = survival_by_label(labels, kept)
    assert survived == {"": 0.5, "AMF": 0.0, "UE": 2 / 3}
    assert raised(MANY, survival=survived) == ("rare_labels_lost",)
    assert raised(MANY, survival={"UE": 0.01}) == ()


def test_a_label_that_had_six_rows_is_lost_to_a_model_when_fewer_are_left() -> None:
    labels = pl.Series(["AMF"] * 6 + ["RIC"] * 5 + [None] * 6)
    everything = np.ones(17, np.bool_)
    assert not labels_lost(labels, everything)
    five_amf, four_ric, no_null = everything.copy(), everything.copy(), everything.copy()
    five_amf[0], four_ric[6], no_null[11:] = False, False, False
    assert labels_lost(labels, five_amf)
    assert not labels_lost(labels, four_ric)  # five were too few before
    assert not labels_lost(labels, no_null)  # null is no label
    assert not labels_lost(pl.Series(range(201)), np.zeros(201, np.bool_))
    after = measure(MANY, ROLES.quasi_identifiers, ROLES.sensitive, ppi=PpiParameters())
    assert flags(MANY, after, ROLES, bins={}, survival_by_label={"AMF": 5 / 6}, labels_lost=True) == (
        "rare_labels_lost",
    )


def test_labels_of_any_type_have_a_name_and_a_column_of_values_has_none() -> None:
    everything = np.ones(2, np.bool_)
    assert survival_by_label(pl.Series([["a", "b"], []], dtype=LIST), everything) == {"": 1.0, '["a", "b"]': 1.0}
    assert survival_by_label(pl.Series([3, 4]), everything) == {"3": 1.0, "4": 1.0}
    assert survival_by_label(pl.Series(range(201)), np.ones(201, np.bool_)) == {}
