"""Control-plane decoders: the identifiers and sides that single messages give, worked from their bytes."""

import json
import struct

import pytest

from pratique_ingest.profile import Profile
from tests.support.beside import golden
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, chunk, ethernet, ipv4, pcap, profiled, sctp, tcp, udp

PLMN = "00f110"  # 001/01
SUCI_REQUEST = bytes.fromhex(f"7e004179000d01{PLMN}f0ff000000000000102e02f0f0")
GUTI_REQUEST = bytes.fromhex(f"7e004179000bf2{PLMN}020040deadbeef2e02f0f0")
SUCI, IMSI, GUTI = "suci-0-001-01-0-0-0-0000000001", "001010000000001", "001-01-02-001-00-deadbeef"


def values(profile: Profile, kind: str) -> list[str]:
    return [sighting.value for sighting in getattr(profile.identifiers, kind)]


def ngap(nas: bytes, procedure: int = 15, outcome: int = 0) -> bytes:
    """An NGAP message with one element, a NAS message (id 38)."""
    element = struct.pack(">HBB", 38, 0, len(nas) + 1) + bytes([len(nas)]) + nas
    body = b"\x00\x00\x01" + element
    return bytes([outcome << 5, procedure, 0x40, len(body)]) + body


def setup(element: int, outcome: int = 0) -> bytes:
    """An NG Setup (21) with one element of two bytes."""
    body = b"\x00\x00\x01" + struct.pack(">HBB", element, 0, 2) + b"\x00\x00"
    return bytes([outcome << 5, 21, 0, len(body)]) + body


def on_n2(*chunks: bytes) -> Profile:
    return profiled(pcap([ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, *chunks)))]))


def on_udp(port: int, payload: bytes) -> Profile:
    return profiled(pcap([ethernet(ipv4(SMF, UPF, 17, udp(port, port, payload)))]))


def on_tcp(*payloads: bytes, port: int = 7777) -> Profile:
    """Segments of one direction, in order."""
    frames, sequence = [], 1
    for payload in payloads:
        frames.append(ethernet(ipv4(AMF, SMF, 6, tcp(40_000, port, payload, sequence))))
        sequence += len(payload)
    return profiled(pcap(frames))


def test_golden_messages_give_their_identities() -> None:
    messages = {
        name: bytes.fromhex(entry["hex"]) for name, entry in json.loads(golden("messages.json").read_text()).items()
    }
    profile = on_n2(chunk(messages["ngap_initue_suci"], 60))
    assert (values(profile, "suci"), values(profile, "imsi")) == ([SUCI], [IMSI])
    assert values(on_n2(chunk(messages["ngap_initue_guti"], 60)), "guti") == [GUTI]
    assert values(on_udp(2123, messages["gtpc_csr"]), "imsi") == [IMSI]
    assert "pfcp" in on_udp(8805, messages["pfcp_hb"]).hosts[0].protocols
    setup = on_n2(chunk(messages["ngap_ngsetup"], 60))
    assert {host.ip: host.role for host in setup.hosts} == {GNB: "gNB", AMF: "AMF"}


def test_an_identity_is_tied_to_the_hosts_that_carried_it() -> None:
    profile = on_n2(chunk(ngap(SUCI_REQUEST), 60))
    assert [(s.value, s.packets, set(s.hosts)) for s in profile.identifiers.suci] == [(SUCI, 1, {GNB, AMF})]
    assert all(host.suci == (SUCI,) and host.imsi == (IMSI,) for host in profile.hosts)


def test_chunks_bundled_behind_padding_are_all_read() -> None:
    profile = on_n2(chunk(ngap(SUCI_REQUEST), 60), chunk(ngap(GUTI_REQUEST), 60, tsn=2))
    assert len(ngap(SUCI_REQUEST)) % 4 != 0  # so that padding stands between them
    assert (values(profile, "suci"), values(profile, "guti")) == ([SUCI], [GUTI])
    assert profile.hosts[0].protocol_packets == {"nas-5gs": 1, "ngap": 1, "sctp": 1}


def test_a_message_in_three_chunks_is_joined() -> None:
    message = ngap(SUCI_REQUEST)
    parts = [chunk(message[:10], 60, 2, 7), chunk(message[10:20], 60, 0, 8), chunk(message[20:], 60, 1, 9)]
    frames = [ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, part))) for part in parts]
    assert values(profiled(pcap(frames)), "suci") == [SUCI]
    assert values(profiled(pcap([frames[0], frames[2]])), "suci") == []


