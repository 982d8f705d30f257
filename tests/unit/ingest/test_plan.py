"""The network plan: ports that an operator moved are read as what they are, and gNBs are put into their regions."""

import io
import struct
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique_ingest.main import IngestSettings
from pratique_ingest.plan import LARGEST, NO_PLAN, BadPlan, Plan, read_plan
from pratique_ingest.profile import PACE, Pace, Profile, profile_capture
from pratique_ingest.protocols.services import SPOKEN
from tests.unit.ingest import mixes
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, chunk, ethernet, ipv4, pcap, sctp, tcp, udp
from tests.unit.ingest.test_protocol_table import CREATE_SESSION, GET_NAME, HEARTBEAT, INNER, QUESTION, tunnelled
from tests.unit.ingest.test_protocols import SUCI, SUCI_REQUEST, ngap, radius, values
from tests.unit.ingest.test_sessions import message, uplink

MOVED = read_plan("""
    [ports.sctp]
    38413 = "ngap"
    [ports.udp]
    2124 = "gtp-c"
    2153 = "gtp-u"
    5301 = "dns"
    5061 = "sip"
    8806 = "pfcp"
    1899 = "radius"
    1161 = "snmp"
    1230 = "ntp"
    [ports.tcp]
    3869 = "diameter"
    5021 = "modbus"
    8086 = "sbi"
    9001 = "ocpp"
""")
ANSWER = QUESTION[:2] + b"\x81\x80" + QUESTION[4:]
WATCHDOG = struct.pack(">IIIII", 1 << 24 | 20, 0x80 << 24 | 280, 0, 1, 1)
PACKETS = {
    "ngap": ipv4(GNB, AMF, 132, sctp(9000, 38413, chunk(ngap(SUCI_REQUEST), 0))),
    "gtp": ipv4(GNB, UPF, 17, udp(2153, 2153, tunnelled(255, INNER))),
    "gtpv2": ipv4(AMF, SMF, 17, udp(2124, 2124, struct.pack(">BBH", 0x48, 32, len(CREATE_SESSION)) + CREATE_SESSION)),
    "dns": ipv4(SMF, UPF, 17, udp(5301, 40_000, ANSWER)),
    "sip": ipv4(SMF, UPF, 17, udp(40_000, 5061, b"OPTIONS sip:a SIP/2.0\r\n\r\n")),
    "pfcp": ipv4(SMF, UPF, 17, udp(8806, 8806, HEARTBEAT)),
    "radius": ipv4(SMF, UPF, 17, udp(40_000, 1899, radius(b"\x01\x03a"))),
    "snmp": ipv4(SMF, UPF, 17, udp(40_000, 1161, GET_NAME)),
    "ntp": ipv4(SMF, UPF, 17, udp(1230, 1230, b"\x24" + bytes(47))),
    "diameter": ipv4(AMF, SMF, 6, tcp(40_000, 3869, WATCHDOG)),
    "modbus": ipv4(AMF, SMF, 6, tcp(5021, 40_000, bytes.fromhex("000100000006010300000001"))),
    "sbi": ipv4(AMF, SMF, 6, tcp(40_000, 8086, b"\xff\xfe")),
    "ocpp": ipv4(AMF, SMF, 6, tcp(40_000, 9001, b"\x88\x02\x03\xe8")),
}  # fmt: skip


def read(file: bytes, plan: Plan, pace: Pace | None = PACE) -> Profile:
    return profile_capture(io.BytesIO(file), pilot="lab", plan=plan, pace=pace)


@pytest.mark.parametrize(("name", "packet"), PACKETS.items(), ids=PACKETS)
def test_a_protocol_on_a_port_of_the_plan_is_read_on_both_paths(name: str, packet: bytes) -> None:
    file = pcap([ethernet(packet)] * 30)
    assert not {name} & set(read(file, NO_PLAN).hosts[0].protocols)
    profile = read(file, MOVED)
    assert profile == read(file, MOVED, None)
    assert profile.hosts[0].protocol_packets[name] == 30


