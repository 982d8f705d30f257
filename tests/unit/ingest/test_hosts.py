"""Hosts: who is counted for a frame, with whom, and what fragments, tunnels and quotes do not change."""

import json
import struct
from collections.abc import Callable
from ipaddress import ip_address

import pytest

from pratique_ingest.profile import host_row
from pratique_ingest.records import instant
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, ethernet, ipv4, ipv6, pcap, profiled, tcp, udp

API_FIELDS = {
    "ip", "role", "role_evidence", "protocols", "protocol_count", "protocol_packets", "packets", "bytes", "peer_count",
    "first_seen", "last_seen", "pilot", "imsi", "suci", "guti", "msisdn", "imei",
}  # fmt: skip


def test_a_frame_counts_once_for_each_end_and_peers_are_distinct() -> None:
    frames = [ethernet(ipv4(a, b, 17, udp(1, 2, b""))) for a, b in ((AMF, GNB), (GNB, AMF), (AMF, UPF), (AMF, GNB))]
    assert crafted.counts(profiled(pcap(frames))) == {AMF: (4, 2), GNB: (3, 1), UPF: (1, 1)}


def test_a_frame_to_oneself_counts_once_and_makes_no_peer() -> None:
    profile = profiled(pcap([ethernet(ipv4(AMF, AMF, 17, udp(1, 2, b"")))] * 2))
    assert crafted.counts(profile) == {AMF: (2, 0)}
    assert profile.hosts[0].protocol_packets == {"udp": 2}


def test_bytes_are_those_on_the_wire() -> None:
    frame = ethernet(ipv4(AMF, GNB, 17, udp(1, 2, b"")))
    file = bytearray(pcap([frame]))
    struct.pack_into("<I", file, 24 + 12, 9000)  # the frame was longer than what was kept of it
    assert {host.bytes for host in profiled(bytes(file)).hosts} == {9000}


def test_every_fragment_is_a_packet_and_a_later_one_lends_no_ports() -> None:
    whole = udp(53, 40_000, b"\x12\x34\x81\x80\x00\x01" + bytes(40))
    first = ipv4(AMF, GNB, 17, whole[:24], fragment=0x2000)
    # Read as ports, the later fragment's first bytes would say SNMP (161).
    later = ipv4(AMF, GNB, 17, b"\x00\xa1\x00\xa1" + whole[28:], fragment=3)
    profile = profiled(pcap([ethernet(first), ethernet(later)]))
    assert crafted.counts(profile) == {AMF: (2, 1), GNB: (2, 1)}
    assert set(profile.hosts[0].protocols) == {"udp", "dns"}


def test_ipv6_extension_headers_are_passed() -> None:
    hop, route = bytes([43, 0]) + bytes(6), bytes([17, 0]) + bytes(6)
    packet = ipv6("fd00::1", "fd00::2", 0, hop + route + udp(5353, 5353, b"x"))
    assert profiled(pcap([ethernet(packet)])).hosts[0].protocols == ("mdns", "udp")


def test_endless_extension_headers_are_given_up() -> None:
    packet = ipv6("fd00::1", "fd00::2", 0, (bytes([0, 0]) + bytes(6)) * 5000)
    assert crafted.counts(profiled(pcap([ethernet(packet)]))) == {"fd00::1": (1, 1), "fd00::2": (1, 1)}


def test_a_total_length_of_zero_means_the_whole_frame() -> None:
    packet = bytearray(ipv4(AMF, GNB, 17, udp(1, 5353, b"x")))
    packet[2:4] = b"\x00\x00"
    assert "mdns" in profiled(pcap([ethernet(bytes(packet))])).hosts[0].protocols


def test_a_jumbogram_and_big_tcp_are_read_to_their_end() -> None:
    jumbo = bytes([17, 0, 0xC2, 4]) + struct.pack(">I", 8 + 8 + 70_000)  # hop by hop (RFC 2675, 2)
    payload = struct.pack(">HHHH", 40_000, 5353, 0, 0) + bytes(70_000)
    of_udp = struct.pack(">IHBB", 6 << 28, 0, 0, 64) + b"".join(ip_address(f"fd00::{n}").packed for n in (1, 2))
    hello = b"\x16\x03\x01\x00\x05hello"
    of_tcp = bytearray(ipv4(AMF, GNB, 6, tcp(40_000, 9000, hello)) + bytes(100_000))
    of_tcp[2:4] = b"\x00\x00"
    profile = profiled(pcap([ethernet(of_udp + jumbo + payload), ethernet(bytes(of_tcp))] * 3))
    assert {host.ip: (host.protocols, host.packets) for host in profile.hosts} == {
        **dict.fromkeys(("fd00::1", "fd00::2"), (("mdns", "udp"), 3)), **dict.fromkeys((AMF, GNB), (("tcp", "tls"), 3))
    }  # fmt: skip
    assert (profile.complete, profile.warnings) == (True, ())


