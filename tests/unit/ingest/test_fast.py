"""The fast path against the exact one: the same profile to the last field, whatever the capture and the pace."""

import io
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique_ingest import flows, survey
from pratique_ingest.budget import Budget
from pratique_ingest.capture.containers import open_capture
from pratique_ingest.capture.frames import Frame
from pratique_ingest.fast import batches, tally
from pratique_ingest.profile import PACE, NotACapture, Pace, Profile, profile_capture
from pratique_local.sample import write_sample
from tests.support.beside import captures, malformed
from tests.unit.ingest import crafted, mixes

# Windows smaller than most frames need, batches of a few frames: borders fall everywhere.
SMALL = (Pace(700, 1500, 7, 1), Pace(100_000, 100_000, 1000, 16))
GENTLE = settings(
    deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def read(file: bytes, pace: Pace | None) -> Profile:
    return profile_capture(io.BytesIO(file), pilot="lab", pace=pace)


def assert_same(file: bytes, *paces: Pace) -> None:
    exact = read(file, None)
    for pace in paces:
        assert read(file, pace) == exact


@pytest.mark.parametrize("folder", [captures, malformed])
def test_both_paths_agree_on_every_real_and_damaged_capture(folder: object) -> None:
    assert callable(folder)
    for path in sorted(folder().iterdir()):
        if path.suffix not in (".json", ".md"):
            file = path.read_bytes()
            try:
                assert_same(file, PACE)
            except NotACapture:
                with pytest.raises(NotACapture):
                    read(file, None)


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_both_paths_agree_on_the_generated_sample(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sample{suffix}"
    write_sample(path, subscribers=8)
    assert_same(path.read_bytes(), PACE)


@given(st.one_of(mixes.pcap_files(), mixes.pcapng_files()))
@GENTLE
def test_both_paths_agree_on_mixes_of_all_kinds_of_frames(file: bytes) -> None:
    assert_same(file, *SMALL)


@given(st.one_of(mixes.pcap_files(), mixes.pcapng_files()), st.sampled_from([4_000, 9_000, 20_000]))
@GENTLE
def test_both_paths_drop_the_same_where_the_budget_ends(file: bytes, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "Budget", partial(Budget, limit))
        patch.setattr(tally, "MAX_CELLS", 3)
        assert_same(file, *SMALL)


@given(st.one_of(mixes.pcap_files(), mixes.pcapng_files()))
@GENTLE
def test_both_paths_forget_connections_at_the_same_frame(file: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flows, "GENERATION", 1)
        for module in (survey, batches):
            patch.setattr(module, "TURN", 8)
        assert_same(file, *SMALL)


def chunked(file: bytes, window: int) -> Iterator[Frame]:
    """The frames of a file by chunks as far as they go, else one by one."""
    _, capture = open_capture(io.BytesIO(file))
    singly = iter(capture)
    while True:
        chunk = capture.chunk(window, 1 << 62)
        if chunk is not None:
            yield from chunk.frames(range(len(chunk)))  # type: ignore[arg-type]
            continue
        frame = next(singly, None)
        if frame is None:
            return
        yield frame


@pytest.mark.parametrize("order", ["<", ">"])
def test_payloads_made_to_look_like_records_lead_no_lane_astray(order: str) -> None:
    inside = struct.pack(order + "IIII", crafted.START, 0, 20, 20) + bytes(20)
    frames = [inside * (number % 7 + 1) + bytes(number % 5) for number in range(3000)]
    file = crafted.pcap(frames, order=order)
    assert len(file) > 8 * 16_384
    assert [frame.data for frame in chunked(file, len(file))] == frames


def test_payloads_made_to_look_like_blocks_lead_no_lane_astray() -> None:
    inside = crafted.enhanced(bytes(20), crafted.START * 10**6)
    frames = [bytes(4 * (number % 3)) + inside * (number % 7 + 1) for number in range(3000)]
    blocks = [crafted.enhanced(frame, crafted.START * 10**6) for frame in frames]
    file = b"".join([crafted.section(), crafted.interface(), *blocks])
    assert [frame.data for frame in chunked(file, len(file))] == frames


@pytest.mark.parametrize("empty", [200, 10_001])
def test_both_paths_end_at_the_same_frame_of_a_hole_in_the_file(empty: int) -> None:
    frame = crafted.ethernet(crafted.ipv4(crafted.GNB, crafted.UPF, 17, crafted.udp(1, 2, b"x")))
    frames = [frame] * 50 + [b""] * empty + [frame] * 50
    blocks = [crafted.enhanced(one, number) for number, one in enumerate(frames)]
    assert_same(crafted.pcap(frames), PACE)
    assert_same(b"".join([crafted.section(), crafted.interface(), *blocks]), PACE)


def test_an_ordinary_capture_leaves_nothing_to_the_exact_path(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = crafted.ipv4("10.45.0.1", "203.0.113.9", 6, crafted.tcp(40_000, 443, b"\x16\3\1\0\5hello"))
    tunnel = struct.pack(">BBHI", 0x34, 255, 8 + len(inner), 1) + b"\0\0\0\x85\1\x10\1\0" + inner
    packets = [
        crafted.ipv4(crafted.GNB, crafted.UPF, 17, crafted.udp(2152, 2152, tunnel)),
        crafted.ipv4(crafted.UPF, crafted.AMF, 6, crafted.tcp(443, 40_000, b"\x17\3\3\0\5world")),
        crafted.ipv6("2001:db8::1", "2001:db8::2", 17, crafted.udp(443, 40_000, b"quic")),
    ] * 20
    # The last frame of a file stands too near its end for a chunk.
    file = crafted.pcap([*map(crafted.ethernet, packets), bytes(1000)])
    examined: list[int] = []
    examine = survey.Survey.examine

    def noted(one: survey.Survey, number: int, frame: Frame) -> survey.Examined | None:
        examined.append(number)
        return examine(one, number, frame)

    monkeypatch.setattr(survey.Survey, "examine", noted)
    profile = read(file, PACE)
    assert examined == [len(packets)]
    assert {host.ip: host.packets for host in profile.hosts} == {
        crafted.GNB: 20, crafted.UPF: 40, crafted.AMF: 20, "2001:db8::1": 20, "2001:db8::2": 20
    }  # fmt: skip
    assert {host.ip: host.role for host in profile.hosts if host.ip in (crafted.GNB, crafted.UPF)} == {
        crafted.GNB: "gNB", crafted.UPF: "UPF"
    }  # fmt: skip