def test_ports_of_the_plan_give_identifiers_and_roles_as_the_standard_ones_do() -> None:
    profile = read(pcap(ethernet(packet) for packet in PACKETS.values()), MOVED)
    assert (values(profile, "suci"), values(profile, "imsi")) == ([SUCI], ["001010000000001"])
    found = {host.ip: host for host in profile.hosts}
    assert found[UPF].inner_addresses == ("10.45.0.2", "192.0.2.1")
    assert {"DNS", "NTP"} <= set(found[SMF].roles)
    assert "field device" in found[AMF].roles


def test_the_standard_ports_stay_what_they_are() -> None:
    file = pcap([ethernet(ipv4(SMF, UPF, 17, udp(8805, 8805, HEARTBEAT))), ethernet(PACKETS["pfcp"])])
    assert read(file, MOVED).hosts[0].protocol_packets["pfcp"] == 2


def test_the_plan_wins_over_the_standard_port() -> None:
    plan = read_plan('[ports.udp]\n53 = "pfcp"\n')
    file = pcap([ethernet(ipv4(SMF, UPF, 17, udp(53, 53, payload))) for payload in (HEARTBEAT, ANSWER)] * 30)
    profile = read(file, plan)
    assert profile == read(file, plan, None)
    assert profile.hosts[0].protocol_packets == {"udp": 60, "pfcp": 30}
    assert {host.role for host in profile.hosts} == {"SMF/UPF"}


EVERYWHERE = read_plan("""
    [ports.sctp]
    50000 = "ngap"
    36421 = "s1ap"
    [ports.udp]
    40000 = "gtp-u"
    40001 = "dns"
    443 = "ntp"
    500 = "radius"
    5060 = "ecpri"
    [ports.tcp]
    7777 = "diameter"
    40000 = "mqtt"
    443 = "sbi"
    80 = "ocpp"
""")


@given(st.one_of(mixes.pcap_files(), mixes.pcapng_files()))
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_both_paths_agree_under_a_plan(file: bytes) -> None:
    exact = read(file, EVERYWHERE, None)
    for pace in (Pace(700, 1500, 7, 1), Pace(100_000, 100_000, 1000, 16)):
        assert read(file, EVERYWHERE, pace) == exact


REGIONS = read_plan("""
    [regions]
    "10.0.0.0/8" = "country"
    "10.20.0.0/16" = "north"
    "10.20.7.0/24" = "harbour"
    "10.20.7.9/32" = "pier 9"
    "2001:db8::/32" = "six"
    "2001:db8:5::/48" = "six north"
""")


@pytest.mark.parametrize(
    ("address", "region"),
    [
        ("10.1.1.1", "country"), ("10.20.1.1", "north"), ("10.20.7.8", "harbour"), ("10.20.7.9", "pier 9"),
        ("192.0.2.1", None), ("2001:db8::1", "six"), ("2001:db8:5::1", "six north"), ("fd00::1", None),
    ],
)  # fmt: skip
def test_the_longest_prefix_gives_the_region(address: str, region: str | None) -> None:
    assert REGIONS.region(ip_address(address).packed) == region
    assert NO_PLAN.region(ip_address(address).packed) is None


def test_everything_may_be_one_region() -> None:
    plan = read_plan('[regions]\n"0.0.0.0/0" = "all"\n')
    assert (plan.region(ip_address("198.51.100.7").packed), plan.region(ip_address("::1").packed)) == ("all", None)


