"""Users' packets in GTP-U: whose they are, as NGAP and PFCP named the tunnels, the same on both paths."""

import io
import struct
from collections.abc import Sequence
from functools import partial
from ipaddress import ip_address

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pratique_ingest import survey
from pratique_ingest.budget import Budget
from pratique_ingest.fast import tally
from pratique_ingest.plan import read_plan
from pratique_ingest.profile import PACE, Pace, Profile, profile_capture
from pratique_local.sample import ngap, pfcp
from pratique_local.sample.aper import Bits, Criticality, Outcome, container, pdu
from pratique_local.sample.subscribers import SLICES, Slice
from tests.unit.ingest import crafted
from tests.unit.ingest.crafted import AMF, GNB, SMF, UPF, ethernet, ipv4, sctp, udp
from tests.unit.ingest.test_protocols import IMSI, SUCI_REQUEST

OTHER_GNB, N3, FAR_UPF = "10.0.0.9", "10.9.0.2", "10.0.0.8"
CELL = ngap.Cell(1, 1)
SECOND = SUCI_REQUEST.replace(b"\x00\x00\x00\x00\x10", b"\x00\x00\x00\x00\x20")
SECOND_IMSI = "001010000000002"
BORDERS = (Pace(700, 1500, 7, 1), Pace(100_000, 100_000, 1000, 16), PACE)
REJECT = Criticality.REJECT


def up(data: bytes, gnb: str = GNB) -> bytes:
    return ethernet(ipv4(gnb, AMF, 132, sctp(9000, 38412, crafted.chunk(data, 60))))


def down(data: bytes, gnb: str = GNB) -> bytes:
    return ethernet(ipv4(AMF, gnb, 132, sctp(38412, 9000, crafted.chunk(data, 60))))


def arrival(ran: int, nas: bytes = SUCI_REQUEST, gnb: str = GNB) -> bytes:
    return up(ngap.initial_ue_message(ran, CELL, nas, None), gnb)


def session(pair: ngap.Pair, upf: tuple[str, int], ran: tuple[str, int], gnb: str = GNB) -> list[bytes]:
    """A PDU session is set up: both ends of its tunnel are named."""
    return [
        down(ngap.session_setup_request(pair, SLICES[1], upf, b"\x7e\0\x68"), gnb),
        up(ngap.session_setup_response(pair, ran), gnb),
    ]


def user(source: str, destination: str, teid: int, size: int = 0, kind: int = 255) -> bytes:
    """A G-PDU with a packet of UDP inside."""
    inner = ipv4("10.45.0.2", "192.0.2.1", 17, udp(5000, 5001, bytes(size)))
    message = struct.pack(">BBHI", 0x30, kind, len(inner), teid) + inner
    if ":" in source:
        return ethernet(crafted.ipv6(source, destination, 17, udp(2152, 2152, message)))
    return ethernet(ipv4(source, destination, 17, udp(2152, 2152, message)))


def read(frames: Sequence[bytes], *paces: Pace | None) -> Profile:
    """Profile a capture at every pace; the profile must be the same."""
    file = crafted.pcap([*frames, bytes(1000)])
    first, *others = [profile_capture(io.BytesIO(file), pilot="lab", pace=pace) for pace in (None, *(paces or BORDERS))]
    assert all(other == first for other in others)
    return first


def counted(profile: Profile) -> list[tuple[str, str, int, int]]:
    return [(one.subscriber, one.gnb, one.packets, one.bytes) for one in profile.sessions]


def unknown(profile: Profile) -> int:
    return sum(one.count for one in profile.warnings if one.code == "gtpu-unknown-session")


def test_packets_in_both_directions_count_for_the_session_of_their_tunnel() -> None:
    frames = [arrival(7), *session(ngap.Pair(1, 7), (UPF, 0x100), (N3, 0x200))]
    traffic = [user(N3, UPF, 0x100, 10), user(UPF, N3, 0x200, 500), user(UPF, N3, 0x201), user(N3, UPF, 0x200)]
    profile = read(frames + traffic)
    # The gNB is known by its N2 address, wherever its tunnels end; a TEID means nothing at another address.
    assert counted(profile) == [(IMSI, GNB, 5, sum(map(len, frames + traffic[:2])))]
    assert unknown(profile) == 2
    (record,) = profile.sessions
    assert (record.sst, record.sd) == (SLICES[1].sst, f"{SLICES[1].sd:06x}")  # of the PDU session: no other was named


