"""Every protocol that is told by name, one packet each: what it is called here, and what tshark calls it."""

import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from pratique_ingest.plan import read_plan
from pratique_ingest.profile import profile_capture
from tests.unit.ingest.crafted import chunk, ethernet, ipv4, pcap, sctp, tcp, udp
from tests.unit.ingest.test_protocols import SUCI_REQUEST, ngap

CLIENT, SERVER = "10.0.0.1", "10.0.0.2"


class Case(NamedTuple):
    """Packets of one conversation, and the protocols of both ends."""

    packets: list[bytes]
    protocols: set[str]


def on_sctp(port: int, identifier: int, message: bytes, name: str, *others: str) -> Case:
    packet = ipv4(CLIENT, SERVER, 132, sctp(50_000, port, chunk(message, identifier)))
    return Case([packet], {"sctp", name, *others})


def on_udp(port: int, payload: bytes, name: str, source: int = 50_000) -> Case:
    return Case([ipv4(CLIENT, SERVER, 17, udp(source, port, payload))], {"udp", name})


def on_tcp(port: int, payload: bytes, *names: str) -> Case:
    return Case([ipv4(CLIENT, SERVER, 6, tcp(50_000, port, payload))], {"tcp", *names})


def message(procedure: int, *elements: tuple[int, bytes], outcome: int = 0) -> bytes:
    """A message of NGAP's family: procedure, criticality, and elements of id, criticality and value (X.691)."""
    body = struct.pack(">BH", 0, len(elements))
    body += b"".join(struct.pack(">HBB", identity, 0, len(value)) + value for identity, value in elements)
    return bytes([outcome << 5, procedure, 0, len(body)]) + body


def attribute(code: int, value: bytes) -> bytes:
    return struct.pack(">II", code, 0x40 << 24 | 8 + len(value)) + value + bytes(-len(value) % 4)


def diameter(application: int, command: int, body: bytes) -> bytes:
    return struct.pack(">IIIII", 1 << 24 | 20 + len(body), 0x80 << 24 | command, application, 1, 1) + body


def tunnelled(kind: int, body: bytes, flags: int = 0x30) -> bytes:
    return struct.pack(">BBHI", flags, kind, len(body), 1) + body


def opened(subprotocol: str, call: bytes) -> list[bytes]:
    """A WebSocket that is asked for, granted, and used for one masked call."""
    ask = b"GET /cp1 HTTP/1.1\r\nHost: csms\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\n"
    told = f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n".encode()
    grant = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + told
    ask += told
    frame = bytes([0x81, 0x80 | len(call)]) + bytes(4) + call  # the mask is all zeros
    return [
        ipv4(CLIENT, SERVER, 6, tcp(50_000, 9000, ask)),
        ipv4(SERVER, CLIENT, 6, tcp(9000, 50_000, grant)),
        ipv4(CLIENT, SERVER, 6, tcp(50_000, 9000, frame, 1 + len(ask))),
    ]


QUESTION = struct.pack(">HHHHHH", 1, 0x0100, 1, 0, 0, 0) + b"\x04host\x03lan\x00" + struct.pack(">HH", 1, 1)
HELLO = b"\x03\x03" + bytes(32) + b"\x00\x00\x02\x13\x01\x01\x00"
CLIENT_HELLO = b"\x16\x03\x01" + struct.pack(">HB", 4 + len(HELLO), 1) + len(HELLO).to_bytes(3, "big") + HELLO
LEASE = b"\x01\x01\x06\x00" + bytes(232) + b"\x63\x82\x53\x63\x35\x01\x01\xff"
GET_NAME = bytes.fromhex("302902010104067075626c6963a01c020401020304020100020100300e300c06082b060102010105000500")
INITIAL = b"\xc3\x00\x00\x00\x01\x08" + bytes(range(8)) + b"\x00\x00\x44\x9e" + bytes(1182)
INVITE = b"INVITE sip:bob@example.com SIP/2.0\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n"
SEARCH = b'M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: "ssdp:discover"\r\n\r\n'
PAIR = struct.pack(">BBH", 1, 1, 20 + 6) + bytes(16) + b"\x01\x06user"
INNER = ipv4("10.45.0.2", "192.0.2.1", 1, b"\x08\x00\xf7\xfe\x00\x00\x00\x01")
HEARTBEAT = b"\x20\x01\x00\x0c\x00\x00\x01\x00" + b"\x00\x60\x00\x04" + bytes(4)
CREATE_SESSION = b"\x00\x00\x00\x00\x00\x00\x01\x00" + bytes.fromhex("0100080000010100000000f1")
CREATE_CONTEXT = b"\x00\x01\x00\x00" + b"\x02" + bytes.fromhex("00010100000000f1") + b"\x0e\x01"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"

