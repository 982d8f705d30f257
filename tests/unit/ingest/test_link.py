"""Link layers: the same IP packet is found behind every header that may stand before it."""

import io
import struct

import pytest

from pratique_ingest.profile import PACE, profile_capture
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
    "no tag but a priority": (1, ethernet(PACKET, b"\x81\x00\xe0\x00")),
    "network service header": (1, ADDRESSES + b"\x89\x4f" + b"\x00\x02\x00\x01" + bytes(4) + PACKET),
    "VN-Tag": (1, ADDRESSES + b"\x89\x26" + bytes(4) + b"\x08\x00" + PACKET),
    "E-Tag": (1, ADDRESSES + b"\x89\x3f" + bytes(6) + b"\x08\x00" + PACKET),
    "PPPoE behind two tags": (
        1, ADDRESSES + QINQ + VLAN + b"\x88\x64" + b"\x11\x00\x00\x01\x00\x20" + b"\x00\x21" + PACKET
    ),
    "readable MACsec": (1, ADDRESSES + b"\x88\xe5" + b"\x20" + bytes(13) + b"\x08\x00" + PACKET),
    "SLL": (113, struct.pack(">HHH8sH", 0, 1, 6, b"", 0x0800) + PACKET),
    "SLL with a tag": (113, struct.pack(">HHH8sH", 0, 1, 6, b"", 0x8100) + b"\x00\x01\x08\x00" + PACKET),
    "SLL2": (276, struct.pack(">HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, b"") + PACKET),
    "NULL little": (0, b"\x02\x00\x00\x00" + PACKET),
    "NULL big": (0, b"\x00\x00\x00\x02" + PACKET),
    "LOOP": (108, b"\x00\x00\x00\x02" + PACKET),
    "RAW": (101, PACKET),
    "RAW of BSD": (12, PACKET),
    "RAW of OpenBSD": (14, PACKET),
    "IPV4": (228, PACKET),
    "token ring": (6, b"\x10\x40" + ADDRESSES + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "serial PPP": (50, b"\xff\x03\x00\x21" + PACKET),
    "Cisco HDLC as PPP": (50, b"\x0f\x00\x08\x00" + PACKET),
    "PPP of pppd": (166, b"\x01\xff\x03\x00\x21" + PACKET),
    "PPP with direction": (204, b"\x00\xff\x03\x00\x21" + PACKET),
    "PPPoE session": (51, b"\x11\x00\x00\x01\x00\x20" + b"\x00\x21" + PACKET),
    "MPLS in PPP": (9, b"\xff\x03\x02\x81" + BOTTOM + PACKET),
    "PPP": (9, b"\xff\x03\x00\x21" + PACKET),
    "short PPP": (9, b"\x21" + PACKET),
    "C-HDLC": (104, b"\x0f\x00\x08\x00" + PACKET),
    "FDDI": (10, b"\x57" + ADDRESSES + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "NFLOG": (239, b"\x02\x00\x00\x00" + b"\x08\x00\x01\x00" + bytes(4) + bytes([4 + len(PACKET), 0, 9, 0]) + PACKET),
    "NFLOG big": (239, b"\x02\x00\x00\x00" + b"\x00\x08\x00\x01" + bytes(5) + bytes([4 + len(PACKET), 0, 9]) + PACKET),
    "802.11": (105, b"\x08\x01" + bytes(22) + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "radiotap": (127, b"\x00\x00\x08\x00" + bytes(4) + b"\x88\x01" + bytes(24) + b"\xaa\xaa\x03\0\0\0\x08\0" + PACKET),
    "four addresses": (105, b"\x08\x03" + bytes(28) + b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + PACKET),
    "PPI": (192, b"\0\0" + struct.pack("<HI", 8, 105) + b"\x08\x01" + bytes(22) + b"\xaa\xaa\x03\0\0\0\x08\0" + PACKET),
    "PPI with fields": (192, b"\0\0" + struct.pack("<HI", 20, 1) + bytes(12) + ethernet(PACKET)),
    "PKTAP": (258, struct.pack("<III", 108, 1, 1) + bytes(96) + ethernet(PACKET)),
    "PKTAP around RAW": (258, struct.pack("<III", 108, 1, 101) + bytes(96) + PACKET),
}  # fmt: skip


@pytest.mark.parametrize(("link_type", "frame"), STACKS.values(), ids=STACKS)
def test_the_outermost_ip_header_is_found_behind_each_link_layer(link_type: int, frame: bytes) -> None:
    profile = profiled(pcap([frame], link_type))
    assert crafted.counts(profile) == {GNB: (1, 1), AMF: (1, 1)}
    assert profile.warnings == ()


@pytest.mark.parametrize(("link_type", "frame"), STACKS.values(), ids=STACKS)
def test_both_paths_find_it_there(link_type: int, frame: bytes) -> None:
    file = pcap([frame] * 30, link_type)
    fast, exact = (profile_capture(io.BytesIO(file), pilot=None, pace=pace) for pace in (PACE, None))
    assert fast == exact
    assert crafted.counts(fast) == {GNB: (30, 1), AMF: (30, 1)}


@pytest.mark.parametrize(
    ("link_type", "head"),
    [(229, b""), (101, b""), (1, ADDRESSES + b"\x86\xdd"), (9, b"\xff\x03\x00\x57"), (0, b"\x1e\0\0\0")],
)
def test_ipv6_is_found_as_well(link_type: int, head: bytes) -> None:
    packet = ipv6("fd00::1", "fd00::2", 17, udp(1, 2, b"x"))
    assert crafted.counts(profiled(pcap([head + packet], link_type))) == {"fd00::1": (1, 1), "fd00::2": (1, 1)}


@pytest.mark.parametrize(
    ("link_type", "frame"),
    [
        (192, b"\0\0" + struct.pack("<HI", 8, 192) + bytes(40)),  # a header of its own kind inside it
        (192, b"\0\0" + struct.pack("<HI", 4, 1) + ethernet(PACKET)),
        (192, b"\1\0" + struct.pack("<HI", 8, 1) + ethernet(PACKET)),
        (192, b"\0\0" + struct.pack("<HI", 8, 187) + bytes(40)),
        (258, struct.pack("<III", 12, 1, 258) + bytes(40)),
        (258, struct.pack("<III", 8, 1, 1) + ethernet(PACKET)),
        (105, b"\x88\x41" + bytes(24) + b"\xaa\xaa\x03\0\0\0\x08\0" + PACKET),  # protected
        (105, b"\x80\x00" + bytes(22) + bytes(20)),  # a beacon
    ],
)
def test_a_frame_that_hides_what_it_carries_makes_no_host(link_type: int, frame: bytes) -> None:
    assert profiled(pcap([frame], link_type)).hosts == ()


@pytest.mark.parametrize("number", [10, 24, 28, 30])
def test_loopback_knows_every_systems_number_of_ipv6(number: int) -> None:
    packet = ipv6("fe80::1", "fe80::2", 17, udp(1, 2, b"x"))
    assert {host.ip for host in profiled(pcap([struct.pack("<I", number) + packet], 0)).hosts} == {"fe80::1", "fe80::2"}


@pytest.mark.parametrize("kind", [0x0806, 0x88CC, 0x88F7])
def test_a_frame_without_ip_makes_no_host_and_is_counted(kind: int) -> None:
    profile = profiled(pcap([ADDRESSES + kind.to_bytes(2, "big") + bytes(46)]))
    assert (profile.packets, profile.hosts, profile.warnings) == (1, (), ())


def test_frames_of_the_fronthaul_are_counted_for_the_capture() -> None:
    message = b"\x10\x00\x00\x08" + bytes(42)
    frames = [ADDRESSES + b"\xae\xfe" + message] * 3 + [ADDRESSES + VLAN + b"\xae\xfe" + message] * 2
    profile = profiled(pcap([*frames, ethernet(PACKET)]))
    assert (profile.packets, crafted.counts(profile)) == (6, {GNB: (1, 1), AMF: (1, 1)})
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("ecpri", 5)]


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