@pytest.mark.parametrize("protocol", [0, 60, 62])
def test_the_payload_protocol_is_used_but_not_trusted_alone(protocol: int) -> None:
    assert values(on_n2(chunk(ngap(SUCI_REQUEST), protocol)), "suci") == [SUCI]


def test_the_outcome_of_a_procedure_turns_the_sides_round() -> None:
    answered = profiled(pcap([ethernet(ipv4(AMF, GNB, 132, sctp(38412, 9000, chunk(setup(1, 1), 60))))]))
    assert {host.ip: host.role for host in answered.hosts} == {GNB: "gNB", AMF: "AMF"}


def test_a_message_without_its_mandatory_elements_shows_no_more_than_its_port() -> None:
    empty = bytes([0, 21, 0, 3]) + bytes(3)  # no element at all; an NG Setup has the RAN node's number (27)
    for message in (empty, setup(99)):
        profile = profiled(pcap([ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, chunk(message, 60))))]))
        (amf,) = [host for host in profile.hosts if host.ip == AMF]
        assert amf.role_evidence == "its SCTP port is that of NGAP (38412, or the plan's); 1 frames"
        assert [host.role for host in profile.hosts if host.ip == GNB] == ["unknown"]


def test_a_rerouted_initial_message_gives_its_identities_and_no_side() -> None:
    inner = ngap(SUCI_REQUEST)
    body = b"\x00\x00\x01" + struct.pack(">HBB", 42, 0, len(inner) + 1) + bytes([len(inner)]) + inner
    profile = on_n2(chunk(bytes([0, 36, 0, len(body)]) + body, 60))
    assert (values(profile, "suci"), values(profile, "imsi")) == ([SUCI], [IMSI])


def test_a_null_ciphered_message_is_opened_and_a_ciphered_one_counted() -> None:
    protected = bytes.fromhex("7e0212345678 05".replace(" ", ""))
    opened = on_n2(chunk(ngap(protected + SUCI_REQUEST), 60))
    assert (values(opened, "suci"), [warning.code for warning in opened.warnings]) == ([SUCI], ["suci-null-scheme"])
    closed = on_n2(chunk(ngap(protected + bytes.fromhex("93c1d5a7ee01")), 60))
    assert [(warning.code, warning.count) for warning in closed.warnings] == [("nas-ciphered", 1)]


def test_a_message_inside_a_security_mode_complete_is_read() -> None:
    imeisv = bytes.fromhex("77000945") + bytes.fromhex("54638709214365f7")  # first digit beside the type
    container = b"\x71" + struct.pack(">H", len(GUTI_REQUEST)) + GUTI_REQUEST
    profile = on_n2(chunk(ngap(b"\x7e\x00\x5e" + imeisv + container), 60))
    assert (values(profile, "guti"), values(profile, "imei")) == ([GUTI], ["4453678901234567"])


def test_temporary_identities_in_messages_and_pagings_are_kept() -> None:
    service = bytes.fromhex("7e004c00 0007 f4 0040 deadbeef")  # a service request by 5G-S-TMSI: set 001, pointer 00
    assert values(on_n2(chunk(ngap(service), 60)), "s_tmsi") == ["001-00-deadbeef"]
    # In NGAP: two bits of options (one of a choice more in a paging), set and pointer, then the TMSI on a byte.
    for identity, procedure, head in ((26, 15, 0x0040 << 6), (115, 24, 0x0040 << 5)):
        value = head.to_bytes(3, "big") + bytes.fromhex("deadbeef")
        body = b"\x00\x00\x01" + struct.pack(">HBB", identity, 0, len(value)) + value
        message = bytes([0, procedure, 0x40, len(body)]) + body
        assert values(on_n2(chunk(message, 60)), "s_tmsi") == ["001-00-deadbeef"]


def test_a_paging_of_4g_calls_by_temporary_or_permanent_identity() -> None:
    for value, kind, found in (
        # Choice and options, the code 01, then the M-TMSI; choice, a length of eight, then the digits.
        (bytes.fromhex("0010") + bytes.fromhex("deadbeef"), "s_tmsi", ["1-deadbeef"]),
        (bytes([0x40 | 5 << 3]) + bytes.fromhex("00110000000000f1"), "imsi", ["001100000000001"]),
    ):
        body = b"\x00\x00\x01" + struct.pack(">HBB", 43, 0, len(value)) + value
        message = bytes([0, 10, 0x40, len(body)]) + body
        frame = ethernet(ipv4(AMF, GNB, 132, sctp(36412, 9000, chunk(message, 18))))
        assert values(profiled(pcap([frame])), kind) == found


