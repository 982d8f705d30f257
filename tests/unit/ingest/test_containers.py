"""Capture containers: every byte order, precision and wrapping gives the same frames; damage keeps what came before."""

import gzip
import io
import struct
import tracemalloc
from collections.abc import Callable
from random import Random

import pytest
import zstandard

from pratique_ingest.profile import NotACapture, Profile, Progress, profile_capture
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, START, enhanced, ethernet, interface, ipv4, pcap, profiled, section, udp

FRAME = ethernet(ipv4(GNB, AMF, 17, udp(1000, 2000, b"x")))
PLAIN = pcap([FRAME, FRAME])


def holds_two(profile: Profile) -> bool:
    return crafted.counts(profile) == {GNB: (2, 1), AMF: (2, 1)}


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34])
def test_every_byte_order_and_precision_of_pcap_is_read(order: str, magic: int) -> None:
    profile = profiled(pcap([FRAME, FRAME], order=order, magic=magic))
    assert holds_two(profile)
    assert (profile.started, profile.ended) == (START, START + 1)
    assert profile.hosts[0].first_seen == "2026-01-01T00:00:00.000000Z"
    assert profile.link_types == ("EN10MB",)


@pytest.mark.parametrize(
    "file",
    [
        gzip.compress(PLAIN),
        zstandard.compress(PLAIN),
        gzip.compress(PLAIN[:60]) + gzip.compress(PLAIN[60:]),
        zstandard.compress(PLAIN[:60]) + zstandard.compress(PLAIN[60:]),
        gzip.compress(PLAIN) + bytes(512),
    ],
    ids=["gzip", "zstd", "gzip in two members", "zstd in two frames", "gzip with padding"],
)
def test_compression_is_told_by_its_magic(file: bytes) -> None:
    profile = profiled(file)
    assert holds_two(profile)
    assert profile.complete
    assert profile.bytes == len(PLAIN)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_is_read_in_both_byte_orders(order: str) -> None:
    file = section(order) + interface(order=order) + enhanced(FRAME, START * 10**6, order=order)
    profile = profiled(file + enhanced(FRAME, (START + 1) * 10**6, order=order))
    assert holds_two(profile)
    assert (profile.started, profile.ended) == (START, START + 1)


def test_each_interface_has_its_own_link_type_and_clock() -> None:
    nanoseconds = struct.pack("<HHB3x", 9, 1, 9)
    halves = struct.pack("<HHB3x", 9, 1, 0x81)  # two ticks a second
    file = section() + interface(1, options=nanoseconds) + interface(101, options=halves)
    file += enhanced(FRAME, START * 10**9, 0) + enhanced(FRAME[14:], START * 2 + 3, 1)
    profile = profiled(file)
    assert holds_two(profile)
    assert profile.link_types == ("EN10MB", "RAW")
    assert (profile.started, profile.ended) == (START, START + 1.5)


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_clocks_offset_in_seconds_is_added(order: str) -> None:
    offset = struct.pack(order + "HHq", 14, 8, START)
    file = section(order) + interface(order=order, options=offset) + enhanced(FRAME, 2_500_000, order=order)
    profile = profiled(file)
    assert (profile.started, profile.hosts[0].first_seen) == (START + 2.5, "2026-01-01T00:00:02.500000Z")


def test_an_obsolete_packet_block_is_read() -> None:
    old = crafted.block(2, struct.pack("<HHIIII", 0, 0, 0, 5_000_000, len(FRAME), len(FRAME)) + FRAME)
    profile = profiled(section() + interface() + old)
    assert (crafted.counts(profile), profile.started) == ({GNB: (1, 1), AMF: (1, 1)}, 5.0)


def test_a_new_section_forgets_the_interfaces_of_the_one_before() -> None:
    first = section("<") + interface(101) + enhanced(FRAME[14:], 0)
    second = section(">") + interface(1, order=">") + enhanced(FRAME, 0, order=">")
    assert holds_two(profiled(first + second))


