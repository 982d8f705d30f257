"""Validity: every reason for which attributes and a policy are turned down, with pointers and without values."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from pratique_privacy.policy.enumerable import enumerable
from pratique_privacy.policy.validity import DETAILS, check_policy
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import ColumnKind
from pratique_shared.contracts.policy import Policy
from pratique_shared.contracts.problems import PolicyRefused
from tests.unit.privacy.policy.released import policy_of

COLUMNS: dict[str, ColumnKind] = {
    "ip": "text",
    "role": "text",
    "kwh": "number",
    "n": "integer",
    "up": "boolean",
    "protocols": "list",
    "tag": "text",
}
GOOD: dict[str, Sequence[str]] = {
    "quasi_identifiers": ["ip"],
    "sensitive": ["kwh"],
    "insensitive": ["role", "n", "up", "protocols", "tag"],
}


def complaints(
    *steps: Mapping[str, object],
    columns: Mapping[str, ColumnKind] = COLUMNS,
    sample: pl.DataFrame | None = None,
    **attributes: object,
) -> tuple[str, list[str]]:
    """Return the code and the pointers of the refusal, or `("", [])`."""
    refused = None
    try:
        check_policy(Attributes.model_validate({**GOOD, **attributes}), policy_of(*steps), columns, sample=sample)
    except PolicyRefused as answer:
        refused = answer
    if refused is None:
        return "", []
    assert refused.detail == DETAILS[refused.code]
    told = " ".join([refused.detail, *(error.detail for error in refused.errors)]).split()
    assert not {"kwh", "protocols", "tag"} & set(told)
    return refused.code, [error.pointer for error in refused.errors]


def test_what_can_stand_passes() -> None:
    assert complaints() == ("", [])
    assert complaints(
        {"column": "ip", "op": "ip_prefix"},
        {"column": "ip", "op": "threshold", "tau": 3},
        {"op": "class_support", "tau": 5, "exempt": {"column": "role", "rarest": 2}},
        {"column": "kwh", "op": "top_bottom", "percentile": 99},
        sensitive_bins={"kwh": {"quantile": 10}},
        ordered={"kwh": [1, 2]},
    ) == ("", [])


def test_a_column_in_no_list_is_named_by_its_place() -> None:
    with pytest.raises(PolicyRefused) as refused:
        check_policy(Attributes(quasi_identifiers=("ip",)), policy_of(), {"ip": "text", "secret": "text"})
    assert refused.value.code == "attribute-unlisted"
    assert [error.pointer for error in refused.value.errors] == ["/attributes"]
    assert "column 2 " in refused.value.errors[0].detail
    assert "secret" not in refused.value.errors[0].detail


def test_unknown_doubled_and_repeated_columns_are_pointed_at() -> None:
    assert complaints(drop=["nowhere"]) == ("attribute-unknown", ["/attributes/drop/0"])
    assert complaints(drop=["ip"]) == ("attribute-duplicate", ["/attributes/drop/0"])
    assert complaints(sensitive=["kwh", "kwh"]) == ("attribute-duplicate", ["/attributes/sensitive/1"])


def test_a_release_has_one_to_twelve_quasi_identifiers() -> None:
    assert complaints(quasi_identifiers=[], drop=["ip"]) == (
        "quasi-identifier-missing",
        ["/attributes/quasi_identifiers"],
    )
    columns: dict[str, ColumnKind] = {f"q{n}": "text" for n in range(13)}
    none: dict[str, Any] = {"sensitive": [], "insensitive": []}
    found = complaints(columns=columns, quasi_identifiers=list(columns), **none)
    assert found == ("too-many-quasi-identifiers", ["/attributes/quasi_identifiers"])
    twelve = complaints(columns=columns, quasi_identifiers=list(columns)[:12], sensitive=["q12"], insensitive=[])
    assert twelve == ("", [])


def test_steps_on_unknown_and_dropped_columns_are_pointed_at() -> None:
    assert complaints({"column": "x", "op": "cell"}) == ("column-unknown", ["/policy/steps/0/column"])
    gone = [{"column": "tag", "op": "drop_column"}, {"column": "tag", "op": "cell"}]
    assert complaints(*gone) == ("column-dropped", ["/policy/steps/1/column"])
    dropped: dict[str, Any] = {"insensitive": ["role", "n", "up", "protocols"], "drop": ["tag"]}
    assert complaints({"column": "tag", "op": "cell"}, **dropped) == ("column-dropped", ["/policy/steps/0/column"])
    for column, code in (("x", "column-unknown"), ("tag", "column-dropped")):
        exempt = {"op": "class_support", "tau": 2, "exempt": {"column": column, "rarest": 1}}
        assert complaints(exempt, **dropped) == (code, ["/policy/steps/0/exempt/column"])


@pytest.mark.parametrize("step", [None, "threshold", "text_prefix", "ip_prefix"])
def test_a_direct_identifier_must_be_hidden(step: str | None) -> None:
    given: dict[str, dict[str, object]] = {"threshold": {"tau": 2}, "text_prefix": {"n": 3}}
    steps: list[dict[str, object]] = [{"column": "tag", "op": step, **given.get(step, {})}] if step else []
    lists: dict[str, Any] = {"identifiers": ["tag"], "insensitive": ["role", "n", "up", "protocols"]}
    assert complaints(*steps, **lists) == ("identifier-in-clear", ["/attributes/identifiers/0"])


@pytest.mark.parametrize("step", ["hmac", "salted_hash", "token", "ipv4_shaped", "crypto_pan", "cell", "drop_column"])
def test_an_identifier_that_is_pseudonymised_suppressed_or_dropped_may_stand(step: str) -> None:
    lists: dict[str, Any] = {"identifiers": ["tag"], "insensitive": ["role", "n", "up", "protocols"]}
    assert complaints({"column": "tag", "op": step}, **lists) == ("", [])


@pytest.mark.parametrize("op", ["hmac", "salted_hash", "token"])
def test_only_text_integers_and_lists_get_pseudonyms(op: str) -> None:
    step = {"op": op, **({"acknowledge_enumerable": True} if op == "salted_hash" else {})}
    for column, fits in (("tag", True), ("n", True), ("protocols", True), ("kwh", False), ("up", False)):
        wanted = ("", []) if fits else ("op-not-applicable", ["/policy/steps/0/column"])
        assert complaints({"column": column, **step}) == wanted


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        ({"op": "ip_prefix"}, ["n", "kwh", "up"]),
        ({"op": "crypto_pan"}, ["n", "kwh", "up"]),
        ({"op": "protocol_family"}, ["n", "kwh", "up"]),
        ({"op": "text_prefix", "n": 2}, ["kwh", "up"]),
        ({"op": "bin", "width": 2}, ["up"]),
        ({"op": "quantile", "buckets": 2}, ["up", "protocols"]),
        ({"op": "top_bottom", "percentile": 9}, ["up", "protocols"]),
        ({"op": "top_bottom", "high": 9}, ["up"]),
        ({"op": "hierarchy", "table": {"a": ["b"]}}, []),
        ({"op": "threshold", "tau": 2}, []),
    ],
)
def test_an_operation_acts_on_the_kinds_of_column_that_it_can_read(step: dict[str, object], columns: list[str]) -> None:
    for column in COLUMNS:
        found = complaints({"column": column, **step})
        assert found == (("op-not-applicable", ["/policy/steps/0/column"]) if column in columns else ("", []))


def test_the_kind_of_a_column_follows_the_steps_before() -> None:
    binned: list[dict[str, object]] = [{"column": "kwh", "op": "bin", "width": 5}, {"column": "kwh", "op": "hmac"}]
    assert complaints(*binned) == ("", [])
    rounded = [{"column": "kwh", "op": "round"}, {"column": "kwh", "op": "hmac"}]
    assert complaints(*rounded) == ("op-not-applicable", ["/policy/steps/1/column"])


def test_a_salted_hash_of_an_enumerable_column_needs_an_acknowledgement() -> None:
    step = {"column": "ip", "op": "salted_hash"}
    assert complaints(step) == ("enumerable-domain", ["/policy/steps/0/column"])
    assert complaints({**step, "acknowledge_enumerable": True}) == ("", [])
    assert complaints({**step, "column": "tag"}) == ("", [])
    numbers = pl.DataFrame({"tag": ["4915112345678", None, "4915112345679"]})
    assert complaints({**step, "column": "tag"}, sample=numbers)[0] == "enumerable-domain"


@pytest.mark.parametrize(
    "name", ["ip", "src_ip", "srcIP", "IMSI", "ueImsi", "dst-port", "MSISDN", "phone.number", "ipv4"]
)
def test_names_tell_an_enumerable_column(name: str) -> None:
    assert enumerable(name)


@pytest.mark.parametrize("name", ["tag", "recipe", "shipment", "important", "v", "station"])
def test_a_word_inside_a_word_tells_nothing(name: str) -> None:
    assert not enumerable(name)


def test_the_shape_of_all_values_tells_an_enumerable_column() -> None:
    for values in (
        ["10.0.0.1"],
        ["10.0.0.0/24"],
        ["2001:db8::1", "fe80::2"],
        ["00:11:22:aa:bb:cc"],
        ["imsi-00101"],
        [7],
    ):
        assert enumerable("v", pl.Series(values))
        assert enumerable("v", pl.Series([values])) == (values != [7])
    for texts in (["10.0.0.1", "node"], ["f81d4fae-7dec"], []):
        assert not enumerable("v", pl.Series(texts, dtype=pl.String))


def test_bins_and_orders_are_for_sensitive_columns() -> None:
    assert complaints(sensitive_bins={"n": {"quantile": 4}}) == ("not-sensitive", ["/attributes/sensitive_bins/n"])
    assert complaints(ordered={"a/b": ["x"]}) == ("not-sensitive", ["/attributes/ordered/a~1b"])
    lists: dict[str, Any] = {"sensitive": ["kwh", "role"], "insensitive": ["n", "up", "protocols", "tag"]}
    bins = {"role": {"quantile": 4}}
    assert complaints(sensitive_bins=bins, **lists) == ("bins-not-numeric", ["/attributes/sensitive_bins/role"])
    empty = pl.DataFrame({"role": [None, None]}, schema={"role": pl.String})
    assert complaints(sensitive_bins=bins, sample=empty, **lists) == ("", [])


def test_a_policy_must_leave_a_column() -> None:
    lists: dict[str, Any] = {"sensitive": [], "insensitive": []}
    step = {"column": "ip", "op": "drop_column"}
    assert complaints(step, columns={"ip": "text"}, **lists) == ("nothing-released", ["/policy/steps"])


def test_every_complaint_is_told_at_once() -> None:
    code, pointers = complaints(
        {"column": "x", "op": "cell"}, {"column": "up", "op": "hmac"}, drop=["ip"], identifiers=["tag"]
    )
    assert code == "attribute-duplicate"
    assert pointers == [
        "/attributes/insensitive/4",
        "/attributes/drop/0",
        "/policy/steps/0/column",
        "/policy/steps/1/column",
        "/attributes/identifiers/0",
    ]


@pytest.mark.parametrize("field", ["quasi_identifiers", "sensitive", "insensitive"])
@pytest.mark.parametrize("column", ["imsi", "guti", "msisdn", "subscriber"])
def test_a_column_of_subscribers_leaves_in_clear_under_no_class(column: str, field: str) -> None:
    lists = {"quasi_identifiers": ("ip",), field: (("ip", column) if field == "quasi_identifiers" else (column,))}
    attributes = Attributes(**lists)
    with pytest.raises(PolicyRefused) as refused:
        check_policy(attributes, Policy(), {"ip": "text", column: "list"})
    assert refused.value.code == "identifier-in-clear"
    assert refused.value.errors[0].pointer == f"/attributes/{field}/{lists[field].index(column)}"
    hidden = Policy.model_validate({"steps": [{"column": column, "op": "text_prefix", "n": 5}]})
    check_policy(attributes, hidden, {"ip": "text", column: "list"})


def test_an_unlisted_column_of_our_own_records_is_named_and_one_of_a_table_only_counted() -> None:
    """The names of a table may be its first record, sent without a header."""
    attributes = Attributes(quasi_identifiers=("ip",))
    with pytest.raises(PolicyRefused) as refused:
        check_policy(attributes, Policy(), {"ip": "text", "role": "text", "001010000000001": "text"})
    texts = [error.detail for error in refused.value.errors]
    assert texts[0].startswith("role stands in no list")
    assert texts[1].startswith("column 3 of the source stands in no list")