def test_nested_containers_end() -> None:
    message = b"\x7e\x00\x5e"
    for _ in range(200):
        message = b"\x7e\x00\x5e\x71" + struct.pack(">H", len(message)) + message
    element = struct.pack(">HBH", 38, 0, 0x8000 | len(message) + 2) + struct.pack(">H", 0x8000 | len(message)) + message
    body = b"\x00\x00\x01" + element
    profile = on_n2(chunk(bytes([0, 46, 0x40]) + struct.pack(">H", 0x8000 | len(body)) + body, 60))
    assert profile.hosts[0].protocol_packets["nas-5gs"] == 1


@pytest.mark.parametrize(
    ("nas", "kind"),
    [
        (f"7e004179000bf2{PLMN}000000000000002e", "guti"),  # all zeros behind the network
        ("7e004179000bf2000000000000000000002e", "guti"),
        (f"7e004179000901{PLMN}f0ff000000", "imsi"),  # MSIN of two digits
        ("7e005c000403214365", "imei"),
    ],
)
def test_placeholders_are_no_identities(nas: str, kind: str) -> None:
    found = values(on_n2(chunk(ngap(bytes.fromhex(nas)), 60)), kind)
    assert found == (["001-01-00-000-00-00000000"] if nas.startswith(f"7e004179000bf2{PLMN}") else [])


def test_a_concealed_suci_gives_no_imsi() -> None:
    nas = bytes.fromhex(f"7e004179 0035 01{PLMN} 21f3 01 1b".replace(" ", "")) + bytes(range(45))
    profile = on_n2(chunk(ngap(nas), 60))
    assert values(profile, "suci") == [f"suci-0-001-01-123-1-27-{bytes(range(45)).hex()}"]
    assert values(profile, "imsi") == []


def test_a_network_of_three_digits_keeps_its_middle_one() -> None:
    nas = bytes.fromhex("7e004179000d01130062f0ff000010325476f8")
    assert values(on_n2(chunk(ngap(nas), 60)), "suci") == ["suci-0-310-260-0-0-0-012345678"]


def test_gtpv2_gives_imsi_msisdn_and_imei() -> None:
    elements = bytes.fromhex(
        "01000800 00010100000000f1 4c000600 947152760041 4b000800 6805040000531430".replace(" ", "")
    )
    body = b"\x00\x00\x00\x01\x00\x00\x01\x00" + elements
    profile = on_udp(2123, b"\x48\x20" + struct.pack(">H", len(body)) + body)
    assert (values(profile, "imsi"), values(profile, "msisdn")) == ([IMSI], ["491725670014"])
    assert values(profile, "imei") == ["8650400000354103"]


def test_gtpv1_gives_imsi_and_msisdn() -> None:
    elements = bytes.fromhex("02 00010100000000f1 0e01 86 0007 91 947152760041".replace(" ", ""))
    profile = on_udp(2123, b"\x32\x10" + struct.pack(">HIHBB", len(elements) + 4, 0, 1, 0, 0) + elements)
    assert (values(profile, "imsi"), values(profile, "msisdn")) == ([IMSI], ["491725670014"])
    assert {host.ip: host.role for host in profile.hosts} == {SMF: "SGSN", UPF: "GGSN"}


def test_pfcp_gives_the_user_and_the_address_of_the_ue() -> None:
    user = bytes.fromhex("008d 000a 01 08 00010100000000f1".replace(" ", ""))
    address = bytes.fromhex("005d 0005 02 0a2d0002".replace(" ", ""))
    detection = struct.pack(">HH", 2, len(address)) + address
    rule = struct.pack(">HH", 1, len(detection)) + detection
    body = bytes(12) + user + rule
    request = ethernet(ipv4(SMF, UPF, 17, udp(8805, 8805, b"\x21\x32" + struct.pack(">H", len(body)) + body)))
    seen = ethernet(ipv4("10.45.0.2", "192.0.2.1", 17, udp(1, 2, b"")))
    profile = profiled(pcap([request, seen]))
    assert values(profile, "imsi") == [IMSI]
    assert {host.ip: host.role for host in profile.hosts} == {
        SMF: "SMF", UPF: "UPF", "10.45.0.2": "UE", "192.0.2.1": "unknown"
    }  # fmt: skip


def test_other_traffic_on_the_ports_of_gtp_is_not_gtp() -> None:
    assert on_udp(2152, b"\x12\x34\x81\x80" + bytes(20)).hosts[0].protocols == ("udp",)
    assert on_udp(2123, b"\x32\x10\xff\xff" + bytes(20)).hosts[0].protocols == ("udp",)


