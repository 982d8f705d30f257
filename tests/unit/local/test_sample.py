"""The generated sample capture: what it holds, that it is sound, and that ingest reads out of it what went in."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from pratique_ingest.profile import Profile, profile_capture
from pratique_ingest.records import instant
from pratique_local.sample import Kind, SampleTruth, ngap, pfcp, write_sample
from pratique_local.sample.__main__ import main
from pratique_local.sample.aper import Bits
from pratique_local.sample.http2 import header_block
from pratique_local.sample.nas import bcd, guti_identity, imeisv_identity
from pratique_local.sample.sctp import crc32c
from tests.support.beside import golden
from tests.unit.local.capture_reader import Packet, chunks, covered, folded, frames, hosts, packets

NTP_EPOCH = 2_208_988_800
CELL_16, CELL_1 = bytes.fromhex("00f110 0000000100 00f110"), bytes.fromhex("00f110 0000000010 00f110")
NETWORKS = [
    ip_network(network)
    for network in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "2001:db8::/32",
        "ff00::/8",
    )
]


class Sample(NamedTuple):
    """A written sample: its bytes and its truth."""

    data: bytes
    truth: SampleTruth
    profile: Profile


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    path = tmp_path_factory.mktemp("sample") / "lab.pcapng"
    truth = write_sample(path)
    with path.open("rb") as source:
        profile = profile_capture(source, pilot="lab")
    return Sample(path.read_bytes(), truth, profile)


def of_protocol(sample: Sample, protocol: int) -> list[Packet]:
    return [packet for packet in packets(sample.data) if packet.protocol == protocol and not packet.fragment]


def test_the_same_seed_gives_the_same_file_and_another_seed_another(tmp_path: Path, sample: Sample) -> None:
    again = write_sample(tmp_path / "again.pcapng", seed=1)
    other = write_sample(tmp_path / "other.pcapng", seed=2)
    assert (tmp_path / "again.pcapng").read_bytes() == sample.data
    assert again == sample.truth
    assert (tmp_path / "other.pcapng").read_bytes() != sample.data
    assert other.identifiers["guti"].isdisjoint(sample.truth.identifiers["guti"])


def test_the_sample_is_small_but_not_tiny(sample: Sample) -> None:
    assert 3_000 <= sample.truth.packets <= 6_000
    assert len(sample.data) < 2_000_000


def test_a_name_in_pcap_gets_the_same_frames_in_the_classic_format(tmp_path: Path, sample: Sample) -> None:
    write_sample(tmp_path / "lab.pcap")
    assert list(frames((tmp_path / "lab.pcap").read_bytes())) == list(frames(sample.data))


def test_the_truth_counts_what_a_second_reader_counts(sample: Sample) -> None:
    assert sample.truth.packets == sum(1 for _ in frames(sample.data))
    assert sample.truth.hosts == hosts(sample.data)


def test_time_only_moves_forwards(sample: Sample) -> None:
    moments = [moment for moment, _ in frames(sample.data)]
    assert all(before < after for before, after in pairwise(moments))
    assert 600 < (moments[-1] - moments[0]) / 1e6 < 1200


def test_ingest_counts_the_packets_and_hosts_that_went_in(sample: Sample) -> None:
    assert sample.profile.packets == sample.truth.packets
    assert {host.ip: (host.packets, host.peer_count) for host in sample.profile.hosts} == sample.truth.hosts
    assert sample.profile.complete
    # Four subscribers are ciphered; the tunnels of the 4G corner belong to no 5G session.
    # All use the null scheme.
    codes = {"nas-ciphered", "gtpu-unknown-session", "suci-null-scheme"}
    assert {warning.code for warning in sample.profile.warnings} == codes


def test_ingest_finds_the_sessions_that_went_in(sample: Sample) -> None:
    found = {
        (one.subscriber, one.gnb, one.window): (one.sst, one.sd, one.role, one.packets, one.bytes)
        for one in sample.profile.sessions
    }
    truth = {
        (stay.subscriber, stay.gnb, instant(stay.window * 1000) or ""): tuple(traffic)
        for stay, traffic in sample.truth.sessions.items()
    }
    # Counts only: a failing test must not print identifiers.
    assert len(found.keys() ^ truth.keys()) == 0
    assert sum(found[stay] != truth[stay] for stay in truth) == 0
    moved = Counter(stay.subscriber for stay in sample.truth.sessions)
    assert sum(count > 1 for count in moved.values()) >= 3  # handed over, at two gNBs


def test_the_truth_stands_beside_the_capture_in_json(tmp_path: Path, sample: Sample) -> None:
    main([str(tmp_path / "lab.pcapng")])
    told = json.loads((tmp_path / "lab.pcapng.truth.json").read_text())
    assert told == json.loads(json.dumps(sample.truth.document()))
    assert told["regions"]["10.20.9.5"] == "coast"


@pytest.mark.parametrize("kind", ["imsi", "suci", "guti", "msisdn", "imei"])
def test_ingest_finds_exactly_the_identifiers_that_went_in(sample: Sample, kind: Kind) -> None:
    found = {sighting.value for sighting in getattr(sample.profile.identifiers, kind)}
    expected = set(sample.truth.identifiers[kind])
    # Counts only: a failing test must not print identifiers.
    assert (len(found - expected), len(expected - found), len(found)) == (0, 0, len(expected))


def test_every_kind_of_machine_in_the_lab_is_recognised_by_ingest(sample: Sample) -> None:
    roles = {host.ip: host.role for host in sample.profile.hosts}
    assert roles["10.10.1.10"] == "AMF"
    assert roles["10.10.2.30"] == "UPF"
    assert roles["10.20.0.11"] == "gNB"
    assert roles["10.20.1.13"] == "DU"
    assert roles["10.30.0.5"] == "Near-RT RIC"
    assert roles["10.40.0.101"] == "charging station"
    assert roles["172.16.5.10"] == "PGW"


def test_some_prefixes_are_crowded_and_some_too_rare_for_a_threshold_of_three(sample: Sample) -> None:
    sizes = Counter(ip.rpartition(".")[0] for ip in sample.truth.hosts if ":" not in ip)
    assert sum(size >= 3 for size in sizes.values()) >= 8
    assert sum(size < 3 for size in sizes.values()) >= 8


def test_every_address_is_private_documentation_or_multicast(sample: Sample) -> None:
    for ip in sample.truth.hosts:
        assert any(ip_address(ip) in network for network in NETWORKS), ip


def test_every_ipv4_header_has_a_correct_checksum(sample: Sample) -> None:
    headers = [packet.header for packet in packets(sample.data) if len(packet.header) == 20]
    assert len(headers) > 3_000
    assert {folded(header) for header in headers} == {0xFFFF}


@pytest.mark.parametrize(("protocol", "least"), [(6, 1_500), (17, 900), (58, 10)])
def test_every_tcp_udp_and_icmpv6_checksum_is_correct(sample: Sample, protocol: int, least: int) -> None:
    found = of_protocol(sample, protocol)
    assert len(found) >= least
    assert {folded(covered(packet)) for packet in found} == {0xFFFF}


def test_every_icmp_checksum_is_correct(sample: Sample) -> None:
    assert {folded(packet.payload) for packet in of_protocol(sample, 1)} == {0xFFFF}


def test_a_report_that_is_too_long_for_one_packet_goes_out_in_fragments(sample: Sample) -> None:
    pieces = [packet for packet in packets(sample.data) if packet.fragment]
    assert len(pieces) == 2
    whole = Packet(
        pieces[0].source, pieces[0].destination, 17, b"", b"".join(p.payload for p in pieces), fragment=False
    )
    assert folded(covered(whole)) == 0xFFFF


def test_the_sctp_checksum_is_the_castagnoli_one() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # check value of CRC-32C
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720 §B.4


def test_every_sctp_packet_has_its_checksum_and_whole_chunks(sample: Sample) -> None:
    found = of_protocol(sample, 132)
    assert len(found) > 500
    for packet in found:
        stated = int.from_bytes(packet.payload[8:12], "little")
        assert crc32c(packet.payload[:8] + bytes(4) + packet.payload[12:]) == stated
        assert chunks(packet)


def test_sctp_data_is_numbered_without_gaps_and_partly_bundled(sample: Sample) -> None:
    following: dict[tuple[str, str, bytes], int] = {}
    bundles = 0
    for packet in of_protocol(sample, 132):
        data = [value for kind, value in chunks(packet) if kind == 0]
        bundles += len(data) > 1
        way = (packet.source, packet.destination, packet.payload[:4])
        for value in data:
            number = int.from_bytes(value[:4])
            assert following.get(way, number) == number
            following[way] = (number + 1) & 0xFFFFFFFF
    assert bundles >= 20


def test_the_control_plane_speaks_ngap_f1ap_and_e2ap(sample: Sample) -> None:
    payloads = Counter(
        int.from_bytes(value[8:12])
        for packet in of_protocol(sample, 132)
        for kind, value in chunks(packet)
        if kind == 0
    )
    assert set(payloads) == {60, 62, 70}
    assert min(payloads.values()) > 40


@pytest.mark.parametrize(
    # PDU choice and procedure: extensible choice of three in NGAP and E2AP, closed one of four in F1AP.
    ("protocol", "request_head", "response_head", "times"),
    [(60, "0015", "2015", 6), (62, "0001", "4001", 5), (70, "0001", "2001", 7)],
)
def test_every_setup_is_answered(
    sample: Sample, protocol: int, request_head: str, response_head: str, times: int
) -> None:
    heads = Counter(
        value[12:14].hex()
        for packet in of_protocol(sample, 132)
        for kind, value in chunks(packet)
        if kind == 0 and int.from_bytes(value[8:12]) == protocol
    )
    assert (heads[request_head], heads[response_head]) == (times, times)


def test_tcp_sequence_numbers_have_no_gaps_and_acknowledge_what_was_sent(sample: Sample) -> None:
    following: defaultdict[tuple[str, str, bytes], int] = defaultdict(lambda: -1)
    for packet in of_protocol(sample, 6):
        segment = packet.payload
        number, acknowledged = int.from_bytes(segment[4:8]), int.from_bytes(segment[8:12])
        size, flags = len(segment) - (segment[12] >> 4) * 4, segment[13]
        way = (packet.source, packet.destination, segment[:4])
        back = (packet.destination, packet.source, segment[2:4] + segment[:2])
        assert following[way] in {-1, number}
        if flags & 16 and following[back] != -1:
            assert acknowledged == following[back]
        following[way] = (number + size + bool(flags & 3)) & 0xFFFFFFFF


def test_charging_stations_upgrade_to_ocpp_and_mask_what_they_send(sample: Sample) -> None:
    segments = [(packet.source, packet.payload[(packet.payload[12] >> 4) * 4 :]) for packet in of_protocol(sample, 6)]
    asked = [data for _, data in segments if data.startswith(b"GET") and b"Upgrade: websocket" in data]
    versions = Counter(version for data in asked for version in re.findall(rb"Sec-WebSocket-Protocol: (\S+)", data))
    assert versions == {b"ocpp1.6": 11, b"ocpp2.0.1": 3}
    actions = Counter(json.loads(text)[2] for text in unmasked(data for _, data in segments))
    assert actions["BootNotification"] == 14
    assert actions["StatusNotification"] >= 28
    assert actions["StartTransaction"] > 0
    assert actions["TransactionEvent"] == 5  # one car at one station of the newer version
    assert b"BootNotification" not in sample.data


def unmasked(segments: Iterator[bytes]) -> Iterator[str]:
    for data in segments:
        if data[:1] == b"\x81" and len(data) > 6 and data[1] & 0x80:
            start = 8 if data[1] & 0x7F == 126 else 6
            mask, body = data[start - 4 : start], data[start:]
            yield bytes(octet ^ mask[i % 4] for i, octet in enumerate(body)).decode()


def test_every_imsi_of_the_truth_stands_in_the_capture_as_text_or_digits(sample: Sample) -> None:
    for imsi in sample.truth.identifiers["imsi"]:
        assert f"imsi-{imsi}".encode() in sample.data or bcd(imsi) in sample.data


def test_no_imsi_stands_in_text_that_the_truth_does_not_know(sample: Sample) -> None:
    written = {match.decode() for match in re.findall(rb"imsi-(\d{15})", sample.data)}
    assert len(written) == 24
    assert written <= sample.truth.identifiers["imsi"]


def test_subscribers_arrive_with_null_scheme_suci_profile_a_and_guti(sample: Sample) -> None:
    sucis = sample.truth.identifiers["suci"]
    assert sum(bool(re.fullmatch(r"suci-0-001-01-0000-0-0-\d{10}", suci)) for suci in sucis) == 12
    # Profile A: 32 octets of key, 5 of ciphertext, 8 of tag.
    assert sum(bool(re.fullmatch(r"suci-0-001-01-0000-1-1-[0-9a-f]{90}", suci)) for suci in sucis) == 8
    # Each of the 24 gets a GUTI; 8 of them brought an old one along.
    gutis = sample.truth.identifiers["guti"]
    assert sum(bool(re.fullmatch(r"001-01-02-001-00-[0-9a-f]{8}", guti)) for guti in gutis) == 32


def test_the_truth_shows_no_identifier_when_printed(sample: Sample) -> None:
    assert "imsi" not in repr(sample.truth)
    assert "00101" not in repr(sample.truth)


@pytest.mark.parametrize("count", [0, 241])
def test_a_sample_without_or_with_too_many_subscribers_is_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(ValueError, match="1 to 240"):
        write_sample(tmp_path / "none.pcapng", subscribers=count)


def test_a_single_subscriber_is_enough(tmp_path: Path) -> None:
    truth = write_sample(tmp_path / "one.pcapng", subscribers=1)
    data = (tmp_path / "one.pcapng").read_bytes()
    assert truth.hosts == hosts(data)
    assert len(truth.identifiers["guti"]) == 1
    assert len(truth.identifiers["imsi"]) == 7  # and the six of the 4G corner


def test_the_command_writes_the_file_and_says_what_is_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sample: Sample
) -> None:
    main([str(tmp_path / "lab.pcapng"), "--seed", "1"])
    assert (tmp_path / "lab.pcapng").read_bytes() == sample.data
    assert f"{sample.truth.packets} packets, {len(sample.truth.hosts)} hosts" in capsys.readouterr().out


def test_header_blocks_are_literals_without_indexing() -> None:
    # 00: literal, new name; lengths 7 and 3, no Huffman (RFC 7541 §6.2.2).
    assert header_block([(":method", "PUT")]).hex() == "00" + "07" + b":method".hex() + "03" + b"PUT".hex()
    # 300 = 127 + 173; 173 = 0b1_0101101: 0xad, then 0x01 (RFC 7541 §5.1).
    assert header_block([("x", "v" * 300)])[:6] == bytes([0, 1]) + b"x" + bytes([127, 0xAD, 0x01])


def test_digits_are_packed_two_to_an_octet_with_a_filler_at_the_end() -> None:
    assert bcd("00101").hex() == "0001f1"
    # First digit beside the type 5, then 52 49 31 14 54 80 81 swapped, then the 9 beside the filler.
    assert imeisv_identity("3524931145480819").hex() == "35" + "25941341450818" + "f9"


def test_packed_integers_say_their_length_first() -> None:
    # RAN-UE-NGAP-ID, 1..4 octets in two bits: 0x0100 takes two, so 01, then aligned.
    assert Bits().integer(0x0100, 4).done().hex() == "400100"
    # AMF-UE-NGAP-ID, 1..5 octets in three bits.
    assert Bits().integer(0x010000, 5).done().hex() == "40010000"


def test_messages_agree_with_those_of_an_independent_encoder() -> None:
    expected = {
        name: bytes.fromhex(each["hex"]) for name, each in json.loads(golden("messages.json").read_text()).items()
    }
    started = (0xE5A1B2C3 - NTP_EPOCH) * 1_000_000
    assert pfcp.heartbeat(1, started, answer=False) == expected["pfcp_hb"]
    assert guti_identity(0xDEADBEEF) in expected["nas_reg_guti"]
    initial = ngap.initial_ue_message(2, ngap.Cell(0, 1), expected["nas_reg_guti"], 0xDEADBEEF)
    # Ours is another cell, 1 in place of 16, and holds one element more, the context request, at its end.
    assert initial[7:-5] == expected["ngap_initue_guti"][7:].replace(CELL_16, CELL_1)
    setup = ngap.setup_request(ngap.Cell(1, 1), "gnb-0001")
    assert expected["ngap_ngsetup"][7:33] in setup
