"""Classification: what each column of a source is taken for, and why."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_privacy.advice import ColumnAdvice, classify
from pratique_privacy.advice.names import EXACT, WORDS, rule_of
from pratique_privacy.advice.widths import usual_width
from pratique_privacy.policy.validity import check_policy
from pratique_shared.contracts.attributes import Attributes
from pratique_shared.contracts.captures import HOST_COLUMNS, SESSION_COLUMNS, SUBSCRIBER_COLUMNS
from pratique_shared.contracts.policy import Policy, TableStep
from pratique_shared.frames.records import column_types, table_of
from tests.support.beside import golden

HOSTS = [
    {
        "ip": f"10.45.{n // 4}.{n + 1}",
        "role": ["UE", "UE", "gNB", "AMF"][n % 4],
        "role_evidence": f"answers on port 53; {n + 7} frames",
        "roles": ["UE"],
        "protocols": ["dns", "tcp"] if n % 2 else ["ngap", "sctp"],
        "protocol_count": 2 + n % 3,
        "protocol_packets": {"tcp": 10 + n},
        "packets": 1000 + 17 * n,
        "bytes": 70_000 + 1301 * n,
        "peer_count": n % 4,
        "first_seen": f"2026-03-01T10:{n:02}:00.000001Z",
        "last_seen": f"2026-03-01T11:{n:02}:00.000001Z",
        "pilot": "lab",
        "inner_addresses": [f"10.60.0.{n}"] if n % 4 == 0 else [],
        "imsi": [f"00101{n:010}"] if n % 4 == 0 else [],
        "suci": [],
        "guti": [],
        "msisdn": [],
        "imei": [],
    }
    for n in range(12)
]


def classes(rows: list[dict[str, object]]) -> dict[str, str]:
    return {found.column: found.suggested for found in classify(table_of(rows))}


def one(name: str, values: list[object]) -> ColumnAdvice:
    (found,) = classify(table_of([{name: value} for value in values]))
    return found


def test_a_host_record_starts_with_the_address_as_quasi_identifier_and_the_protocols_as_sensitive() -> None:
    assert classes(HOSTS) == {
        "ip": "quasi_identifier",
        "role": "quasi_identifier",
        "role_evidence": "drop",
        "roles": "drop",
        "protocols": "sensitive",
        "protocol_count": "quasi_identifier",
        "protocol_packets": "drop",
        "packets": "drop",
        "bytes": "drop",
        "peer_count": "quasi_identifier",
        "first_seen": "drop",
        "last_seen": "drop",
        "pilot": "insensitive",
        "inner_addresses": "drop",
        "imsi": "identifier",
        "suci": "identifier",
        "guti": "identifier",
        "msisdn": "identifier",
        "imei": "identifier",
    }


def test_a_session_record_starts_with_the_slice_as_sensitive_and_the_subscriber_as_identifier() -> None:
    rows = [
        {"subscriber": "a", "gnb": "g1", "amf": "m", "sst": 1, "sd": "000001", "region": "R1", "window": "10:00",
         "role": "UE", "packets": 5, "bytes": 9, "pilot": "lab"}
    ]  # fmt: skip
    assert classes(rows) == {
        "subscriber": "identifier",
        **dict.fromkeys(["gnb", "amf", "sst"], "quasi_identifier"),
        "sd": "sensitive",
        **dict.fromkeys(["region", "window", "role"], "quasi_identifier"),
        "packets": "drop",
        "bytes": "drop",
        "pilot": "insensitive",
    }


@pytest.mark.parametrize("name", [*HOST_COLUMNS, *SESSION_COLUMNS])
def test_every_column_of_a_capture_has_a_rule_of_its_own_by_name(name: str) -> None:
    found = rule_of(name)
    assert found is not None
    assert (found.suggested == "identifier") == (name in SUBSCRIBER_COLUMNS)


def test_the_classes_and_steps_for_a_capture_make_a_release_that_is_accepted() -> None:
    table = table_of(HOSTS)
    found = classify(table)
    lists = {"identifier": "identifiers", "quasi_identifier": "quasi_identifiers"}
    attributes = Attributes.model_validate(
        {
            lists.get(word, word): [each.column for each in found if each.suggested == word]
            for word in ("identifier", "quasi_identifier", "sensitive", "insensitive", "drop")
        }
    )
    policy = Policy(steps=tuple(each.step for each in found if each.step is not None))
    check_policy(attributes, policy, dict(column_types(table)), sample=table)
    assert [(step.op, step.column) for step in policy.steps if not isinstance(step, TableStep)] == [
        ("ip_prefix", "ip"),
        *(("hmac", name) for name in ("imsi", "suci", "guti", "msisdn", "imei")),
    ]


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("customer_email", "identifier"),
        ("Id_Tag", "identifier"),
        ("idTag", "identifier"),
        ("MSISDN", "identifier"),
        ("Transaction ID", "identifier"),
        ("srcIp", "quasi_identifier"),
        ("dst_ip", "quasi_identifier"),
        ("Connector Chargepoint Name", "quasi_identifier"),
        ("Start_Time", "quasi_identifier"),
        ("Total kWh", "sensitive"),
        ("diagnosis", "sensitive"),
        ("Start_Wh", "drop"),
        ("Transaction Status", "insensitive"),
    ],
)
def test_a_name_is_known_in_any_spelling(name: str, suggested: str) -> None:
    found = rule_of(name)
    assert found is not None
    assert found.suggested == suggested


@pytest.mark.parametrize("name", ["shipment", "sdk", "ripe", "emailing", "timeless", "hostess"])
def test_a_word_inside_another_word_says_nothing(name: str) -> None:
    assert rule_of(name) is None


@pytest.mark.parametrize(
    ("values", "suggested", "rule"),
    [
        ([f"user{n}@example.org" for n in range(3)], "identifier", "values:email-shaped"),
        (["00:1b:44:11:3a:b7", "00-1B-44-11-3A-B8"], "identifier", "values:mac-shaped"),
        (["+49 170 1234567", "+441632960961"], "identifier", "values:phone-shaped"),
        (["imsi-001010000000001", "suci-0-001-01-0-0-0-0001"], "identifier", "values:subscriber-shaped"),
        (["001010000000001", "001010000000002"], "identifier", "values:imsi-shaped"),
        ([1010000000001, 262011234567890], "identifier", "values:imsi-shaped"),
        (["10.0.0.1", "2001:db8::1"], "quasi_identifier", "values:address-shaped"),
        (["10.0.0.0/24", "10.0.1.0/24"], "quasi_identifier", "values:address-shaped"),
        ([["10.0.0.1", "10.0.0.2"], ["10.0.0.3"]], "quasi_identifier", "values:address-shaped"),
        (["2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"], "quasi_identifier", "values:time-shaped"),
        ([{"tcp": 1}, {"tcp": 2}], "drop", "values:object"),
        (["red", "blue", "green", "black", "white", "grey"], "identifier", "values:unique-text"),
        (["red", "blue"] * 5, "quasi_identifier", "values:shared"),
        ([4, 1, 3, 2, 5], "identifier", "values:row-counter"),
        ([7.5, 2.25, 9.125, 4.0, 1.5, 1.5], "drop", "values:fingerprint"),
        ([1, 2] * 5, "quasi_identifier", "values:shared"),
        ([True, False] * 3, "quasi_identifier", "values:shared"),
        (["same"] * 4, "insensitive", "values:constant"),
        ([None, None], "drop", "values:empty"),
        ([[], []], "drop", "values:empty"),
    ],
)
def test_a_column_of_an_unknown_name_is_judged_by_its_values(values: list[object], suggested: str, rule: str) -> None:
    found = one("v", values)
    assert (found.suggested, found.rule) == (suggested, rule)


def test_nine_e_mail_addresses_in_ten_values_make_an_identifier_and_eight_do_not() -> None:
    assert one("v", [*(f"u{n}@example.org" for n in range(9)), "unknown"]).rule == "values:email-shaped"
    assert one("v", [*(f"u{n}@example.org" for n in range(8)), "unknown", "none"]).rule == "values:unique-text"


def test_e_mail_addresses_are_identifiers_under_whatever_name() -> None:
    assert one("station", ["a@example.org", "b@example.org"]).suggested == "identifier"


def test_a_pilot_is_a_quasi_identifier_once_there_are_several() -> None:
    assert one("pilot", ["lab", "lab"]).suggested == "insensitive"
    assert one("pilot", ["lab", "field"]).suggested == "quasi_identifier"


def test_a_known_column_that_is_constant_keeps_its_class_and_the_reason_says_so() -> None:
    found = one("role", ["UE", "UE"])
    assert found.suggested == "quasi_identifier"
    assert "same in every record" in found.reason


def test_numbers_that_are_sensitive_are_advised_to_be_binned() -> None:
    assert "sensitive_bins" in one("total_kwh", [n / 8 for n in range(20)]).reason
    assert "sensitive_bins" not in one("kwh_bucket", [f"D{n}" for n in range(20)]).reason


def test_distinct_counts_the_cells_that_differ_and_nothing_is_one_of_them() -> None:
    assert one("role", ["UE", "UE", "gNB", None]).distinct == 3


def test_no_more_quasi_identifiers_are_suggested_than_a_release_can_have() -> None:
    rows = [{f"v{n}": (n + row) % 2 for n in range(14)} | {"role": "UE"} for row in range(6)]
    found = classify(table_of(rows))
    chosen = [each.column for each in found if each.suggested == "quasi_identifier"]
    assert len(chosen) == 12
    assert "role" in chosen  # a name that is known speaks louder than values that are shared
    assert [each.rule for each in found if each.suggested == "drop"] == ["limit:too-many"] * 3


def test_a_float_that_names_a_subject_can_have_no_pseudonym_and_is_dropped() -> None:
    step = one("account", [1.5, 2.5]).step
    assert step is not None
    assert step.op == "drop_column"


def test_the_charging_sessions_get_the_classes_of_the_published_experiment() -> None:
    rows = json.loads((golden() / "ev_table.json").read_text())["rows"]
    found = classes(rows)
    assert [found[name] for name in ("station", "start_time", "connector_id")] == ["quasi_identifier"] * 3
    assert (found["total_kwh"], found["id_tag"]) == ("sensitive", "identifier")


def test_an_answer_is_plain_json() -> None:
    found = one("ip", ["10.0.0.1", "10.0.0.2"]).document()
    assert json.loads(json.dumps(found)) == {
        "column": "ip",
        "class": "quasi_identifier",
        "rule": "name:network-address",
        "reason": "An address is known outside the table (name:network-address).",
        "distinct": 2,
        "step": {"column": "ip", "op": "ip_prefix", "v4": 24, "v6": 64},
    }


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(alphabet="qxzjkv0123456789", min_size=9, max_size=12), min_size=1, max_size=12))
def test_no_reason_repeats_a_value(values: list[str]) -> None:
    (found,) = classify(pl.DataFrame({"v": values}))
    assert found.reason.endswith(f"({found.rule}).")
    assert not any(value in found.reason for value in values)


def test_no_two_name_rules_share_a_name_or_a_phrase() -> None:
    rules = [*EXACT, *WORDS]
    assert len({rule.name for rule in rules}) == len(rules)
    phrases = [phrase for rule in rules for phrase in rule.phrases.split(", ")]
    assert len(set(phrases)) == len(phrases)


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([*range(101)], 10.0),  # the middle nine tenths span 90: nine a bin, rounded up
        ([*range(101), 1_000_000], 10.0),  # a tail does not matter
        ([1, 2, 3, 4], 1.0),  # no finer than a whole number
        ([0.0, 0.05, 0.1], 0.01),
        ([3, 3, 3], 1.0),
    ],
)
def test_bins_have_a_round_width_that_fits_the_middle_of_the_values(values: list[float], width: float) -> None:
    assert usual_width(pl.Series(values)) == pytest.approx(width)
