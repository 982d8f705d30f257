"""What a port shows and what only a message shows: servers, SIP, NTP, GTP and tunnels by more than their numbers."""

import struct

import pytest

from pratique_ingest.profile import Profile
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, chunk, ethernet, ipv4, ipv6, pcap, profiled, sctp, tcp, udp
from tests.unit.ingest.test_protocols import IMSI, SUCI, SUCI_REQUEST, ngap, on_tcp, on_udp, values

PACKED_IMSI, PACKED_MSISDN = bytes.fromhex("00010100000000f1"), bytes.fromhex("947152760041")


def roles(profile: Profile) -> dict[str, str]:
    return {host.ip: host.role for host in profile.hosts}


def segment(source: int, destination: int, payload: bytes, flags: int = 0x18) -> Profile:
    return profiled(pcap([ethernet(ipv4(SMF, UPF, 6, tcp(source, destination, payload, flags=flags)))]))


@pytest.mark.parametrize(
    ("source", "destination", "payload", "flags", "role"),
    [
        (5432, 443, b"\x16\x03\x01" + bytes(60), 0x18, "unknown"),  # a TLS client whose own port is PostgreSQL's
        (5432, 7777, b"x", 0x18, "unknown"),
        (5432, 50_000, b"x", 0x18, "database"),
        (5432, 1100, b"", 0x12, "database"),  # SYN and ACK
        (5432, 50_000, b"", 0x10, "unknown"),
        (53, 1100, b"x", 0x18, "DNS"),
        (53, 53, b"x", 0x18, "unknown"),
    ],
)
def test_a_server_answers_from_its_port_to_one_of_use(
    source: int, destination: int, payload: bytes, flags: int, role: str
) -> None:
    assert roles(segment(source, destination, payload, flags))[SMF] == role


@pytest.mark.parametrize(("mode", "role"), [(3, "unknown"), (4, "NTP"), (5, "NTP"), (1, "unknown")])
def test_a_time_server_is_known_by_its_mode(mode: int, role: str) -> None:
    profile = profiled(pcap([ethernet(ipv4(SMF, UPF, 17, udp(123, 123, bytes([0x20 | mode]) + bytes(47))))]))
    assert roles(profile) == {SMF: role, UPF: "unknown"}


@pytest.mark.parametrize(
    ("payload", "role"),
    [
        (b"INVITE sip:bob@example.com SIP/2.0\r\n\r\n", "SIP node"),
        (b"INVITE tel:+4912345678 SIP/2.0\r\n\r\n", "SIP node"),
        (b"SIP/2.0 200 OK\r\n\r\n", "SIP node"),
        (b"\r\n\r\n", "unknown"),
        (b"random bytes", "unknown"),
        (b"SIP/2.0", "unknown"),
    ],
)
def test_an_end_of_sip_shows_a_first_line(payload: bytes, role: str) -> None:
    assert set(roles(on_udp(5060, payload)).values()) == {role}


def test_telephone_numbers_in_sip_are_kept() -> None:
    lines = [
        b"INVITE sip:0598765432100;phone-context=ims.example@ims.example;user=phone SIP/2.0",
        b"From: <tel:0298765432100>;tag=401181971",
        b"To: <sip:bob12345@example.com>",
        b"P-Asserted-Identity: <tel:+491725670014>",
        b"Subject: call tel:12345678",
        b"Contact: <sip:192.168.101.3:5060>",
    ]
    for profile in (on_udp(5060, b"\r\n".join(lines)), on_tcp(b"\r\n".join(lines), port=5060)):
        assert values(profile, "msisdn") == ["0298765432100", "0598765432100", "491725670014"]


def test_a_public_identity_of_diameter_may_be_a_telephone_number() -> None:
    text = b"tel:0198765432100"
    attribute = struct.pack(">III", 601, 0xC0 << 24 | 12 + len(text), 10_415) + text + bytes(-len(text) % 4)
    message = struct.pack(">IIIII", 1 << 24 | 20 + len(attribute), 0x80 << 24 | 301, 16_777_216, 1, 1) + attribute
    frame = ethernet(ipv4(AMF, SMF, 132, sctp(3868, 3868, chunk(message, 46))))
    assert values(profiled(pcap([frame])), "msisdn") == ["0198765432100"]


