"""Link layers: the same IP packet is found behind every header that may stand before it."""

import struct

import pytest

from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, ethernet, ipv4, ipv6, pcap, profiled, udp

PACKET = ipv4(GNB, AMF, 17, udp(1, 2, b"x"))
ADDRESSES = bytes(12)
VLAN, QINQ = b"\x81\x00\x00\x01", b"\x88\xa8\x00\x02"
LABEL, BOTTOM = b"\x00\x01\x00\x40", b"\x00\x02\x01\x40"

STACKS = {
    "plain": (1, ethernet(PACKET)),
    "one tag": (1, ethernet(PACKET, VLAN)),
    "five tags": (1, ethernet(PACKET, QINQ, VLAN, QINQ, VLAN, VLAN)),
    "MPLS": (1, ADDRESSES + b"\x88\x47" + LABEL + LABEL + BOTTOM + PACKET),
    "Ethernet in MPLS": (1, ADDRESSES + b"\x88\x47" + BOTTOM + bytes(4) + ethernet(PACKET)),
    "PPPoE": (1, ADDRESSES + b"\x88\x64" + b"\x11\x00\x00\x01\x00\x20" + b"\x00\x21" + PACKET),
    "SNAP": (1, ADDRESSES + b"\x00\x2c" + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "LLC": (1, ADDRESSES + b"\x00\x2c" + b"\x06\x06\x03" + PACKET),
    "provider backbone": (1, ADDRESSES + b"\x88\xe7" + bytes(4) + ethernet(PACKET)),
    "readable MACsec": (1, ADDRESSES + b"\x88\xe5" + b"\x20" + bytes(13) + b"\x08\x00" + PACKET),
    "SLL": (113, struct.pack(">HHH8sH", 0, 1, 6, b"", 0x0800) + PACKET),
    "SLL with a tag": (113, struct.pack(">HHH8sH", 0, 1, 6, b"", 0x8100) + b"\x00\x01\x08\x00" + PACKET),
    "SLL2": (276, struct.pack(">HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, b"") + PACKET),
    "NULL little": (0, b"\x02\x00\x00\x00" + PACKET),
    "NULL big": (0, b"\x00\x00\x00\x02" + PACKET),
    "LOOP": (108, b"\x00\x00\x00\x02" + PACKET),
    "RAW": (101, PACKET),
    "RAW of BSD": (12, PACKET),
    "IPV4": (228, PACKET),
    "PPP": (9, b"\xff\x03\x00\x21" + PACKET),
    "short PPP": (9, b"\x21" + PACKET),
    "C-HDLC": (104, b"\x0f\x00\x08\x00" + PACKET),
    "FDDI": (10, b"\x57" + ADDRESSES + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "NFLOG": (239, b"\x02\x00\x00\x00" + b"\x08\x00\x01\x00" + bytes(4) + bytes([4 + len(PACKET), 0, 9, 0]) + PACKET),
    "802.11": (105, b"\x08\x01" + bytes(22) + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "radiotap": (127, b"\x00\x00\x08\x00" + bytes(4) + b"\x88\x01" + bytes(24) + b"\xaa\xaa\x03\0\0\0\x08\0" + PACKET),
}  # fmt: skip


@pytest.mark.parametrize(("link_type", "frame"), STACKS.values(), ids=STACKS)
def test_the_outermost_ip_header_is_found_behind_each_link_layer(link_type: int, frame: bytes) -> None:
    profile = profiled(pcap([frame], link_type))
    assert crafted.counts(profile) == {GNB: (1, 1), AMF: (1, 1)}
    assert profile.warnings == ()


@pytest.mark.parametrize("number", [10, 24, 28, 30])
def test_loopback_knows_every_systems_number_of_ipv6(number: int) -> None:
    packet = ipv6("fe80::1", "fe80::2", 17, udp(1, 2, b"x"))
    assert {host.ip for host in profiled(pcap([struct.pack("<I", number) + packet], 0)).hosts} == {"fe80::1", "fe80::2"}


@pytest.mark.parametrize("kind", [0x0806, 0x88CC, 0xAEFE, 0x88F7])
def test_a_frame_without_ip_makes_no_host_and_is_counted(kind: int) -> None:
    profile = profiled(pcap([ADDRESSES + kind.to_bytes(2, "big") + bytes(46)]))
    assert (profile.packets, profile.hosts, profile.warnings) == (1, (), ())


def test_a_link_type_without_ip_is_a_warning_and_not_an_error() -> None:
    profile = profiled(pcap([b"\x00" * 20] * 3, 149))
    assert (profile.packets, profile.hosts, profile.link_types) == (3, (), ("USER2",))
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("unknown-link", 3)]


def test_a_stack_of_tags_without_end_is_given_up() -> None:
    profile = profiled(pcap([ethernet(PACKET, *[VLAN] * 200)]))
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("too-deep", 1)]


def test_a_frame_cut_inside_its_headers_is_a_warning() -> None:
    profile = profiled(pcap([ethernet(PACKET)[:13], ethernet(PACKET)[:30]]))
    assert profile.hosts == ()
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("cut-header", 2)]
