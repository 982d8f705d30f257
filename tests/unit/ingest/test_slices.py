"""Slices: the first so many frames of a capture are a capture of their own, and the rest is told of."""

import gzip
import io
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique_ingest.capture_child import profile_in_child
from pratique_ingest.plan import read_plan
from pratique_ingest.profile import PACE, Pace, Profile, profile_capture
from pratique_shared.runtime.child_process import Body
from tests.unit.ingest import crafted, mixes
from tests.unit.ingest.crafted import AMF, GNB, SMF, ethernet, ipv4, pcap, udp
from tests.unit.ingest.test_protocols import SUCI_REQUEST
from tests.unit.ingest.test_sessions import message, uplink

FIRST, SECOND = (ethernet(ipv4(GNB, other, 17, udp(1, 2, b"x"))) for other in (AMF, SMF))
FILE = pcap([FIRST] * 30 + [SECOND] * 70)
BLOCKS = crafted.section() + crafted.interface() + b"".join(
    crafted.enhanced(frame, number) for number, frame in enumerate([FIRST] * 30 + [SECOND] * 70)
)  # fmt: skip


def cut(file: bytes, most: int | None, pace: Pace | None = PACE) -> Profile:
    return profile_capture(io.BytesIO(file), pilot="lab", max_packets=most, pace=pace)


def warned(profile: Profile) -> list[tuple[str, int]]:
    return [(warning.code, warning.count) for warning in profile.warnings]


@pytest.mark.parametrize("file", [FILE, BLOCKS, gzip.compress(FILE)], ids=["pcap", "pcapng", "gzip"])
def test_only_the_first_frames_are_profiled(file: bytes) -> None:
    profile = cut(file, 40)
    assert crafted.counts(profile) == {GNB: (40, 2), AMF: (30, 1), SMF: (10, 1)}
    assert (profile.packets, profile.complete, warned(profile)) == (40, False, [("cut-at-max-packets", 1)])
    assert crafted.counts(cut(file, 30)) == {GNB: (30, 1), AMF: (30, 1)}


@pytest.mark.parametrize("file", [FILE, BLOCKS, gzip.compress(FILE)], ids=["pcap", "pcapng", "gzip"])
@pytest.mark.parametrize("most", [100, 101, 1 << 53, None])
def test_a_file_of_no_more_frames_is_whole(file: bytes, most: int | None) -> None:
    profile = cut(file, most)
    assert (profile.packets, profile.complete, warned(profile)) == (100, True, [])
    assert profile == cut(file, None)


def test_a_file_that_is_cut_behind_the_slice_says_that_instead() -> None:
    assert warned(cut(FILE[:-1], 99)) == [("cut-file", 1)]
    assert warned(cut(FILE[:-1], 98)) == [("cut-at-max-packets", 1)]


@given(st.one_of(mixes.pcap_files(), mixes.pcapng_files()), st.integers(1, 40))
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_both_paths_cut_at_the_same_frame(file: bytes, most: int) -> None:
    exact = cut(file, most, None)
    for pace in (Pace(700, 1500, 7, 1), Pace(100_000, 100_000, 1000, 16)):
        assert cut(file, most, pace) == exact


class Called:
    """A call as the child gets it."""

    def __init__(self, body: Body, data: bytes) -> None:
        self.body, self._data, self.told = body, data, [Body()]

    def blobs(self) -> Iterator[bytes]:
        yield self._data

    def progress(self, body: Body) -> None:
        self.told.append(body)


def test_slice_and_plan_come_to_the_child_with_the_call() -> None:
    plan = read_plan(f'[regions]\n"{GNB}/32" = "north"\n')
    file = pcap([uplink(message(15, 7, SUCI_REQUEST))] * 3)
    reply = profile_in_child(Called({"pilot": None, "plan": plan.text, "max_packets": 2}, file))
    assert (reply.body["packets"], reply.body["complete"]) == (2, False)
    assert b'"region": "north"' in reply.blobs[1]
