"""Hostile input: whatever is done to the bytes, the answer is a profile or `not a capture`."""

import gzip
import io
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_ingest.profile import NotACapture, Profile, profile_capture
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, chunk, ethernet, ipv4, ipv6, pcap, sctp, tcp, udp
from tests.unit.ingest.test_protocols import GUTI_REQUEST, SUCI_REQUEST, ngap

INNER = ipv4("10.45.0.2", "192.0.2.1", 6, tcp(1, 80, b"GET / HTTP/1.1\r\n\r\n"))
FRAMES = [
    ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, chunk(ngap(SUCI_REQUEST), 60), chunk(ngap(GUTI_REQUEST), 60)))),
    ethernet(ipv4(GNB, AMF, 132, sctp(9000, 36422, chunk(ngap(b"\x07\x41" + bytes(20), 5), 27)))),
    ethernet(ipv4(GNB, UPF, 17, udp(2152, 2152, struct.pack(">BBHI", 0x30, 255, len(INNER), 1) + INNER))),
    ethernet(ipv4(SMF, UPF, 17, udp(8805, 8805, b"\x21\x32\0\x14" + bytes(12) + b"\0\x8d\0\x04\x01\x02\x10\x20"))),
    ethernet(ipv4(SMF, UPF, 17, udp(2123, 2123, b"\x48\x20\x00\x10" + bytes(8) + b"\x01\x00\x04\x00\x10\x20\x30\x40"))),
    ethernet(ipv6("fd00::1", "fd00::2", 44, b"\x11\x00\x00\x01" + bytes(4) + udp(53, 53, bytes(20)))),
    ethernet(ipv4(AMF, SMF, 6, tcp(1, 3868, struct.pack(">IIIII", 1 << 24 | 20, 318, 16_777_251, 1, 1)))),
    ethernet(ipv4(AMF, SMF, 6, tcp(1, 7777, b"POST /nsmf-pdusession/v1/x HTTP/1.1\r\nupgrade: websocket\r\n\r\n"))),
    ethernet(ipv4(GNB, AMF, 4, INNER), b"\x81\x00\x00\x01"),
]  # fmt: skip
PCAP = pcap(FRAMES)
PCAPNG = crafted.section() + crafted.interface() + b"".join(crafted.enhanced(frame, 1) for frame in FRAMES)

mutations = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=12)


def answer(file: bytes) -> Profile | None:
    try:
        return profile_capture(io.BytesIO(file), pilot=None, expanded_limit=1 << 24)
    except NotACapture:
        return None


def mutated(file: bytes, changes: list[tuple[float, int]], kept: float) -> bytes:
    damaged = bytearray(file[: int(len(file) * kept) + 1])
    for place, value in changes:
        damaged[int(place * len(damaged))] = value
    return bytes(damaged)


@settings(deadline=None, max_examples=50)
@given(file=st.sampled_from([PCAP, PCAPNG, gzip.compress(PCAP)]), changes=mutations, kept=st.floats(0, 1))
def test_a_mutated_capture_is_a_profile_or_no_capture(
    file: bytes, changes: list[tuple[float, int]], kept: float
) -> None:
    profile = answer(mutated(file, changes, kept))
    if profile is not None:
        assert profile.packets >= 0
        assert all(host.packets > 0 and host.packets <= profile.packets for host in profile.hosts)


@settings(deadline=None, max_examples=50)
@given(frame=st.sampled_from(FRAMES), changes=mutations)
def test_no_mutated_frame_reaches_the_reader_as_an_exception(frame: bytes, changes: list[tuple[float, int]]) -> None:
    profile = answer(pcap([mutated(frame, changes, 1.0)]))
    assert profile is not None
    assert "packet-not-decoded" not in {warning.code for warning in profile.warnings}


@settings(deadline=None, max_examples=30)
@given(order=st.permutations(range(len(FRAMES))))
def test_counts_do_not_depend_on_the_order_of_frames(order: list[int]) -> None:
    profile = answer(pcap([FRAMES[number] for number in order]))
    straight = answer(PCAP)
    assert profile is not None
    assert straight is not None
    assert crafted.counts(profile) == crafted.counts(straight)
    assert {host.ip: host.protocol_packets for host in profile.hosts} == {
        host.ip: host.protocol_packets for host in straight.hosts
    }


def test_no_identifier_is_in_the_text_of_a_profile() -> None:
    profile = answer(PCAP)
    assert profile is not None
    assert [sighting.value for sighting in profile.identifiers.imsi] == ["001010000000001"]
    for shown in (repr(profile), repr(profile.hosts[0]), repr(profile.identifiers), repr(profile.identifiers.imsi)):
        assert "0000000001" not in shown
        assert "deadbeef" not in shown
