"""Compressed captures: what came out before a damage is kept, and none may ask for more work than real ones do."""

import gzip
import io
import struct
import time
import zlib
from collections.abc import Callable
from random import Random

import pytest
import zstandard

from pratique_ingest.capture.containers import open_capture
from pratique_ingest.effort import FRAME, FREE, GRANTED_FOR
from pratique_ingest.profile import COMPRESSED_WINDOW, NotACapture, Profile, profile_capture
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, ethernet, ipv4, pcap, profiled, udp

FRAMES = [ethernet(ipv4(GNB, AMF, 17, udp(1, 2, bytes([n])))) for n in range(20)]
PLAIN = pcap(FRAMES)
SKIPPED = struct.pack("<II", 0x184D2A50, 10) + b"0123456789"


def codes(profile: Profile) -> list[str]:
    return [warning.code for warning in profile.warnings]


def rle_frame(head: bytes, total: int) -> bytes:
    """A zstd frame of one raw block and blocks of 128 KiB of zeros that cost four bytes each (RFC 8878, 3.1.1.2)."""
    blocks = struct.pack("<I", 131_072 << 3 | 1 << 1)[:3] + b"\0"
    raw = struct.pack("<I", len(head) << 3)[:3] + head
    return b"\x28\xb5\x2f\xfd\x00\x58" + raw + blocks * (total // 131_072) + b"\x01\x00\x00"


def test_a_kilobyte_that_expands_to_millions_of_empty_records_is_damage_after_ten_thousand() -> None:
    begun = time.process_time()
    profile = profiled(rle_frame(pcap([]), 64 << 20))
    assert (profile.packets, profile.complete) == (10_000, False)
    assert "damaged-length" in codes(profile)
    assert time.process_time() - begun < 2


def test_ten_thousand_empty_records_are_read_and_one_more_is_damage() -> None:
    empty = bytes(16)
    record = struct.pack("<IIII", 1, 0, len(FRAMES[0]), len(FRAMES[0])) + FRAMES[0]
    assert profiled(pcap([]) + empty * 10_000 + record + empty * 10_000).complete
    assert codes(profiled(pcap([]) + empty * 10_001)) == ["cut-header", "damaged-length"]
    blocks = crafted.section() + crafted.interface() + crafted.enhanced(b"", 1) * 10_001
    assert codes(profiled(blocks)) == ["cut-header", "damaged-length"]


def test_a_file_of_many_frames_in_few_bytes_is_cut_where_no_real_one_goes() -> None:
    fragment = bytearray(ipv4(GNB, AMF, 17, udp(1, 2, b"x")))
    fragment[6] = 0x20  # more fragments follow: the exact path's
    record = pcap([ethernet(bytes(fragment))])[24:]  # one frame, with one time
    packed = zstandard.compress(pcap([]) + record * 50_000)
    assert len(packed) < 1000
    # Two units a frame: the free thirty thousand, and one for two bytes of the file. They are weighed after a window.
    allowed = (FREE + len(packed) // GRANTED_FOR) // FRAME + 1
    assert profile_capture(io.BytesIO(packed), pilot=None, pace=None).packets == allowed
    profile = profiled(packed)
    assert allowed <= profile.packets < allowed + COMPRESSED_WINDOW // len(record)
    assert "expanded-limit" in codes(profile)
    assert "expanded-limit" not in codes(profiled(pcap([]) + record * 50_000))  # uncompressed, their bytes are there


def test_frames_that_are_counted_in_columns_ask_for_little() -> None:
    record = pcap([FRAMES[0]])[24:]
    assert profiled(zstandard.compress(pcap([]) + record * 50_000)).complete


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_ordinary_frames_and_long_padding_pass(packed: Callable[[bytes], bytes]) -> None:
    stream = Random(3)
    noisy = [ethernet(ipv4(GNB, AMF, 17, udp(1, 2, stream.randbytes(6) + bytes(120)))) for _ in range(40_000)]
    padding = [ethernet(ipv4(GNB, AMF, 17, udp(1, 2, bytes(8000)))) for _ in range(3000)]
    for frames in (noisy, padding):
        profile = profiled(packed(pcap(frames)))
        assert (profile.packets, profile.complete) == (len(frames), True)


def test_four_gigabytes_in_a_block_that_is_passed_over_are_not_read() -> None:
    head = crafted.section() + crafted.interface() + struct.pack("<II", 0xBAD, 0xFFFFFFFC)
    profile = profiled(rle_frame(head, (4 << 30) - (1 << 20)))
    assert codes(profile) == ["expanded-limit"]


def test_the_limit_that_the_caller_sets_holds_too() -> None:
    packed = gzip.compress(pcap([FRAMES[0] + Random(n).randbytes(500) for n in range(4000)]))
    profile = profile_capture(io.BytesIO(packed), pilot=None, expanded_limit=1 << 20)
    assert codes(profile) == ["expanded-limit"]
    assert 0 < profile.packets < 4000


def zstd_of_two_frames(plain: bytes) -> bytes:
    return zstandard.compress(plain[:600]) + zstandard.compress(plain[600:])


@pytest.mark.parametrize(
    ("file", "packets"),
    [
        (gzip.compress(PLAIN)[:-8] + bytes(8), 20),
        (gzip.compress(PLAIN)[:-1], 20),
        (gzip.compress(PLAIN) + b"JUNKJUNK", 20),
        (zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN)[:-4] + b"JUNK", 20),
        (zstandard.ZstdCompressor(write_checksum=True).compress(PLAIN)[:-1], 20),
        (zstandard.compress(PLAIN) + b"JUNKJUNK", 20),
        # 24 bytes of header and 59 a frame: 9 of them end within the first 600 bytes.
        (zstd_of_two_frames(PLAIN)[:-3], 9),
    ],
    ids=["gzip checksum", "gzip trailer cut", "gzip junk", "zstd checksum", "zstd end cut", "zstd junk", "zstd cut"],
)  # fmt: skip
def test_what_was_expanded_before_the_damage_is_kept(file: bytes, packets: int) -> None:
    profile = profiled(file)
    assert (profile.packets, profile.complete) == (packets, False)
    assert "damaged-compression" in codes(profile)


def test_a_damaged_byte_costs_only_what_stands_behind_it() -> None:
    frames = [ethernet(ipv4(GNB, AMF, 17, udp(1, 2, Random(n).randbytes(40)))) for n in range(2000)]
    member = zlib.compressobj(9, zlib.DEFLATED, 31)
    half = member.compress(pcap(frames)[: 24 + 1000 * 98]) + member.flush(zlib.Z_FULL_FLUSH)
    profile = profiled(half + b"\xff" * 200)  # a block of a type that does not exist follows
    assert len(pcap(frames)) == 24 + 2000 * 98
    assert (profile.packets, codes(profile)) == (1000, ["damaged-compression"])


def test_a_compressed_file_cut_inside_its_header_is_a_capture_without_frames() -> None:
    member = zlib.compressobj(9, zlib.DEFLATED, 31)
    profile = profiled(member.compress(PLAIN[:10]) + member.flush(zlib.Z_SYNC_FLUSH))
    assert (profile.packets, profile.complete, codes(profile)) == (0, False, ["damaged-compression"])
    with pytest.raises(NotACapture):
        profiled(gzip.compress(PLAIN)[:12])  # nothing comes out of this


@pytest.mark.parametrize(
    "file", [SKIPPED + zstandard.compress(PLAIN), SKIPPED * 3 + zstd_of_two_frames(PLAIN) + SKIPPED]
)
def test_a_zstd_file_may_hold_frames_that_are_passed_over(file: bytes) -> None:
    profile = profiled(file)
    assert (profile.packets, profile.complete) == (20, True)


def test_every_block_of_zstd_is_read_whatever_its_type() -> None:
    stream = Random(1)
    blocks = stream.randbytes(200_000) + bytes(300_000) + b"text " * 50_000  # raw, repeated and compressed
    opened, _ = open_capture(io.BytesIO(zstandard.compress(PLAIN + blocks)))
    assert opened.take(1 << 20) == (PLAIN + blocks)[24:]
    assert opened.trouble is None


def test_a_custom_block_whose_lengths_disagree_is_damage() -> None:
    custom = bytearray(crafted.block(0xBAD, b"abcd"))
    whole = crafted.section() + crafted.interface() + crafted.enhanced(FRAMES[0], 1)
    assert profiled(whole + bytes(custom) + crafted.enhanced(FRAMES[1], 2)).packets == 2
    custom[-4:] = struct.pack("<I", 12)
    profile = profiled(whole + bytes(custom) + crafted.enhanced(FRAMES[1], 2))
    assert (profile.packets, codes(profile)) == (1, ["damaged-length"])
