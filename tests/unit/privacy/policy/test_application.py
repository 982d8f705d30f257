"""The application of a policy: order of columns and rows, determinism, and what shows of the source."""

from typing import Any

import polars as pl

from pratique_privacy.policy.apply import apply_policy
from pratique_privacy.policy.builtin import BUILT_IN, attributes_of
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.frames.records import table_of
from tests.unit.privacy.policy.released import KEYS, entropy, policy_of, refusal, release

ROWS: list[dict[str, object]] = [
    {"packets": 5, "role": "UE", "imsi": ["001010000000001"], "ip": "10.0.0.1", "guti": ["g"], "protocols": ["udp"]},
    {"packets": 9, "role": "AMF", "imsi": [], "ip": "10.0.1.1", "guti": [], "protocols": ["ngap", "sctp"]},
]
LISTS: dict[str, Any] = {"identifiers": ["imsi"], "sensitive": ["protocols"], "drop": ["guti"]}
HIDE: dict[str, object] = {"column": "imsi", "op": "hmac"}


def test_columns_stand_in_the_order_of_their_classes_and_rows_in_that_of_the_source() -> None:
    made = release(ROWS, HIDE, qi=["role", "ip"], **LISTS)
    assert made.table.columns == ["imsi", "role", "ip", "protocols", "packets"]
    assert made.table["role"].to_list() == ["UE", "AMF"]
    assert made.kept.tolist() == [0, 1]
    assert made.table.schema["packets"] == pl.Int64


def test_an_empty_policy_publishes_what_is_classified_untouched() -> None:
    table = table_of(ROWS)
    made = release(ROWS, qi=["ip"], drop=["imsi", "guti"])
    assert made.table.equals(table.select("ip", "packets", "role", "protocols"))
    assert (made.unreadable, made.findings) == ({}, ())


def test_the_same_input_policy_and_keys_give_the_same_table() -> None:
    steps: list[dict[str, object]] = [
        HIDE,
        {"column": "ip", "op": "crypto_pan"},
        {"column": "packets", "op": "quantile", "buckets": 2},
    ]
    one, two = (release(ROWS, *steps, qi=["ip"], seed=seed, **LISTS) for seed in (0, 1))
    assert one.table.equals(two.table)
    assert [finding.code for finding in one.findings] == ["prefix-structure-kept"]


def test_the_pilot_is_read_from_the_source_that_drops_it() -> None:
    rows = [{"v": "a", "pilot": 1}, {"v": "a", "pilot": 2}]
    made = release(rows, {"column": "v", "op": "hmac"}, drop=["pilot"], pilot=None)
    assert made.table.columns == ["v"]
    assert made.table["v"].n_unique() == 2


def test_steps_run_in_the_order_in_which_they_stand() -> None:
    rows = [{"v": f"10.0.{n}.1"} for n in range(4)]
    prefix, rare = {"column": "v", "op": "ip_prefix", "v4": 16}, {"column": "v", "op": "threshold", "tau": 2}
    assert release(rows, prefix, rare).table["v"].to_list() == ["10.0.0.0/16"] * 4
    assert release(rows, rare, prefix).table["v"].to_list() == ["*"] * 4


def test_nothing_of_a_record_or_a_secret_shows_in_a_repr() -> None:
    shown = repr(release(ROWS, HIDE, qi=["ip"], **LISTS))
    assert "001010000000001" not in shown
    assert "10.0.0.1" not in shown
    assert "run-secret" not in shown


def test_a_policy_that_cannot_stand_never_runs() -> None:
    table = table_of(ROWS)
    attributes = Attributes(
        identifiers=("imsi",), quasi_identifiers=("ip",), drop=("guti", "role", "packets", "protocols")
    )
    call = (table, policy_of(), attributes)
    refused = refusal("identifier-in-clear", lambda: apply_policy(*call, keys=KEYS, pilot=None, entropy=entropy()))
    assert [error.pointer for error in refused.errors] == ["/attributes/identifiers/0"]


def test_hmac_addresses_make_the_classes_of_raw_ones() -> None:
    rows = [{"ip": f"10.0.0.{n % 7}", "protocols": ["tcp"]} for n in range(20)]
    table = table_of(rows)
    raw, keyed = (
        apply_policy(
            table,
            BUILT_IN[name].policy,
            attributes_of(BUILT_IN[name], table.columns),
            keys=KEYS,
            pilot=None,
            entropy=entropy(),
        ).table
        for name in ("C0", "C1")
    )
    both = pl.DataFrame({"raw": raw["ip"], "keyed": keyed["ip"]})
    assert both.n_unique() == both["raw"].n_unique() == both["keyed"].n_unique() == 7
