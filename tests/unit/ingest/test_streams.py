"""Streams over TCP: what crosses segments, comes late, twice or not at all."""

import gzip
import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique_ingest import flows
from pratique_ingest.budget import LANE, Budget
from pratique_ingest.capture import ordering
from pratique_ingest.capture.ordering import Ordered
from pratique_ingest.capture.transport import FIN, Segment
from pratique_ingest.protocols.findings import Findings, Sign
from pratique_ingest.protocols.hpack import Table, header_block
from pratique_ingest.protocols.http1 import Http1
from pratique_ingest.protocols.http2 import Http2
from pratique_ingest.protocols.huffman import SYMBOLS, codes, huffman
from pratique_ingest.protocols.websocket import WebSocket
from tests.unit.ingest.crafted import AMF, SMF, cpu, ethernet, ipv4, pcap, profiled, tcp
from tests.unit.ingest.streams import (
    CLIENT,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PREFACE,
    SERVER,
    SETTINGS,
    Encoder,
    captured,
    cut,
    disorder,
    frame,
    heard,
    request,
)
from tests.unit.ingest.test_fast import SMALL, read
from tests.unit.ingest.test_protocols import GUTI, GUTI_REQUEST, values

OPENING = PREFACE + SETTINGS
SUPI = [f"00101000000000{number}" for number in range(1, 8)]
CONCEALED = "suci-0-001-01-0-1-1-" + "a5" * 45


def warned(profile: object) -> dict[str, int]:
    return {warning.code: warning.count for warning in profile.warnings}  # type: ignore[attr-defined]


def conversation() -> bytes:
    """Requests whose paths are indices from the second time on, with bodies in JSON, compressed, and in parts."""
    encoder, paths = Encoder(), [f"/nudm-sdm/v2/imsi-{supi}/nssai" for supi in SUPI[:2]]
    body = json.dumps({"supi": f"imsi-{SUPI[2]}", "gpsi": "msisdn-33612345678", "suci": CONCEALED}).encode()
    hidden = gzip.compress(json.dumps({"pei": "imeisv-4901542032375101", "x": f"imsi-{SUPI[3]}"}).encode(), mtime=0)
    parts = (
        b'--b1\r\nContent-Type: application/json\r\n\r\n{"supi":"imsi-' + SUPI[4].encode() + b'"}\r\n'
        b"--b1\r\nContent-Type: application/vnd.3gpp.5gnas\r\nContent-Id: n1\r\n\r\n" + GUTI_REQUEST + b"\r\n--b1--"
    )
    return OPENING + b"".join(
        (
            request(encoder, 1, paths[0]),
            request(encoder, 3, paths[1], body, parts=3, kind=b"application/json"),
            request(encoder, 5, paths[0], hidden, kind=b"application/json", coding=b"gzip"),
            request(encoder, 7, paths[1], parts, kind=b"multipart/related; boundary=b1"),
            request(encoder, 9, paths[0]),
        )
    )


def found_in(profile: object) -> dict[str, list[str]]:
    return {kind: values(profile, kind) for kind in ("imsi", "suci", "guti", "msisdn", "imei")}  # type: ignore[arg-type]


