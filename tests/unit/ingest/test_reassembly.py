"""Reassembly: messages and datagrams come together whatever the order of their parts, and what is lost is counted."""

import struct
from itertools import permutations, product

import pytest

from pratique_ingest.capture.reassembly import MAX_WAITING, Messages
from pratique_ingest.capture.transport import Chunk
from pratique_ingest.profile import Profile
from tests.unit.ingest.crafted import AMF, GNB, chunk, ethernet, ipv4, ipv6, pcap, profiled, sctp, udp
from tests.unit.ingest.test_protocols import SUCI, SUCI_REQUEST, ngap, values

MESSAGE = ngap(SUCI_REQUEST)
PARTS = {"B": (MESSAGE[:10], 2, 0), "M": (MESSAGE[10:20], 0, 1), "E": (MESSAGE[20:], 1, 2)}


def sent(order: str, first: int = 7) -> Profile:
    """Capture the parts of one message in this order, each in a packet of its own."""
    frames = []
    for letter in order:
        payload, flags, number = PARTS[letter]
        part = chunk(payload, 60, flags, first + number & 0xFFFFFFFF)
        frames.append(ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, part))))
    return profiled(pcap(frames))


def lost(profile: Profile) -> int:
    return sum(warning.count for warning in profile.warnings if warning.code == "not-reassembled")


@pytest.mark.parametrize("order", ["BME", "BBMMEE", "BMME", "BEM", *map("".join, permutations("BME")), "BMEBME"])
def test_late_and_repeated_fragments_make_one_message(order: str) -> None:
    profile = sent(order)
    assert [(sighting.value, sighting.packets) for sighting in profile.identifiers.suci] == [(SUCI, 1)]
    assert lost(profile) == 0


@pytest.mark.parametrize("first", [0, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF])
def test_transmission_numbers_turn_over(first: int) -> None:
    assert values(sent("EMB", first), "suci") == [SUCI]


@pytest.mark.parametrize(("order", "count"), [("BE", 2), ("BM", 2), ("ME", 2), ("M", 1), ("BB", 1)])
def test_fragments_that_wait_in_vain_are_counted(order: str, count: int) -> None:
    profile = sent(order)
    assert (values(profile, "suci"), lost(profile)) == ([], count)
    assert profile.complete


def part(tsn: int, first: bool = False, last: bool = False, message: tuple[int, int] | None = None) -> Chunk:
    return Chunk(tsn, 0, 60 if first else 0, first, last, bytes([tsn & 0xFF]), message)


def test_two_messages_side_by_side_stay_apart() -> None:
    parts = [part(1, first=True), part(2, last=True), part(3, first=True), part(4, last=True)]
    for order in permutations(parts):
        messages = Messages()
        done = [whole.payload for each in order if (whole := messages.add(b"a", each)) is not None]
        assert sorted(done) == [b"\x01\x02", b"\x03\x04"]


def test_interleaved_messages_are_told_apart_by_their_numbers() -> None:
    messages = Messages()
    ones, twos = (5, 1), (5, 2)
    parts = [part(0, True, False, ones), part(0, True, False, twos), part(1, False, True, twos)]
    assert [messages.add(b"a", each) is None for each in parts] == [True, True, False]
    whole = messages.add(b"a", part(1, False, True, ones))
    assert whole is not None
    assert (whole.payload, whole.protocol) == (b"\x00\x01", 60)  # the protocol stands in the first fragment only


def interleaved(payload: bytes, flags: int, number: int) -> bytes:
    """An I-DATA chunk (RFC 8260, 2.1) of message 3 in stream 1; `number` is the protocol in a first fragment."""
    head = struct.pack(">BBHIHHII", 64, flags, 20 + len(payload), 77, 1, 0, 3, number)
    return head + payload + bytes(-len(payload) % 4)


def test_a_message_in_interleaved_chunks_is_read() -> None:
    chunks = [interleaved(MESSAGE[:9], 2, 60), interleaved(MESSAGE[9:30], 0, 1), interleaved(MESSAGE[30:], 1, 2)]
    frames = [ethernet(ipv4(GNB, AMF, 132, sctp(9000, 9001, each))) for each in (chunks[2], chunks[0], chunks[1])]
    assert values(profiled(pcap(frames)), "suci") == [SUCI]


def test_parts_of_a_message_may_be_bundled_with_other_messages() -> None:
    other = ngap(SUCI_REQUEST, procedure=46)
    parts = [chunk(MESSAGE[:9], 60, 2, 1), chunk(MESSAGE[9:21], 60, 0, 2), chunk(MESSAGE[21:], 60, 1, 3)]
    packets = [
        sctp(9000, 38412, chunk(other, 60, tsn=0), *parts[:2]),
        sctp(9000, 38412, parts[2], chunk(other, 60, tsn=4)),
    ]
    profile = profiled(pcap([ethernet(ipv4(GNB, AMF, 132, packet)) for packet in packets]))
    assert [(sighting.value, sighting.packets) for sighting in profile.identifiers.suci] == [(SUCI, 2)]
    assert (profile.hosts[0].protocol_packets["ngap"], lost(profile)) == (2, 0)


@pytest.mark.parametrize("protocol", [60, 18, 62, 27, 46, 70])
def test_an_identifier_of_a_protocol_without_its_message_gives_nothing(protocol: int) -> None:
    frame = ethernet(ipv4(GNB, AMF, 132, sctp(9000, 9001, chunk(b"no message of any kind", protocol))))
    assert profiled(pcap([frame])).hosts[0].protocols == ("sctp",)


def test_what_waits_is_bounded_and_the_rest_is_given_up() -> None:
    messages = Messages()
    for tsn in range(10_000):
        assert messages.add(b"a", part(2 * tsn)) is None
    assert messages.given_up == 10_000
    assert len(messages._open[b"a", -1, -1].parts) == MAX_WAITING
    for number, tsn in product(range(3000), (0, 2)):
        messages.add(number.to_bytes(2, "big"), part(tsn))
    assert messages.given_up == 10_000 + 6000
    assert len(messages._open) <= 1024


def fragment(following: int, offset: int, more: int, data: bytes) -> bytes:
    return ipv6("fd00::1", "fd00::2", 44, struct.pack(">BBHI", following, 0, offset | more, 5) + data)


def test_options_behind_a_fragment_header_are_part_of_the_fragments() -> None:
    options = bytes([17, 0, 1, 4, 0, 0, 0, 0])  # destination options (60) before UDP (RFC 8200, 4.1)
    whole = options + udp(5353, 5353, bytes(40))
    frames = [fragment(60, 0, 1, whole[:32]), fragment(60, 32, 0, whole[32:])]
    profile = profiled(pcap(map(ethernet, frames)))
    assert (set(profile.hosts[0].protocols), lost(profile)) == ({"udp", "mdns"}, 0)
    assert lost(profiled(pcap([ethernet(frames[0])]))) == 1


def test_a_datagram_whose_parts_are_not_all_there_is_counted() -> None:
    first = ethernet(ipv4(GNB, AMF, 17, bytes(32), fragment=0x2000))
    assert lost(profiled(pcap([first, first]))) == 1