def test_signalling_of_gtpu_is_nobodys_packet() -> None:
    frames = [arrival(7), *session(ngap.Pair(1, 7), (UPF, 0x100), (N3, 0x200))]
    profile = read([*frames, user(UPF, N3, 0x200, kind=254)])
    assert (counted(profile)[0][2], unknown(profile)) == (3, 0)


def test_a_capture_without_sessions_has_no_unknown_ones() -> None:
    assert read([user(N3, UPF, 1)] * 5).warnings == ()


def test_frames_that_are_about_one_subscriber_twice_count_once() -> None:
    pair = ngap.Pair(1, 7)
    messages = ngap.initial_context_response(pair), ngap.uplink(pair, CELL, b"\x7e\0\x43")
    both = ethernet(ipv4(GNB, AMF, 132, sctp(9000, 38412, *(crafted.chunk(one, 60) for one in messages))))
    assert counted(read([arrival(7), both]))[0][2] == 2


def test_a_tunnel_end_that_is_named_again_changes_hands_at_that_frame() -> None:
    first = [arrival(7), *session(ngap.Pair(1, 7), (UPF, 0x100), (N3, 0x200))]
    second = [arrival(8, SECOND), *session(ngap.Pair(2, 8), (UPF, 0x100), (N3, 0x200))]
    packet = user(UPF, N3, 0x200)
    profile = read([packet, *first, *[packet] * 3, *second, *[packet] * 5])
    assert [(name, packets) for name, _, packets, _ in counted(profile)] == [(IMSI, 3 + 3), (SECOND_IMSI, 3 + 5)]
    assert unknown(profile) == 1  # before anybody named the tunnel


def test_a_tunnel_ends_with_its_context() -> None:
    pair, packet = ngap.Pair(1, 7), user(UPF, N3, 0x200)
    frames = [arrival(7), *session(pair, (UPF, 0x100), (N3, 0x200)), packet]
    ended = [down(ngap.release_command(pair)), up(ngap.release_complete(pair)), packet, arrival(7, SECOND), packet]
    profile = read(frames + ended)
    # One on its way still counts; when the number is given anew the context is over.
    assert [(name, packets) for name, _, packets, _ in counted(profile)] == [(IMSI, 3 + 1 + 2 + 1), (SECOND_IMSI, 1)]
    assert unknown(profile) == 1


def test_a_path_switch_takes_name_slice_and_uplink_to_the_new_gnb() -> None:
    source, target = ngap.Pair(5, 7), ngap.Pair(5, 70)
    frames = [arrival(7), *session(source, (UPF, 0x100), (N3, 0x200))]
    switch = up(ngap.path_switch_request(target, source, CELL, ("10.9.0.9", 0x300)), OTHER_GNB)
    agreed = down(ngap.path_switch_acknowledge(target, SLICES[1], bytes(32)), OTHER_GNB)
    before, after = [user(N3, UPF, 0x100)] * 2, [user("10.9.0.9", UPF, 0x100), user(UPF, "10.9.0.9", 0x300)] * 2
    profile = read([*frames, *before, switch, agreed, *after])
    assert [(name, gnb, packets) for name, gnb, packets, _ in counted(profile)] == [
        (IMSI, GNB, 3 + 2), (IMSI, OTHER_GNB, 2 + 4)
    ]  # fmt: skip
    assert {(one.sst, one.sd) for one in profile.sessions} == {(SLICES[1].sst, f"{SLICES[1].sd:06x}")}


def tunnel(bits: Bits, address: str, teid: int) -> Bits:
    return bits.put(0, 4).put(31, 8).octets(ip_address(address).packed).octets(teid.to_bytes(4))


def slice_bits(bits: Bits, chosen: Slice) -> Bits:
    return bits.put(0b010, 3).put(chosen.sst, 8).octets(chosen.sd.to_bytes(3))


def handover_request(core: int, upf: tuple[str, int]) -> bytes:
    """The AMF asks a gNB to take a UE (TS 38.413, 9.2.3.4): of its elements the two that matter here."""
    transfer = container([(139, REJECT, tunnel(Bits(), *upf).done())])
    item = slice_bits(Bits().octets(b"\0").put(0, 2).octets(b"\x01"), SLICES[1]).string(transfer)
    number = Bits().integer(core, 5).done()
    return pdu(Outcome.INITIATING, 13, REJECT, [(10, REJECT, number), (73, REJECT, item.done())])