@pytest.mark.parametrize(
    "tunnel",
    [
        lambda inner: ipv4(AMF, GNB, 4, inner),
        lambda inner: ipv4(AMF, GNB, 47, b"\x00\x00\x08\x00" + inner),
        lambda inner: ipv4(AMF, GNB, 47, b"\x00\x00\x88\xbe" + ethernet(inner)),
        lambda inner: ipv4(AMF, GNB, 47, b"\x10\x00\x88\xbe" + bytes(12) + ethernet(inner)),
        lambda inner: ipv4(AMF, GNB, 47, b"\x10\x00\x22\xeb" + bytes(16) + ethernet(inner)),
        lambda inner: ipv4(AMF, GNB, 47, b"\x10\x00\x22\xeb" + bytes(15) + b"\x01" + bytes(8) + ethernet(inner)),
        lambda inner: ipv4(AMF, GNB, 17, udp(1, 4789, bytes(8) + ethernet(inner))),
        lambda inner: ipv4(AMF, GNB, 17, udp(1, 6081, b"\x00\x00\x65\x58" + bytes(4) + ethernet(inner))),
        lambda inner: ipv4(AMF, GNB, 17, udp(2152, 2152, struct.pack(">BBHI", 0x30, 255, len(inner), 1) + inner)),
    ],
    ids=[
        "IP in IP",
        "GRE",
        "ERSPAN I",
        "ERSPAN II",
        "ERSPAN III",
        "ERSPAN III of a platform",
        "VXLAN",
        "Geneve",
        "GTP-U",
    ],
)
def test_tunnelled_addresses_are_kept_apart_and_lend_no_protocol(tunnel: Callable[[bytes], bytes]) -> None:
    profile = profiled(pcap([ethernet(tunnel(ipv4(SMF, UPF, 6, tcp(1, 22, b"SSH-2.0-x"))))]))
    assert crafted.counts(profile) == {AMF: (1, 1), GNB: (1, 1)}
    assert profile.hosts[0].inner_addresses == (UPF, SMF)
    assert not {"ssh", "tcp"} & set(profile.hosts[0].protocols)


def test_tunnels_without_end_are_given_up() -> None:
    packet = b""
    for _ in range(3000):
        packet = ipv4(AMF, GNB, 4, packet[:60_000])
    profile = profiled(pcap([ethernet(packet)]))
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("too-deep", 1)]


def test_an_icmp_error_does_not_lend_the_quoted_protocol() -> None:
    quoted = ipv4(GNB, AMF, 17, udp(2152, 2152, b"\x30\xff\x00\x00\x00\x00\x00\x01"))
    packet = ipv4(AMF, GNB, 1, b"\x03\x03\x00\x00" + bytes(4) + quoted)
    assert profiled(pcap([ethernet(packet)])).hosts[0].protocols == ("icmp",)
    quoted = ipv6("fd00::2", "fd00::1", 17, udp(2152, 2152, b"\x30\xff\x00\x00\x00\x00\x00\x01"))
    packet = ipv6("fd00::1", "fd00::2", 58, b"\x01\x04\x00\x00" + bytes(4) + quoted)
    profile = profiled(pcap([ethernet(packet)]))
    assert {host.ip: (host.protocols, host.role) for host in profile.hosts} == dict.fromkeys(
        ("fd00::1", "fd00::2"), (("icmpv6",), "unknown")
    )


def test_a_row_has_the_fields_of_the_interface_and_plain_values() -> None:
    profile = profiled(pcap([ethernet(ipv4(AMF, GNB, 17, udp(1, 2, b"")))]))
    row = host_row(profile.hosts[0])
    assert row.keys() - {"roles", "inner_addresses"} == API_FIELDS
    assert json.loads(json.dumps(row)) == row
    assert (row["protocol_count"], row["protocols"], row["pilot"]) == (1, ["udp"], "lab")


@pytest.mark.parametrize(
    ("address", "role"), [("224.0.0.251", "multicast"), ("ff02::fb", "multicast"), ("255.255.255.255", "broadcast")]
)
def test_group_addresses_are_hosts_of_their_own_role(address: str, role: str) -> None:
    packet = ipv6("fe80::1", address, 17, udp(1, 2, b"")) if ":" in address else ipv4(AMF, address, 17, udp(1, 2, b""))
    assert {host.ip: host.role for host in profiled(pcap([ethernet(packet)])).hosts}[address] == role


def test_a_subnets_broadcast_address_is_known_by_its_frames() -> None:
    frame = b"\xff" * 6 + ethernet(ipv4(AMF, "10.0.0.255", 17, udp(1, 2, b"")))[6:]
    assert {host.ip: host.role for host in profiled(pcap([frame])).hosts}["10.0.0.255"] == "broadcast"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "1970-01-01T00:00:00.000000Z"), (1_500, "1970-01-01T00:00:00.000001Z"), (None, None), (10**30, None)],
)
def test_times_are_utc_text_in_microseconds(nanoseconds: int | None, text: str | None) -> None:
    assert instant(nanoseconds) == text