def test_a_request_to_an_sbi_names_the_function_that_serves_it() -> None:
    request = b"GET /nudm-sdm/v2/imsi-001010000000001/am-data HTTP/1.1\r\nUser-Agent: AMF\r\n\r\n"
    profile = on_tcp(request)
    assert {host.ip: host.role for host in profile.hosts} == {AMF: "AMF", SMF: "UDM"}
    assert values(profile, "imsi") == [IMSI]
    assert set(profile.hosts[0].protocols) == {"tcp", "http", "sbi"}


def test_an_identifier_that_crosses_segments_is_found_once_they_follow() -> None:
    start, end = b'POST / HTTP/1.1\r\n\r\n{"supi": "imsi-00101000', b'0000001"}'
    assert values(on_tcp(start, end), "imsi") == [IMSI]


@pytest.mark.parametrize(
    "text", ["imsi-20895", "imsi-20895[0-9]{10}", "imsi-0010100000000012345", "imsi-208950000000[3-9]"]
)
def test_placeholders_and_ranges_in_text_are_no_identifiers(text: str) -> None:
    assert values(on_tcp(f'POST / HTTP/1.1\r\n\r\n{{"supi": "{text}"}}'.encode()), "imsi") == []


def test_http2_is_known_in_the_middle_of_a_connection() -> None:
    ping = b"\x00\x00\x08\x06\x01\x00\x00\x00\x00" + bytes(8)
    body = b'{"supi":"imsi-001010000000001"}'
    data = struct.pack(">I", len(body))[1:] + b"\x00\x01\x00\x00\x00\x05" + body
    profile = on_tcp(ping, data)
    assert set(profile.hosts[0].protocols) == {"tcp", "http2"}
    assert values(profile, "imsi") == [IMSI]


def e2(first: int, procedure: int) -> bytes:
    body = b"\x00\x00\x01" + struct.pack(">HBB", first, 0, 2) + b"\x00\x00"
    return bytes([0, procedure, 0, len(body)]) + body


def test_e2ap_is_told_from_x2ap_on_the_same_port_by_its_elements() -> None:
    for port, payload in ((36421, 0), (36422, 0), (36422, 27), (37464, 70)):
        frame = ethernet(ipv4(GNB, AMF, 132, sctp(9000, port, chunk(e2(29, 5), payload))))
        profile = profiled(pcap([frame]))
        assert "e2ap" in profile.hosts[0].protocols
        assert {host.ip: host.role for host in profile.hosts} == {GNB: "E2 node", AMF: "Near-RT RIC"}
    for port, payload in ((36422, 27), (36422, 0), (36421, 0), (37464, 27), (50_000, 27)):
        setup = ethernet(ipv4(GNB, AMF, 132, sctp(9000, port, chunk(e2(21, 6), payload))))
        profile = profiled(pcap([setup]))
        assert profile.hosts[0].protocols == ("sctp", "x2ap")
        assert {host.role for host in profile.hosts} == {"eNB"}


@pytest.mark.parametrize(
    ("procedure", "first", "name"),
    [
        (3, 49, "e2ap"), (3, 1, "e2ap"), (2, 29, "e2ap"), (1, 3, "e2ap"), (8, 29, "e2ap"), (10, 49, "e2ap"),
        (3, 10, "x2ap"), (2, 6, "x2ap"), (0, 10, "x2ap"), (8, 20, "x2ap"), (10, 39, "x2ap"), (36, 252, "x2ap"),
        (5, 99, None), (8, 99, None), (0, 99, None),
    ],
)  # fmt: skip
def test_a_shared_procedure_code_is_decided_by_the_first_element(procedure: int, first: int, name: str | None) -> None:
    frame = ethernet(ipv4(GNB, AMF, 132, sctp(9000, 36422, chunk(e2(first, procedure), 0))))
    assert set(profiled(pcap([frame])).hosts[0].protocols) == {"sctp", name} - {None}


def test_a_charging_station_and_its_system_are_known_by_ocpp() -> None:
    ask = b"GET /ws/CP1 HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ocpp1.6\r\n\r\n"
    profile = on_tcp(ask, port=9000)
    assert {host.ip: host.role for host in profile.hosts} == {AMF: "charging station", SMF: "CSMS"}
    assert set(profile.hosts[0].protocols) == {"tcp", "http", "websocket", "ocpp"}


def test_a_masked_ocpp_call_is_read() -> None:
    text, mask = b'[2,"1","BootNotification",{}]', b"\x11\x22\x33\x44"
    masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(text))
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
    frames = [
        ethernet(ipv4(SMF, AMF, 6, tcp(9000, 40_000, switched))),
        ethernet(ipv4(AMF, SMF, 6, tcp(40_000, 9000, b"\x81" + bytes([0x80 | len(text)]) + mask + masked))),
    ]
    assert {host.ip: host.role for host in profiled(pcap(frames)).hosts} == {AMF: "charging station", SMF: "CSMS"}