def handover_accepted(pair: ngap.Pair, gnb: tuple[str, int]) -> bytes:
    transfer = tunnel(Bits().put(0, 6), *gnb).put(0, 6).put(0, 3).put(1, 6)
    item = Bits().octets(b"\0").put(0, 2).octets(b"\x01").string(transfer.done())
    return pdu(Outcome.SUCCESSFUL, 13, REJECT, [*pair.elements(), (53, REJECT, item.done())])


def test_a_handover_by_the_core_takes_the_uplink_along_when_the_ue_has_arrived() -> None:
    source, target = ngap.Pair(5, 7), ngap.Pair(6, 70)  # the AMF gives it another number as well
    frames = [arrival(7), *session(source, (UPF, 0x100), (N3, 0x200))]
    prepared = [
        down(handover_request(6, (UPF, 0x100)), OTHER_GNB),
        up(handover_accepted(target, ("10.9.0.9", 0x300)), OTHER_GNB),
    ]
    notify = up(pdu(Outcome.INITIATING, 11, REJECT, target.elements()), OTHER_GNB)
    uplink, new_downlink = user(N3, UPF, 0x100), user(UPF, "10.9.0.9", 0x300)
    profile = read([*frames, *prepared, uplink, new_downlink, notify, uplink, uplink, uplink])
    assert [(name, gnb, packets) for name, gnb, packets, _ in counted(profile)] == [
        (IMSI, GNB, 3 + 1), (IMSI, OTHER_GNB, 1 + 1 + 1 + 3)
    ]  # fmt: skip


def control(number: int, uplink: int = 0x100, upf: str = UPF) -> pfcp.Session:
    return pfcp.Session(SMF, upf, 0x1000 + number, 0x2000 + number, uplink, f"10.45.0.{number}", "internet")


def orders(one: pfcp.Session, gnb: tuple[str, int], imsi: str = IMSI) -> list[bytes]:
    """A PFCP session is established, and its downlink pointed at a gNB."""
    asked = one.establishment(1, imsi), one.established(1), one.modification(2, *gnb), one.modified(2)
    ends = (SMF, one.upf), (one.upf, SMF), (SMF, one.upf), (one.upf, SMF)
    return [ethernet(ipv4(*end, 17, udp(8805, 8805, data))) for end, data in zip(ends, asked, strict=True)]


def test_without_ngap_a_session_is_that_of_pfcp_at_the_address_of_the_tunnel() -> None:
    traffic = [user(N3, UPF, 0x100), user(UPF, N3, 0x200), user(UPF, N3, 0x200)]
    profile = read([*orders(control(1), (N3, 0x200)), *traffic])
    assert counted(profile) == [(IMSI, N3, 3, sum(map(len, traffic)))]
    assert profile.sessions[0].amf is None


def test_pfcp_moves_a_session_when_its_downlink_goes_to_another_gnb() -> None:
    one = control(1)
    moved = ethernet(ipv4(SMF, UPF, 17, udp(8805, 8805, one.modification(3, "10.9.0.9", 0x300))))
    old, new = user(UPF, N3, 0x200), user(UPF, "10.9.0.9", 0x300)
    before, after = [old, user(N3, UPF, 0x100)], [new, user("10.9.0.9", UPF, 0x100), old]
    profile = read([*orders(one, (N3, 0x200)), *before, moved, *after])
    assert [(gnb, packets) for _, gnb, packets, _ in counted(profile)] == [(N3, 2), ("10.9.0.9", 2)]
    assert unknown(profile) == 1


def test_a_deleted_pfcp_session_holds_no_tunnel() -> None:
    one = control(1)
    deleted = ethernet(ipv4(UPF, SMF, 17, udp(8805, 8805, one.deleted(3))))
    profile = read([*orders(one, (N3, 0x200)), user(N3, UPF, 0x100), deleted, user(N3, UPF, 0x100)])
    assert (counted(profile)[0][2], unknown(profile)) == (1, 1)


def test_a_tunnel_between_two_upfs_is_no_session_of_its_own() -> None:
    here = orders(control(1), (N3, 0x200))
    there = orders(control(2, 0x400, FAR_UPF), (UPF, 0x500))
    traffic = [user(N3, UPF, 0x100), user(UPF, FAR_UPF, 0x400)] * 2
    assert [(gnb, packets) for _, gnb, packets, _ in counted(read([*here, *there, *traffic]))] == [(N3, 2)]