def test_a_session_is_in_the_region_of_its_gnb() -> None:
    file = pcap([uplink(message(15, 7, SUCI_REQUEST)), uplink(message(15, 1, SUCI_REQUEST), "192.0.2.77")])
    sessions = read(file, read_plan(f'[regions]\n"{GNB}/32" = "north"\n')).sessions
    assert {session.gnb: session.region for session in sessions} == {GNB: "north", "192.0.2.77": None}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ports", "no TOML: mend its end"),
        ("\n\nports x", "no TOML: mend line 3, column 7"),
        ('[port.sctp]\n1 = "ngap"', r"\[port\] is no part of a plan"),
        ('[ports.dccp]\n1 = "ngap"', r"\[ports\.dccp\] is no transport"),
        ("ports = 1", r"\[ports\]: ports must be a table"),
        ('[ports]\nsctp = "ngap"', r"\[ports\]: sctp must be a table"),
        ("regions = []", "regions must be a table"),
        ('[ports.sctp]\n0 = "ngap"', r"\[ports\.sctp\] 0 is no port: write a number from 1 to 65535"),
        ('[ports.sctp]\n65536 = "ngap"', "65536 is no port"),
        ('[ports.sctp]\n-1 = "ngap"', "-1 is no port"),
        ("[ports.sctp]\nngap = 38413", "ngap is no port"),
        (f'[ports.sctp]\n"{"9" * 5000}" = "ngap"', "is no port"),
        ('[ports.udp]\n8806 = "pfcp"\n08806 = "pfcp"', "stands there twice"),
        ('[ports.sctp]\n38413 = "ngap"\n38413 = "s1ap"', "no TOML"),
        ('[ports.sctp]\n38413 = "pfcp"', "diameter, e1ap, e2ap, f1ap, ngap, s1ap, x2ap, xnap"),
        ("[ports.udp]\n8806 = 8805", "names no protocol that is known"),
        ('[ports.tcp]\n1 = ["mqtt"]', "names no protocol that is known"),
        (
            '[regions]\n"10.20.0.1/24" = "north"',
            'is no prefix: write the first address and a length, as in "10.20.0.0/24"',
        ),
        ('[regions]\n"north" = "10.20.0.0/24"', "is no prefix"),
        ('[regions]\n"10.0.0.0/33" = "north"', "is no prefix"),
        ('[regions]\n"10.0.0.0/8" = ""', "needs a name"),
        ('[regions]\n"10.0.0.0/8" = "a\\nb"', "needs a name"),
        ('[regions]\n"10.0.0.0/8" = 7', "needs a name"),
        ('[regions]\n"2001:db8::/32" = "a"\n"2001:0db8::/32" = "b"', "stands there twice"),
        ("#" * (LARGEST + 1), "more than"),
        ("regions = " + "[" * 5000, "values within values"),
    ],
)
def test_a_bad_plan_is_refused_with_what_to_write(text: str, told: str) -> None:
    with pytest.raises(BadPlan, match=told) as refused:
        read_plan(text)
    assert refused.value.code == "network-plan-invalid"


def test_every_protocol_that_a_plan_may_name_is_read_from_its_port() -> None:
    for transport, names in SPOKEN.items():
        for name in names:
            assert read_plan(f'[ports.{transport}]\n9 = "{name}"\n').sha256 is not None
    assert (NO_PLAN.sha256, read_plan("").sha256) == (None, None)


def test_the_worker_stops_at_a_plan_that_it_cannot_read(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('[ports.sctp]\n38413 = "ngap"\n')
    bad.write_text('[ports.sctp]\n38413 = "nagp"\n')
    assert IngestSettings(network_plan="").plan() is NO_PLAN
    assert IngestSettings(network_plan=str(good)).plan().ports.sctp[38413] == "ngap"
    with pytest.raises(SystemExit, match=r"bad\.toml.*38413 names no protocol that is known: write one of"):
        IngestSettings(network_plan=str(bad)).plan()
    with pytest.raises(SystemExit, match=r"cannot be read \(No such file"):
        IngestSettings(network_plan=str(tmp_path / "none.toml")).plan()
    with pytest.raises(SystemExit, match="more than 1048576 characters"):
        IngestSettings(network_plan="/dev/zero").plan()
    bad.write_bytes(b"\xff\xfe")
    with pytest.raises(SystemExit, match="UTF-8"):
        IngestSettings(network_plan=str(bad)).plan()