ALL = {
    "imsi": SUPI[:5], "suci": [CONCEALED], "guti": [GUTI], "msisdn": ["33612345678"], "imei": ["4901542032375101"],
}  # fmt: skip


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_segments_cut_late_and_repeated_give_what_they_give_in_order(data: st.DataObject) -> None:
    stream = conversation()
    places = data.draw(st.lists(st.integers(len(OPENING), len(stream)), max_size=30))
    segments = data.draw(disorder(cut(stream, [len(OPENING), *places])))
    file = captured(segments)
    profile = read(file, None)
    assert found_in(profile) == ALL
    assert warned(profile) == {}
    assert all(read(file, pace) == profile for pace in SMALL)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_same_paths_and_bodies_in_the_same_conversation(tmp_path: Path) -> None:
    stream = conversation()
    path = tmp_path / "cut.pcap"
    path.write_bytes(captured(cut(stream, [len(OPENING), *range(len(OPENING), len(stream), 37)])))
    told = subprocess.run(
        ["tshark", "-r", path, "-d", f"tcp.port=={SERVER},http2", "-V", "-o", "tcp.check_checksum:FALSE"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert {supi for supi in SUPI if f"imsi-{supi}" in told} == set(ALL["imsi"])
    assert {supi for supi in SUPI if f":path: /nudm-sdm/v2/imsi-{supi}/nssai" in told} == set(SUPI[:2])


def test_a_path_that_is_only_an_index_counts_for_its_frame() -> None:
    encoder = Encoder()
    pieces = [OPENING, *(request(encoder, stream, "/nudm-sdm/v2/imsi-001010000000001/x") for stream in (1, 3, 5))]
    assert len(pieces[2]) == 9 + 2  # a frame's header and two indices
    places = [sum(map(len, pieces[:number])) for number in range(1, 4)]
    profile = heard(*cut(b"".join(pieces), places))
    assert [(one.value, one.packets) for one in profile.identifiers.imsi] == [("001010000000001", 3)]
    assert profile.hosts[0].protocol_packets["sbi"] == 3


def test_indices_into_what_was_sent_before_the_capture_are_said_to_be_unknown() -> None:
    encoder = Encoder()
    first, second, third, fourth = (
        request(encoder, 1 + 2 * number, f"/nudm-sdm/v2/imsi-{SUPI[number % 2]}/x") for number in range(4)
    )
    profile = heard(*cut(second + third + fourth, [len(second), len(second + third)]))
    # The third refers to the path of the first, the fourth to that of the second; all to the method of the first.
    assert [(one.value, one.packets) for one in profile.identifiers.imsi] == [(SUPI[1], 2)]
    assert warned(profile) == {"hpack-state-unknown": 3}
    assert len(first) > len(third) == 9 + 2


def test_behind_a_gap_reading_goes_on_and_the_table_begins_anew() -> None:
    encoder = Encoder()
    paths = [f"/nudm-sdm/v2/imsi-{supi}/x" for supi in (SUPI[0], SUPI[1], SUPI[2], SUPI[0])]
    pieces = [OPENING, *(request(encoder, 2 * number + 1, path) for number, path in enumerate(paths))]
    places = [sum(map(len, pieces[:number])) for number in range(1, 5)]
    segments = cut(b"".join(pieces), places)
    profile = heard(*segments[:2], *segments[3:])
    assert values(profile, "imsi") == [SUPI[0], SUPI[2]]
    assert warned(profile) == {"stream-gap": 1, "hpack-state-unknown": 2}


@pytest.mark.parametrize(("lost", "kept"), [(9, True), (13, True), (17, True), (20, False)])
def test_a_missing_acknowledgement_does_not_cost_the_table(lost: int, kept: bool) -> None:
    encoder = Encoder()
    first, second = (request(encoder, stream, f"/nudm-sdm/v2/imsi-{SUPI[0]}/x") for stream in (1, 3))
    begun = OPENING + first
    profile = heard((1, begun), (1 + len(begun) + lost, second))
    assert warned(profile) == ({"stream-gap": 1} if kept else {"stream-gap": 1, "hpack-state-unknown": 1})


def test_a_gap_inside_a_body_of_known_length_is_passed() -> None:
    encoder = Encoder()
    body = frame(DATA, bytes(3000), stream=1, flags=END_STREAM)
    first, second = (request(encoder, stream, f"/nudm-sdm/v2/imsi-{SUPI[0]}/x") for stream in (1, 3))
    stream = OPENING + first + body + second
    segments = cut(stream, [len(stream) - len(second) - 2000, len(stream) - len(second) - 1000])
    profile = heard(segments[0], segments[2])
    assert [one.packets for one in profile.identifiers.imsi] == [2]
    assert warned(profile) == {"stream-gap": 1}


def test_what_the_other_side_has_acknowledged_is_not_waited_for() -> None:
    begun, path = OPENING, f"/nudm-sdm/v2/imsi-{SUPI[0]}/x"
    behind = 1 + len(begun) + 13
    first, late = (
        ethernet(ipv4(AMF, SMF, 6, tcp(CLIENT, SERVER, data, at)))
        for at, data in ((1, begun), (behind, request(Encoder(), 1, path)))
    )
    answer = ethernet(ipv4(SMF, AMF, 6, tcp(SERVER, CLIENT, SETTINGS, 1, 0x18, behind)))
    profile = profiled(pcap([first, answer, late]))
    assert [(one.value, one.packets) for one in profile.identifiers.imsi] == [(SUPI[0], 1)]
    assert profile.hosts[0].protocol_packets == {"http2": 3, "sbi": 1, "tcp": 3}


def test_what_still_waits_at_the_end_is_read_and_tied_to_its_hosts() -> None:
    profile = heard((1, OPENING), (500, request(Encoder(), 1, f"/nudm-sdm/v2/imsi-{SUPI[0]}/x")))
    assert [(one.value, set(one.hosts)) for one in profile.identifiers.imsi] == [(SUPI[0], {AMF, SMF})]
    assert {host.ip: host.role for host in profile.hosts}[SMF] == "UDM"


def test_a_new_connection_on_the_same_ports_begins_with_an_empty_table() -> None:
    first = OPENING + request(Encoder(), 1, f"/nudm-sdm/v2/imsi-{SUPI[0]}/x")
    second = OPENING + request(Encoder(), 1, f"/nudm-sdm/v2/imsi-{SUPI[1]}/x")
    frames = [(1, first, 0x18), (5000, b"", 2), (5001, second, 0x18)]
    profile = profiled(
        pcap(ethernet(ipv4(AMF, SMF, 6, tcp(CLIENT, SERVER, data, at, flags))) for at, data, flags in frames)
    )
    assert (values(profile, "imsi"), warned(profile)) == (SUPI[:2], {})


def test_padding_priority_and_pushed_blocks_keep_the_table_in_step() -> None:
    encoder, reader, found = Encoder(), Http2(known=True), Findings()
    pushed = encoder.block([(b":path", b"/nudm-sdm/v2/imsi-001010000000001/x")])
    again = encoder.block([(b":path", b"/nudm-sdm/v2/imsi-001010000000001/x")])
    padded = frame(HEADERS, b"\3" + bytes(5) + again + bytes(3), flags=0x28 | END_HEADERS)
    reader.take(OPENING + frame(5, struct.pack(">I", 2) + pushed, flags=END_HEADERS) + padded, found, begins=True)
    assert (found.identities, found.troubles) == ({("imsi", "001010000000001")}, [])


def test_a_frame_between_the_parts_of_a_header_block_ends_what_is_known() -> None:
    reader, found = Http2(known=True), Findings()
    reader.take(OPENING + frame(HEADERS, b"\x82") + frame(DATA, b"x"), found, begins=True)
    assert reader.idle


def test_the_huffman_code_is_complete() -> None:
    lengths = [length for length, symbols in SYMBOLS.items() for _ in symbols]
    assert len(lengths) == 256
    # With the one code of thirty bits that ends strings, every sequence of bits is a code (Kraft).
    assert sum(2 ** (30 - length) for length in lengths) + 1 == 2**30


@given(st.binary(max_size=40))
@settings(deadline=None, max_examples=50)
def test_any_bytes_can_be_coded_and_read(text: bytes) -> None:
    by_symbol = {symbol: f"{code:0{length}b}" for (length, code), symbol in codes().items()}
    bits = "".join(by_symbol[byte] for byte in text)
    bits += "1" * (-len(bits) % 8)
    assert huffman(int(bits or "0", 2).to_bytes(len(bits) // 8, "big")) == text


@given(st.lists(st.lists(st.tuples(st.sampled_from([b"a", b":path", b"x-long"]), st.binary(max_size=60)), max_size=6)))
@settings(deadline=None, max_examples=30)
def test_a_library_reads_the_same_fields(blocks: list[list[tuple[bytes, bytes]]]) -> None:
    hpack = pytest.importorskip("hpack", reason="the library hpack is not installed")
    encoder, table = hpack.Encoder(), Table()
    for fields in blocks:
        assert header_block(encoder.encode(fields), table) == (fields, True)


def test_a_block_that_names_a_long_entry_again_and_again_is_given_up() -> None:
    table = Table()
    header_block(b"\x40\x01a" + b"\x7f\xe1\x1e" + b"v" * 4000, table)  # a value of 4,000 bytes
    read = header_block(b"\xbe" * 1000, table)
    assert (len(read.fields) <= 17, read.whole, table.size) == (True, False, 0)


def test_the_table_follows_its_updates_and_our_bound() -> None:
    table = Table()
    header_block(b"\x40\x01a\x01b\x40\x01c\x01d", table)
    assert table.size == 2 * 34
    header_block(b"\x3f\x03", table)  # 34 bytes from now on
    assert (table.size, table.field(62), table.field(63)) == (34, (b"c", b"d"), None)
    table.resize(1 << 30)
    for _ in range(3000):
        table.add((b"n", b"v" * 60))
    assert table.size <= 65_536


# Order


def passed(lane: Ordered, *segments: tuple[int, bytes]) -> bytes:
    return b"".join(piece.data for at, data in segments for piece in lane.add(at, data))


def test_overlapping_segments_give_every_byte_once() -> None:
    segments = (1, b"abc"), (2, b"bcde"), (9, b"ij"), (5, b"efgh"), (8, b"hij"), (1, b"abc")
    assert passed(Ordered(1), *segments) == b"abcdefghij"


def test_the_numbers_of_bytes_begin_again_at_zero() -> None:
    assert passed(Ordered(0xFFFFFFFE), (0xFFFFFFFE, b"abc"), (3, b"fg"), (1, b"de")) == b"abcdefg"


def test_a_gap_is_given_up_when_enough_has_come_behind_it() -> None:
    lane = Ordered(1)
    pieces = [piece for number in range(80) for piece in lane.add(100 + 10 * number, b"x" * 10)]
    assert [(piece.lost, len(piece.data)) for piece in pieces[:2]] == [(99, 0), (0, 10)]
    assert [piece.lost for piece in pieces].count(99) == 1
    assert not lane.waiting


def test_waiting_segments_are_bounded_in_bytes() -> None:
    lane, most = Ordered(1), 0
    for number in range(1000):
        list(lane.add(10 + 2000 * number, b"x" * 1400))
        most = max(most, lane.size)
    assert most <= ordering.MAX_BYTES


def test_a_segment_that_was_cut_in_capture_leaves_a_gap_of_known_size() -> None:
    lane = Ordered(1)
    pieces = [*lane.add(1, b"abc", missing=7), *lane.add(11, b"k")]
    assert [(piece.data, piece.lost) for piece in pieces] == [(b"abc", 0), (b"", 7), (b"k", 0)]


def test_a_connection_without_room_is_named_and_not_read() -> None:
    def identities(budget: Budget) -> tuple[set[tuple[str, str]], set[str]]:
        held, found = flows.Flows(budget=budget), Findings()
        data = b'POST /x HTTP/1.1\r\nContent-Length: 30\r\n\r\n"imsi-001010000000001"'
        held.segment(b"\1\1\1\1", b"\2\2\2\2", Segment(1, 2, data, 1), found)
        return set(found.identities), found.protocols

    assert identities(Budget(2 * LANE)) == ({("imsi", "001010000000001")}, {"http"})
    nothing = Budget(LANE - 1)
    assert identities(nothing) == (set(), {"http"})
    assert nothing.cut == {"TCP streams": 1}


def test_an_ended_connection_gives_its_memory_back() -> None:
    held = flows.Flows(budget=Budget(1 << 20))
    data = b"GET /x HTTP/1.1\r\n\r\n"
    held.segment(b"\1\1\1\1", b"\2\2\2\2", Segment(1, 2, data, 1), Findings())
    assert held.budget.spent >= LANE
    held.segment(b"\1\1\1\1", b"\2\2\2\2", Segment(1, 2, b"", 1 + len(data), FIN), Findings())
    assert held.budget.spent == 0


# HTTP/1.1

HEAD = b"POST /nudm-sdm/v2/imsi-001010000000001/x HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_heads_and_bodies_of_http1_are_read_wherever_they_are_cut(size: int) -> None:
    plain, hidden = b'{"a":"imsi-001010000000002"}', gzip.compress(b'{"b":"imsi-001010000000003"}', mtime=0)
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (hidden[:9], hidden[9:])) + b"0\r\n\r\n"
    stream = (
        HEAD + b"Content-Length: %d\r\n\r\n" % len(plain) + plain
        + HEAD + b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" + chunks
        + b"GET /nnrf-disc/v1/imsi-001010000000004 HTTP/1.1\r\n\r\n"
    )  # fmt: skip
    first = len(HEAD)
    profile = heard(*cut(stream, [first, *range(first, len(stream), size)]))
    assert values(profile, "imsi") == SUPI[:4]
    (smf,) = [host for host in profile.hosts if host.ip == SMF]
    assert set(smf.roles) >= {"UDM", "NRF"}


def test_the_answer_to_head_states_a_length_and_has_no_body() -> None:
    empty = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
    full = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nimsi-001010000000001"
    assert values(heard((1, empty), (1 + len(empty), full)), "imsi") == SUPI[:1]


def test_a_compressed_body_expands_no_further_than_bodies_do() -> None:
    bomb = gzip.compress(bytes(50 << 20) + b'"imsi-001010000000001"', mtime=0)
    head = b"POST /x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    profile = heard(*cut(head + bomb, range(0, len(bomb), 1400)))
    assert (values(profile, "imsi"), warned(profile)) == ([], {"body-not-read": 1})
    damaged = gzip.compress(b'"imsi-001010000000001"', mtime=0)[:12] + bytes(30)
    profile = heard((1, b"POST /x HTTP/1.1\r\nContent-Length: 42\r\n\r\n" + damaged))
    assert (values(profile, "imsi"), warned(profile)) == ([], {"body-not-read": 1})


def test_the_bodies_of_a_direction_expand_by_what_it_has_received() -> None:
    # 4,096 bytes are free and each received one grants 32: of bodies that expand three hundredfold few are read.
    bomb, honest = gzip.compress(bytes(30_000), mtime=0), gzip.compress(b'"imsi-001010000000001"', mtime=0)
    bodies = [*[bomb] * 20, honest]
    sent = [frame(DATA, body, stream=2 * at + 1, flags=END_STREAM) for at, body in enumerate(bodies)]
    profile = heard((1, OPENING + b"".join(sent)))
    assert len(bomb) * 32 + 4096 < 30_000
    assert (values(profile, "imsi"), warned(profile)) == (SUPI[:1], {"body-not-read": 20})


def test_a_connection_that_is_upgraded_to_http2_is_read_as_that() -> None:
    switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    path = frame(HEADERS, Encoder().block([(b"location", b"/nudm-sdm/v2/imsi-001010000000001/x")]), flags=END_HEADERS)
    profile = heard((1, switch + SETTINGS + path))
    assert (values(profile, "imsi"), set(profile.hosts[0].protocols)) == (SUPI[:1], {"tcp", "http", "http2"})


# OCPP

UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ocpp1.6\r\n\r\n"
MASK = b"\x37\xfa\x21\x3d"


def message(text: bytes, *, first: int = 0x81, mask: bytes = b"") -> bytes:
    size = bytes([len(text)]) if len(text) < 126 else b"\x7e" + struct.pack(">H", len(text))
    head = bytes([first, size[0] | (0x80 if mask else 0)]) + size[1:]
    return head + mask + bytes(byte ^ mask[at % 4] if mask else byte for at, byte in enumerate(text))


@pytest.mark.parametrize("size", [1, 3, 10, 200])
@pytest.mark.parametrize("mask", [b"", MASK])
def test_a_call_in_several_frames_and_segments_is_one(size: int, mask: bytes) -> None:
    call = b'[2,"19223201","BootNotification",{"chargePointVendor":"' + b"v" * 300 + b'"}]'
    ping = message(b"alive", first=0x89, mask=mask)
    sent = message(call[:20], first=0x01, mask=mask) + ping + message(call[20:], first=0x80, mask=mask)
    reader, found = WebSocket(known=True), Findings()
    for at in range(0, len(sent), size):
        reader.take(sent[at : at + size], found, begins=True)
    assert (found.protocols, found.sender) == ({"websocket", "ocpp"}, {Sign.OCPP_STATION})


def test_frames_of_a_websocket_follow_the_head_that_opens_it() -> None:
    stream = UPGRADED + message(b'[2,"1","RemoteStartTransaction",{"idTag":"x"}]') + message(b'[3,"2",{}]')
    profile = heard(*cut(stream, [len(UPGRADED) - 4, len(UPGRADED) + 5]))
    assert profile.hosts[0].protocol_packets == {"http": 2, "ocpp": 2, "tcp": 3, "websocket": 2}


@pytest.mark.parametrize("mask", [b"", MASK])
def test_a_call_met_in_the_middle_of_a_connection_opens_its_stream_though_it_is_cut(mask: bytes) -> None:
    call = message(b'[2,"1","BootNotification",{"chargePointVendor":"' + b"v" * 300 + b'"}]', mask=mask)
    profile = heard(*cut(call + message(b'[3,"2",{}]', mask=mask), [200, len(call) + 3]))
    assert profile.hosts[0].protocol_packets == {"ocpp": 2, "tcp": 3, "websocket": 3}
    assert [host.role for host in profile.hosts] == ["charging station", "CSMS"]


def test_compressed_and_damaged_frames_are_no_calls() -> None:
    for sent in (message(b'[2,"1","Heartbeat",{}]', first=0xC1), message(b'[2,"1","Heartbeat",{}]', first=0xB1)):
        reader, found = WebSocket(known=True), Findings()
        reader.take(sent, found, begins=True)
        assert found.protocols == set()


def test_after_a_gap_a_websocket_is_read_from_the_next_frame_on() -> None:
    reader, found = WebSocket(known=True), Findings()
    call = message(b'[2,"1","Heartbeat",{}]')
    reader.take(call[:10], found, begins=True)
    reader.skip(100, found)
    reader.take(call, found, begins=True)
    assert found.sender == {Sign.OCPP_STATION}


# Hostile


def literal(name: bytes, value: bytes) -> bytes:
    """A field that enters the table, of a length that takes three bytes behind its prefix of seven bits."""
    size = len(value) - 127
    return (
        b"\x40" + bytes([len(name)]) + name + bytes([0x7F, size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + value
    )


def repeated(text: bytes, size: int) -> bytes:
    return (text * (size // len(text) + 1))[:size]


WIDE, NAMES, QUARTER = b"\x3f\xe1\xff\x03", b"!nai-imsi-", 1 << 18
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
EXPENSIVE = {
    "two bytes that name a long entry": OPENING + frame(HEADERS, WIDE + literal(b"x", repeated(NAMES, 32_000)), flags=4)
    + frame(HEADERS, b"\xbe\xbe", flags=END_HEADERS) * (QUARTER // 11),
    "blocks that name an entry five hundred times": OPENING
    + frame(HEADERS, WIDE + literal(b":path", repeated(NAMES, 128)), flags=4)
    + frame(HEADERS, b"\xbe" * 500, flags=END_HEADERS) * (QUARTER // 509),
    "chunks of one byte": CHUNKED + b"1\r\na\r\n" * (QUARTER // 6),
    "chunks of one byte behind what may be names": CHUNKED
    + (b"ff\r\n" + repeated(NAMES, 255) + b"\r\n" + b"1\r\na\r\n" * 200) * (QUARTER // 1500),
    "data of one byte behind what may be names": OPENING
    + (frame(DATA, repeated(NAMES, 255)) + frame(DATA, b"a") * 200) * (QUARTER // 2270),
    "what may be a long concealed identifier": CHUNKED
    + (b"b00\r\n" + repeated(b" suci-0-001-01-0-1-1-" + b"a" * 2900, 0xB00) + b"\r\n" + b"1\r\na\r\n" * 300)
    * (QUARTER // 4600),
    "bodies that expand": OPENING
    + frame(DATA, gzip.compress(repeated(NAMES, 60_000), mtime=0), flags=END_STREAM) * 1500,
    "what may be names in a body": HEAD + b"Content-Length: 999999\r\n\r\n" + repeated(NAMES, QUARTER),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPENSIVE)
def test_no_quarter_of_a_megabyte_asks_for_half_a_second(name: str) -> None:
    stream = EXPENSIVE[name]
    file = captured(cut(stream, range(0, len(stream), 60_000)))
    begun = cpu()
    assert values(profiled(file), "suci") == []
    assert cpu() - begun < 1  # twice that, for slow machines


def test_an_index_says_what_its_entry_says_each_time_and_nothing_once_the_entry_has_left() -> None:
    path = frame(HEADERS, literal(b":path", b"/nudm-sdm/v2/imsi-001010000000001/" + bytes(100)), flags=END_HEADERS)
    again, other = frame(HEADERS, b"\xbe", flags=END_HEADERS), frame(HEADERS, b"\x20\x40\x01a\x01b", flags=END_HEADERS)
    sent = [OPENING + path, again, again, other, again]
    starts = [1 + sum(map(len, sent[:at])) for at in range(len(sent))]
    profile = heard(*zip(starts, sent, strict=True))
    (sighting,) = profile.identifiers.imsi
    assert (sighting.packets, warned(profile)) == (3, {"hpack-state-unknown": 1})


def pieces() -> st.SearchStrategy[list[tuple[str, bytes, int]]]:
    """What a stream may be told: bytes that are sound, damaged or anything, and gaps."""
    texts = [
        OPENING, HEAD, b"Content-Length: 9\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\n", b"\r\n", UPGRADED,
        b"--b\r\n\r\n", gzip.compress(bytes(1000), mtime=0), frame(HEADERS, b"\x40\x01a\x01b\xbe", flags=END_HEADERS),
        frame(DATA, b"\x01ab", flags=8), frame(9, b"\xbe", flags=4), frame(5, b"\0\0\0\2\xbe", flags=4),
        frame(HEADERS, b"", flags=0x28), frame(DATA, b"", flags=9), message(b"x" * 200, mask=MASK),
        message(b"", first=1),
    ]  # fmt: skip
    data = st.one_of(st.sampled_from(texts), st.binary(max_size=40))
    return st.lists(st.tuples(st.sampled_from(["take", "take", "take", "skip", "lose"]), data, st.integers(1, 40)))


@given(pieces())
@settings(deadline=None, max_examples=50)
def test_no_stream_breaks_a_reader_and_none_keeps_more_than_its_bound(told: list[tuple[str, bytes, int]]) -> None:
    for reader in (Http1(), Http2(known=True), WebSocket(known=True)):
        found = Findings()
        for step, data, count in told:
            if step == "take" and reader.turned is None:
                reader.take(data, found, begins=count % 2 == 0)
            elif step == "skip":
                reader.skip(count, found)
            elif step == "lose":
                reader.lose(found)
            assert reader.size <= 200_000
        reader.close(found)


def test_what_a_connection_keeps_stays_within_its_bounds() -> None:
    endless = {
        "a head": b"GET /x HTTP/1.1\r\n" + b"a: b\r\n" * 20_000,
        "a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 100_000,
        "parts": HEAD + b"Content-Length: 9999999\r\n\r\n--b\r\n" + b"x" * 200_000,
        "a header block": OPENING + b"".join(frame(HEADERS if not at else 9, bytes(9000)) for at in range(30)),
        "streams": OPENING + b"".join(frame(DATA, b"--" + b"x" * 400, stream=2 * at + 1) for at in range(3000)),
        "a table": OPENING + frame(HEADERS, b"\x3f\xff\xff\x7f" + b"\x40\x00\x00" * 5000, flags=END_HEADERS),
    }  # fmt: skip
    for name, stream in endless.items():
        held = flows.Flows(budget=Budget(1 << 30))
        for at in range(0, len(stream), 1400):
            segment = Segment(1, 2, stream[at : at + 1400], at)
            held.segment(b"\1\1\1\1", b"\2\2\2\2", segment, Findings())
        assert held.budget.spent <= 400_000, name