def v2(kind: int, elements: bytes, flags: int = 0x48, spare: int = 0) -> bytes:
    body = (bytes(4) if flags & 8 else b"") + bytes([0, 0, 1, spare]) + elements
    return struct.pack(">BBH", flags, kind, len(body)) + body


RECOVERY = bytes([3, 0, 1, 0, 9])


@pytest.mark.parametrize(
    ("message", "gtp"),
    [
        (v2(1, RECOVERY, 0x40), True),
        (v2(3, b"", 0x40), True),
        (v2(1, b"", 0x40), False),  # eight bytes: an echo says when it was started
        (v2(250, RECOVERY), False),
        (v2(32, RECOVERY, 0x4B), False),
        (v2(32, RECOVERY, spare=7), False),
        (v2(32, RECOVERY, 0x40), False),  # a session is asked for with a TEID
        (v2(32, bytes([1, 255, 255, 0])), False),
        (bytes([0x32, 1, 0, 4]) + bytes(8), True),
        (bytes([0x30, 1, 0, 4]) + bytes(8), False),  # version 1 of the control plane always has its sequence number
        (bytes([0x32, 200, 0, 4]) + bytes(8), False),
    ],
)
def test_a_gateway_shows_a_possible_header(message: bytes, gtp: bool) -> None:
    assert set(roles(on_udp(2123, message)).values()) == {"core gateway" if gtp else "unknown"}


def test_gtpv1_elements_stand_behind_extension_headers_and_an_rab_context_of_nine_bytes() -> None:
    extension = b"\x01\x00\x00\x00"
    elements = b"\x02" + PACKED_IMSI + b"\x16" + bytes(9) + b"\x86\x00\x07\x91" + PACKED_MSISDN
    body = b"\0\1\0\xc0" + extension + elements
    profile = on_udp(2123, b"\x36\x10" + struct.pack(">HI", len(body), 1) + body)
    assert (values(profile, "imsi"), values(profile, "msisdn")) == ([IMSI], ["491725670014"])


def test_pfcp_and_gtp_fill_their_datagrams() -> None:
    heartbeat = b"\x20\x01\x00\x0c\x00\x00\x01\x00" + b"\x00\x60\x00\x04" + bytes(4)
    assert "pfcp" in on_udp(8805, heartbeat).hosts[0].protocols
    assert "pfcp" not in on_udp(8805, heartbeat + b"junk").hosts[0].protocols
    assert "pfcp" in on_udp(8805, b"\x24" + heartbeat[1:] + heartbeat).hosts[0].protocols  # another one follows
    echo = b"\x32\x01\x00\x04" + bytes(8)
    assert "gtp" in on_udp(2152, echo).hosts[0].protocols
    assert "gtp" not in on_udp(2152, echo + b"junk").hosts[0].protocols


@pytest.mark.parametrize(
    ("payload", "gtp"),
    [
        (b"\x1e\x10\x00\x04" + bytes(20), True),  # version 0 of GTP
        (b"\x4e\xf0\x00\x02\x00\x01" + bytes(2), True),  # GTP', version 2
        (b"\x0f\xf0\x00\x02\x00\x01" + bytes(2), True),  # GTP', version 0 with the short header
        (b"\x4e\xf0\x00\x03\x00\x01" + bytes(2), False),
        (b"\x27\x00\x00\x00\x02\x59", False),
        (b"\x4e\x00\x00\x00\x00\x01", False),  # no type
        (b"\x1e", False),
    ],
)
def test_charging_on_port_3386_fills_its_datagram(payload: bytes, gtp: bool) -> None:
    assert set(on_udp(3386, payload).hosts[0].protocols) == ({"udp", "gtp"} if gtp else {"udp"})


def test_a_tunnel_whose_length_is_wrong_is_one_if_a_packet_is_in_it() -> None:
    inner = ipv4(SMF, UPF, 17, udp(1, 2, b"abcd"))
    for header in (len(inner), len(inner) - 1, len(inner) + 8):
        packet = struct.pack(">BBHI", 0x30, 255, header, 1) + inner
        assert ("gtp" in on_udp(2152, packet).hosts[0].protocols) == (header >= len(inner))
    assert on_udp(2152, b"0\xffabcdefghijklmabcdefghijklm").hosts[0].protocols == ("udp",)


