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


def test_who_is_asked_for_many_functions_passes_them_on_unless_all_of_them_are_its_own() -> None:
    signs = {Sign.SBI_AMF: 4, Sign.SBI_SMF: 3, Sign.SBI_UDM: 2, Sign.SBI_AUSF: 1}
    assert roles(HOST, signs, 1)[0] == ("SCP", "AMF", "SMF", "UDM", "AUSF")
    assert roles(HOST, signs, 10, alone=True)[0] == ("AMF", "SMF", "UDM", "AUSF")
    assert roles(HOST, dict.fromkeys(list(signs)[:3], 9), 1)[0] == ("AMF", "SMF", "UDM")


def test_hosts_behind_one_address_have_the_roles_of_all_by_the_weight_of_their_evidence() -> None:
    # A base station and a charging station behind NAT, beside an address of the core that is a gNB's, too.
    signs = {Sign.NGAP_RAN: 12, Sign.OCPP_STATION: 40, Sign.GTPU_UPLINK: 500, Sign.DNS_SERVER: 900, Sign.GTPU_PORT: 500}
    assert roles(HOST, signs, 1)[0] == ("charging station", "gNB", "DNS")


def test_without_a_sign_a_role_is_unknown() -> None:
    assert roles(HOST, {}, 5) == (("unknown",), "no rule matched")


def test_who_sends_is_not_a_broadcast_address() -> None:
    assert roles(HOST, {Sign.BROADCAST_FRAME: 1}, 0)[0] == ("broadcast",)
    assert roles(HOST, {Sign.BROADCAST_FRAME: 1}, 1)[0] == ("unknown",)