def test_simple_packets_have_no_time_and_are_cut_at_the_snaplen() -> None:
    simple = crafted.block(3, struct.pack("<I", 1500) + FRAME[:40])
    profile = profiled(section() + interface(snaplen=40) + simple)
    assert crafted.counts(profile) == {GNB: (1, 1), AMF: (1, 1)}
    assert profile.hosts[0].bytes == 1500
    assert profile.started is None
    assert profile.hosts[0].first_seen is None


def test_blocks_that_carry_no_frame_are_passed_over() -> None:
    others = b"".join(crafted.block(kind, b"\xff" * 64) for kind in (4, 5, 0xBAD, 0x40000BAD, 10))
    assert holds_two(profiled(section() + interface() + enhanced(FRAME, 0) + others + enhanced(FRAME, 1)))


@pytest.mark.parametrize("file", [b"", b"\n", b"%PDF-1.7", PLAIN[:20], gzip.compress(b"text", mtime=0), section()[:20]])
def test_what_has_no_file_header_is_not_a_capture(file: bytes) -> None:
    with pytest.raises(NotACapture) as refused:
        profiled(file)
    assert refused.value.code == "not-a-capture"


def test_a_header_without_frames_is_a_capture_without_hosts() -> None:
    for file in (pcap([]), section(), section() + interface()):
        profile = profiled(file)
        assert (profile.packets, profile.complete, profile.hosts) == (0, True, ())


@pytest.mark.parametrize("cut", [1, len(FRAME), len(FRAME) + 1, len(FRAME) + 15])
def test_a_cut_file_keeps_the_frames_before_the_cut(cut: int) -> None:
    profile = profiled(PLAIN[:-cut])
    assert profile.packets == 1
    assert not profile.complete
    assert [(warning.code, warning.count) for warning in profile.warnings] == [("cut-file", 1)]


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_cut_compressed_file_keeps_the_frames_before_the_cut(compress: Callable[[bytes], bytes]) -> None:
    frames = [ethernet(ipv4(GNB, AMF, 17, udp(1, 2, Random(n).randbytes(50)))) for n in range(9000)]
    whole = compress(pcap(frames))
    profile = profiled(whole[: len(whole) // 2])
    assert 0 < profile.packets < 9000
    assert not profile.complete


def test_damaged_compression_is_a_warning() -> None:
    whole = bytearray(gzip.compress(pcap([bytes([n % 256, n // 256]) * 100 for n in range(3000)])))
    whole[len(whole) // 2 : len(whole) // 2 + 40] = b"\xff" * 40
    profile = profiled(bytes(whole))
    assert not profile.complete
    assert {"damaged-compression", "damaged-length"} & {warning.code for warning in profile.warnings}


def test_a_lying_length_reserves_nothing() -> None:
    file = bytearray(PLAIN)
    struct.pack_into("<I", file, 24 + 8, 0xFFFFFFF0)
    tracemalloc.start()
    profile = profiled(bytes(file))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (profile.packets, profile.complete) == (0, False)
    assert peak < 4 << 20


def test_progress_ends_with_all_frames_and_all_bytes_of_the_file() -> None:
    told: list[Progress] = []
    file = pcap([FRAME] * 10_000)
    profile_capture(io.BytesIO(file), pilot=None, report=told.append)
    assert told[-1] == Progress(10_000, len(file))
    assert len(told) > 2
    assert told == sorted(told)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_progress_in_a_compressed_file_is_of_its_own_bytes(pack: Callable[[bytes], bytes]) -> None:
    told: list[Progress] = []
    chance = Random(1)
    file = pack(pcap([FRAME + chance.randbytes(40) for _ in range(30_000)]))
    profile_capture(io.BytesIO(file), pilot=None, report=told.append)
    assert told[-1] == Progress(30_000, len(file))
    assert told == sorted(told)
    assert any(0 < one.bytes < len(file) for one in told)


def test_a_source_that_gives_one_byte_at_a_time_is_read() -> None:
    class Trickle(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(1, size or 1))

    assert holds_two(profile_capture(Trickle(PLAIN), pilot=None))