CASES = {
    "NGAP": on_sctp(38412, 60, ngap(SUCI_REQUEST), "ngap", "nas-5gs"),
    "S1AP": on_sctp(36412, 18, message(17, (59, b"\x00\x00\xf1\x10\x00\x00\x00\x10")), "s1ap"),
    "F1AP": on_sctp(38472, 62, message(1, (78, b"\x00\x01")), "f1ap"),
    "E1AP": on_sctp(38462, 64, message(3, (57, b"\x00\x01")), "e1ap"),
    "XnAP": on_sctp(38422, 61, message(17, (21, bytes(10))), "xnap"),
    "X2AP": on_sctp(36422, 27, message(6, (21, bytes(8))), "x2ap"),
    "E2AP": on_sctp(37464, 0, message(1, (49, b"\x00\x00\x01"), (3, bytes(8))), "e2ap"),
    "E2AP by its identifier": on_sctp(50_001, 70, message(5, (29, bytes(5))), "e2ap"),
    "PFCP": on_udp(8805, HEARTBEAT, "pfcp"),
    "GTP-U": on_udp(2152, tunnelled(255, INNER), "gtp"),
    "GTPv1-C": on_udp(2123, tunnelled(16, CREATE_CONTEXT, 0x32), "gtp"),
    "GTPv2-C": on_udp(2123, struct.pack(">BBH", 0x48, 32, len(CREATE_SESSION)) + CREATE_SESSION, "gtpv2"),
    "Diameter on SCTP": on_sctp(3868, 46, diameter(0, 280, attribute(264, b"mme.lab")), "diameter"),
    "Diameter on TCP": on_tcp(3868, diameter(0, 280, attribute(264, b"mme.lab")), "diameter"),
    "SIP on UDP": on_udp(5060, INVITE, "sip"),
    "SIP on TCP": on_tcp(5060, INVITE, "sip"),
    "RADIUS": on_udp(1812, PAIR, "radius"),
    "DNS": on_udp(53, QUESTION, "dns"),
    "mDNS": on_udp(5353, QUESTION, "mdns", source=5353),
    "LLMNR": on_udp(5355, QUESTION, "llmnr"),
    "SSDP": on_udp(1900, SEARCH, "ssdp"),
    "DHCP": on_udp(67, LEASE, "dhcp", source=68),
    "TLS": on_tcp(443, CLIENT_HELLO, "tls"),
    "TLS by content": on_tcp(9443, CLIENT_HELLO, "tls"),
    "QUIC": on_udp(443, INITIAL, "quic"),
    "NTP": on_udp(123, b"\x23" + bytes(47), "ntp"),
    "PTP": on_udp(319, b"\x00\x02\x00\x2c" + bytes(40), "ptp"),
    "SNMP": on_udp(161, GET_NAME, "snmp"),
    "SSH": on_tcp(22, b"SSH-2.0-OpenSSH_9.2\r\n", "ssh"),
    "MQTT": on_tcp(1883, b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00", "mqtt"),
    "CoAP": on_udp(5683, b"\x40\x01\x00\x01\xb4test", "coap"),
    "Modbus": on_tcp(502, bytes.fromhex("000100000006010300000001"), "modbus"),
    "S7": on_tcp(102, bytes.fromhex("0300001902f08032010000000000080000f0000001000101e0"), "s7comm"),
    "IEC-104": on_tcp(2404, bytes.fromhex("680407000000"), "iec104"),
    "HTTP": on_tcp(8000, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "http"),
    "HTTP/2": on_tcp(7777, PREFACE, "http2"),
    "SBI": on_tcp(80, b"GET /nnrf-disc/v1/nf-instances HTTP/1.1\r\nHost: nrf\r\n\r\n", "http", "sbi"),
    "OCPP 1.6": Case(opened("ocpp1.6", b'[2,"1","Heartbeat",{}]'), {"tcp", "http", "websocket", "ocpp"}),
    "OCPP 2.0.1": Case(opened("ocpp2.0.1", b'[2,"1","NotifyReport",{}]'), {"tcp", "http", "websocket", "ocpp"}),
    "OCPP by its call": Case(opened("", b'[2,"1","TransactionEvent",{}]'), {"tcp", "http", "websocket", "ocpp"}),
    "GRE": Case([ipv4(CLIENT, SERVER, 47, b"\x00\x00\x08\x00" + INNER)], {"gre"}),
    "ICMP": Case([ipv4(CLIENT, SERVER, 1, b"\x08\x00\xf7\xfe\x00\x00\x00\x01")], {"icmp"}),
    "VXLAN": on_udp(4789, b"\x08" + bytes(7) + ethernet(INNER), "vxlan"),
    "eCPRI on UDP": on_udp(5123, b"\x10\x00\x00\x08" + bytes(8), "ecpri"),
}
# Not layers of tshark: the API is told by its path, the charging protocol by its calls.
OURS = frozenset({"sbi", "ocpp"})
# Version 2 of GTP-C is taken by the dissector of version 1, which hands it on.
ELSEWHERE = {"iec104": {"iec60870_104"}, "gtpv2": {"gtp", "gtpv2"}}
# It asks where a laboratory has put them, too.
DECODED_AS = ("udp.port==5123,ecpri", "sctp.port==50001,e2ap", "tcp.port==7777,http2")
# What may also stand inside a tunnel, where it is not the host's.
CARRIED = frozenset({"icmp", "udp", "tcp"})
PLAN = read_plan('[ports.udp]\n5123 = "ecpri"\n')


def names(case: Case, folder: Path) -> set[str]:
    path = folder / "one.pcap"
    path.write_bytes(pcap(map(ethernet, case.packets)))
    with path.open("rb") as source:
        profile = profile_capture(source, pilot=None, plan=PLAN)
    assert {host.ip for host in profile.hosts} == {CLIENT, SERVER}
    return {name for host in profile.hosts for name in host.protocols}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_protocol_is_called_by_its_name(case: Case, tmp_path: Path) -> None:
    assert names(case, tmp_path) == case.protocols


def theirs(protocols: set[str]) -> set[str]:
    return {name for one in protocols - OURS for name in ELSEWHERE.get(one, {one})}


@pytest.fixture(scope="module")
def dissected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return the layers that tshark finds in each case's packets."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not on this machine")
    found = {}
    folder = tmp_path_factory.mktemp("cases")
    path = folder / "all.pcap"
    # Conversations are told apart by their addresses, or tshark would read one by what another was.
    frames = []
    for number, case in enumerate(CASES.values()):
        net = bytes([number])
        frames += [ethernet(each[:14] + net + each[15:18] + net + each[19:]) for each in case.packets]
    path.write_bytes(pcap(frames))
    options = [part for rule in DECODED_AS for part in ("-d", rule)]
    command = [tshark, "-r", str(path), *options, "-T", "fields", "-e", "frame.protocols"]
    lines = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode().splitlines()
    at = 0
    for name, case in CASES.items():
        found[name] = {layer for line in lines[at : at + len(case.packets)] for layer in line.split(":")}
        at += len(case.packets)
    assert at == len(lines)
    return found


@pytest.mark.parametrize("name", CASES)
def test_tshark_calls_the_same_packet_the_same(name: str, dissected: dict[str, set[str]]) -> None:
    wanted = theirs(CASES[name].protocols)
    known = theirs({one for case in CASES.values() for one in case.protocols} - CARRIED)
    assert wanted <= dissected[name]
    assert (dissected[name] & known) - wanted == set()