def test_pfcp_names_the_subscriber_of_a_context_whose_nas_is_ciphered() -> None:
    ciphered = b"\x7e\x02" + bytes(5) + b"\xc5" * 20
    frames = [arrival(7, ciphered), *orders(control(1), (N3, 0x200))]
    profile = read([*frames, *session(ngap.Pair(1, 7), (UPF, 0x100), (N3, 0x200)), user(N3, UPF, 0x100)])
    assert [(name, gnb, packets) for name, gnb, packets, _ in counted(profile)] == [(IMSI, GNB, 4)]


def test_regions_and_kinds_of_ues_stand_in_the_records() -> None:
    reduced = up(ngap.initial_ue_message(8, CELL, SECOND, None, reduced=True), OTHER_GNB)
    file = crafted.pcap([arrival(7), reduced])
    plan = read_plan(f'[regions]\n"{GNB}/32" = "north"')
    profile = profile_capture(io.BytesIO(file), pilot=None, plan=plan)
    assert [(one.region, one.role) for one in profile.sessions] == [("north", "UE"), (None, "RedCap UE")]


GNBS, TEIDS = (GNB, OTHER_GNB), (1, 2, 3)


@st.composite
def scenes(draw: st.DrawFn) -> list[bytes]:
    """Frames by which few subscribers, gNBs and TEIDs get in each other's way."""
    number, gnb = draw(st.integers(1, 4)), draw(st.sampled_from(GNBS))
    pair, teid, other = ngap.Pair(number, number), draw(st.sampled_from(TEIDS)), draw(st.sampled_from(TEIDS))
    nas = draw(st.sampled_from([SUCI_REQUEST, SECOND, b"\x7e\x02" + bytes(20)]))
    match draw(st.integers(0, 8)):
        case 0:
            return [arrival(number, nas, gnb)]
        case 1:
            return session(pair, (UPF, teid), (gnb, other), gnb)
        case 2:
            return [up(ngap.release_complete(pair), gnb)]
        case 3:
            return [up(ngap.path_switch_request(pair, ngap.Pair(other, 0), CELL, (gnb, teid)), gnb)]
        case 4:
            return orders(control(number, teid), (gnb, other), draw(st.sampled_from([IMSI, SECOND_IMSI])))
        case 5:
            return [ethernet(ipv4(UPF, SMF, 17, udp(8805, 8805, control(number).deleted(3))))]
        case 6:
            return [user("2001:db8::1", "2001:db8::2", teid)]
        case _:
            ends = draw(st.sampled_from([(gnb, UPF), (UPF, gnb)]))
            return [user(*ends, teid, draw(st.integers(0, 40)))] * draw(st.integers(1, 4))


MIXED = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


@given(st.lists(scenes(), min_size=5, max_size=40))
@MIXED
def test_both_paths_give_the_same_sessions(parts: list[list[bytes]]) -> None:
    frames = [frame for part in parts for frame in part]
    assert read(frames).packets == len(frames) + 1  # `read` adds a frame, and holds one path against the other


@given(st.lists(scenes(), min_size=5, max_size=40), st.sampled_from([15_000, 22_000, 40_000]))
@MIXED
def test_both_paths_give_the_same_sessions_where_the_budget_ends(parts: list[list[bytes]], limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "Budget", partial(Budget, limit))
        patch.setattr(tally, "MAX_CELLS", 3)
        frames = [frame for part in parts for frame in part]
        assert read(frames).packets == len(frames) + 1


def test_tunnels_over_ipv6_are_known_by_all_of_their_address() -> None:
    one, other = "2001:db8::1", "2001:db8::1:0:0:1"
    end = Bits().put(0, 4).put(127, 8).octets(ip_address(one).packed + bytes(3) + b"\5")
    transfer = container([(139, REJECT, end.done())])
    item = slice_bits(Bits().octets(b"\0").put(0, 3).octets(b"\x01"), SLICES[0]).string(transfer)
    setup = pdu(Outcome.INITIATING, 29, REJECT, [*ngap.Pair(1, 7).elements(), (74, REJECT, item.done())])
    profile = read([arrival(7), down(setup), *[user(other, one, 5)] * 3, user(one, other, 5), user(other, one, 6)])
    assert (counted(profile)[0][2], unknown(profile)) == (2 + 3, 2)