def test_an_ocpp_call_shows_itself_in_the_middle_of_a_connection() -> None:
    text = b'[2,"1","TransactionEvent",{}]'
    profile = on_tcp(b"\x81" + bytes([len(text)]) + text, port=9000)
    assert {host.ip: host.role for host in profile.hosts} == {AMF: "charging station", SMF: "CSMS"}
    for other in (b'[3,"1",{}]', b'[2,"1","lowercase",{}]', b"hello"):  # an answer is like much other JSON
        assert on_tcp(b"\x81" + bytes([len(other)]) + other, port=9000).hosts[0].protocols == ("tcp",)


def pair(kind: int, value: bytes) -> bytes:
    return bytes([kind, 2 + len(value)]) + value


def radius(*pairs: bytes, code: int = 4) -> bytes:
    body = b"".join(pairs)
    return struct.pack(">BBH", code, 1, 20 + len(body)) + bytes(16) + body


def of_3gpp(kind: int, value: bytes) -> bytes:
    return pair(26, struct.pack(">I", 10_415) + pair(kind, value))


def test_radius_gives_imsi_msisdn_imeisv_and_the_address_of_the_ue() -> None:
    request = radius(
        pair(1, b"user"), of_3gpp(1, b"001010000000001"), pair(31, b"+491725670014"), of_3gpp(20, b"8650400000354103"),
        pair(8, bytes([10, 45, 0, 2])),
    )  # fmt: skip
    frames = [
        ethernet(ipv4(SMF, UPF, 17, udp(40_000, 1813, request))),
        ethernet(ipv4("10.45.0.2", "192.0.2.1", 17, udp(1, 2, b""))),
    ]
    profile = profiled(pcap(frames))
    assert (values(profile, "imsi"), values(profile, "msisdn")) == ([IMSI], ["491725670014"])
    assert values(profile, "imei") == ["8650400000354103"]
    assert {host.ip: host.role for host in profile.hosts}["10.45.0.2"] == "UE"
    assert profile.hosts[0].imsi == (IMSI,)


def test_radius_of_a_wireless_lan_names_a_machine_and_no_telephone() -> None:
    wireless = radius(pair(61, struct.pack(">I", 19)), pair(31, b"001122334455"), pair(8, bytes([10, 45, 0, 2])))
    profile = on_udp(1812, wireless)
    assert (profile.hosts[0].protocols, values(profile, "msisdn")) == (("radius", "udp"), [])


@pytest.mark.parametrize(
    "payload",
    [
        b"", radius(code=99), radius()[:19], struct.pack(">BBH", 4, 1, 12) + bytes(16),
        struct.pack(">BBH", 4, 1, 30) + bytes(16) + b"\x01\x00" + bytes(8),  # an attribute of no length
    ],
)  # fmt: skip
def test_other_traffic_on_the_ports_of_radius_is_not_radius(payload: bytes) -> None:
    assert on_udp(1812, payload).hosts[0].protocols == ("udp",)


def test_diameter_gives_the_imsi_and_both_ends() -> None:
    name = struct.pack(">II", 1, 0x40 << 24 | 8 + 15) + IMSI.encode() + b"\0"
    message = struct.pack(">IIIII", 1 << 24 | 20 + len(name), 0x80 << 24 | 318, 16_777_251, 1, 1) + name
    profile = profiled(pcap([ethernet(ipv4(AMF, SMF, 132, sctp(3868, 3868, chunk(message, 46))))]))
    assert values(profile, "imsi") == [IMSI]
    assert {host.ip: host.role for host in profile.hosts} == {AMF: "MME", SMF: "HSS"}


def test_an_end_of_sip_is_known_by_its_messages() -> None:
    profile = on_tcp(b"REGISTER sip:ims.example SIP/2.0\r\n\r\n", port=5090)
    assert {host.role for host in profile.hosts} == {"SIP node"}
    assert profile.hosts[0].protocols == ("sip", "tcp")


def test_a_diameter_relay_is_a_node_of_unknown_side() -> None:
    watchdog = struct.pack(">IIIII", 1 << 24 | 20, 0x80 << 24 | 280, 0, 1, 1)
    profile = profiled(pcap([ethernet(ipv4(AMF, SMF, 132, sctp(3868, 3868, chunk(watchdog, 46))))]))
    assert {host.role for host in profile.hosts} == {"Diameter node"}