def test_a_frame_that_was_cut_keeps_its_tunnel() -> None:
    inner = ipv4(SMF, UPF, 17, udp(1, 2, bytes(500)))
    frame = ethernet(ipv4(AMF, GNB, 17, udp(2152, 2152, struct.pack(">BBHI", 0x30, 255, len(inner), 1) + inner)))
    profile = profiled(pcap([frame[:120]]))
    assert profile.hosts[0].inner_addresses == (UPF, SMF)


def checksummed(packet: bytes) -> bytes:
    words = sum(struct.unpack(">10H", packet[:20]))
    return packet[:10] + struct.pack(">H", 0xFFFF - (words & 0xFFFF) - (words >> 16)) + packet[12:]


@pytest.mark.parametrize(
    ("inner", "kept"),
    [
        (ipv4(SMF, UPF, 17, b"x"), True),
        (checksummed(ipv4(SMF, UPF, 17, b"x")), True),
        (checksummed(ipv4(SMF, UPF, 17, b"x"))[:10] + b"\x12\x34" + ipv4(SMF, UPF, 17, b"x")[12:], False),
        (b"\x45" + bytes(range(1, 40)), False),
        (ipv6("fd00::1", "fd00::2", 59, b""), True),
        (ipv6("fd00::1", "fd00::2", 17, b"x") + b"y", False),
        (ipv6("fd00::1", "fd00::2", 59, b"") + bytes(8), True),  # a bubble with its trailers (RFC 6081, 4)
    ],
)  # fmt: skip
def test_addresses_come_from_sound_inner_headers_only(inner: bytes, kept: bool) -> None:
    for packet in (ipv4(AMF, GNB, 4, inner), ipv4(AMF, GNB, 17, udp(3544, 3544, inner))):
        assert bool(profiled(pcap([ethernet(packet)])).hosts[0].inner_addresses) == kept


def test_teredo_may_authenticate_before_its_packet() -> None:
    inner = ipv6("fd00::1", "fd00::2", 59, b"")
    indicators = b"\0\1\2\3" + bytes(2 + 3 + 9) + b"\0\0" + bytes(6)  # 5.1.1: identifier, code, nonce; then the origin
    packet = ipv4(AMF, GNB, 17, udp(3544, 3544, indicators + inner))
    assert profiled(pcap([ethernet(packet)])).hosts[0].inner_addresses == ("fd00::1", "fd00::2")


def test_sctp_over_udp_is_read() -> None:
    packet = ipv4(GNB, AMF, 17, udp(9899, 9899, sctp(9000, 38412, chunk(ngap(SUCI_REQUEST), 60))))
    profile = profiled(pcap([ethernet(packet)]))
    assert values(profile, "suci") == [SUCI]
    assert set(profile.hosts[0].protocols) == {"udp", "sctp", "ngap", "nas-5gs"}


def test_twenty_tags_are_passed_and_forty_are_not() -> None:
    packet = ipv4(AMF, GNB, 17, udp(1, 2, b""))
    assert crafted.counts(profiled(pcap([ethernet(packet, *[b"\x81\x00\x00\x05"] * 20)]))) == {AMF: (1, 1), GNB: (1, 1)}
    deep = profiled(pcap([ethernet(packet, *[b"\x81\x00\x00\x05"] * 40)]))
    assert [(warning.code, warning.count) for warning in deep.warnings] == [("too-deep", 1)]


def test_a_total_length_below_the_header_makes_no_host() -> None:
    packet = bytearray(ipv4(AMF, GNB, 17, udp(1, 2, b"")))
    packet[2:4] = b"\x00\x0a"
    profile = profiled(pcap([ethernet(bytes(packet))]))
    assert (profile.packets, profile.hosts) == (1, ())


@pytest.mark.parametrize("line", [b"\r\nuser-agent:" + b" " * 60_000, b"\r\nuser-agent: " * 4000])
def test_a_header_of_spaces_is_read_in_one_go(line: bytes) -> None:
    begun = crafted.cpu()
    profiled(pcap([ethernet(ipv4(AMF, SMF, 6, tcp(n, 80, b"GET / HTTP/1.1\r\n" + line))) for n in range(200)]))
    assert crafted.cpu() - begun < 1
