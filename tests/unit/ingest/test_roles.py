"""The rule table: every sign has its rule, stronger evidence comes first, and the reader is told why."""

from ipaddress import ip_address

from pratique_ingest.protocols.findings import Sign
from pratique_ingest.roles import COMMON, RULES, roles
from tests.unit.ingest.crafted import AMF

HOST = ip_address(AMF)


def test_every_sign_but_the_broadcast_one_stands_in_one_rule() -> None:
    assert sorted(rule.sign.name for rule in RULES) == sorted(
        sign.name for sign in Sign if sign is not Sign.BROADCAST_FRAME
    )
    assert all(rule.evidence and rule.role for rule in RULES)


def test_a_message_weighs_more_than_many_frames_on_a_port() -> None:
    names, evidence = roles(HOST, {Sign.DNS_SERVER: 1000, Sign.NGAP_CORE: 2}, 1)
    assert names == ("AMF", "DNS")
    assert evidence == "the core's side of NGAP messages (TS 38.413); 2 frames"


def test_of_equal_evidence_the_more_frequent_comes_first() -> None:
    assert roles(HOST, {Sign.NGAP_CORE: 3, Sign.S1AP_CORE: 9}, 1)[0] == ("MME", "AMF")


def test_a_common_port_speaks_only_where_nothing_better_does() -> None:
    common = {rule.sign for rule in RULES if rule.strength == COMMON}
    assert {Sign.GTPU_PORT, Sign.PFCP_PORT} <= common
    assert roles(HOST, {Sign.GTPU_PORT: 9, Sign.GTPU_DOWNLINK: 1}, 1)[0] == ("UPF",)
    assert roles(HOST, {Sign.GTPU_PORT: 9}, 1)[0] == ("user-plane node",)


def test_without_a_sign_a_role_is_unknown() -> None:
    assert roles(HOST, {}, 5) == (("unknown",), "no rule matched")


def test_who_sends_is_not_a_broadcast_address() -> None:
    assert roles(HOST, {Sign.BROADCAST_FRAME: 1}, 0)[0] == ("broadcast",)
    assert roles(HOST, {Sign.BROADCAST_FRAME: 1}, 1)[0] == ("unknown",)
