"""Session records: one subscriber at one gNB in one window of five minutes."""

import struct

import pytest

from pratique_ingest.budget import CONTEXT, SESSION, WINDOW, Budget
from pratique_ingest.profile import session_row
from pratique_ingest.protocols.findings import Context, Findings
from pratique_ingest.sessions import Sessions
from tests.unit.ingest.crafted import AMF, GNB, START, chunk, ethernet, ipv4, pcap, profiled, sctp
from tests.unit.ingest.test_protocols import GUTI_REQUEST, IMSI, PLMN, SUCI_REQUEST

OTHER_GNB = "10.0.0.9"
ACCEPT = bytes.fromhex(f"7e004201 01 77000bf2{PLMN}020040deadbeef".replace(" ", ""))


def message(procedure: int, ran_id: int, nas: bytes = b"", slices: bytes = b"") -> bytes:
    """An NGAP message for one UE: its RAN number (id 85), allowed slices (0) and NAS (38)."""
    elements = [(85, bytes([0x40]) + struct.pack(">H", ran_id))]
    elements += [(0, slices)] if slices else []
    elements += [(38, bytes([len(nas)]) + nas)] if nas else []
    body = b"\x00" + struct.pack(">H", len(elements))
    body += b"".join(struct.pack(">HBB", identity, 0, len(value)) + value for identity, value in elements)
    return bytes([0, procedure, 0, len(body)]) + body


def uplink(data: bytes, gnb: str = GNB) -> bytes:
    return ethernet(ipv4(gnb, AMF, 132, sctp(9000, 38412, chunk(data, 60))))


def downlink(data: bytes, gnb: str = GNB) -> bytes:
    return ethernet(ipv4(AMF, gnb, 132, sctp(38412, 9000, chunk(data, 60))))


def test_a_session_holds_the_subscriber_its_gnb_its_slice_and_its_frames() -> None:
    frames = [
        uplink(message(15, 7, SUCI_REQUEST)),
        downlink(message(14, 7, ACCEPT, slices=bytes.fromhex("0201010203"))),
        uplink(message(46, 7)),
    ]
    (session,) = profiled(pcap(frames)).sessions
    assert session_row(session) == {
        "subscriber": IMSI, "gnb": GNB, "amf": AMF, "sst": 1, "sd": "010203", "region": None,
        "window": "2026-01-01T00:00:00.000000Z", "role": "UE", "packets": 3, "bytes": sum(map(len, frames)),
        "pilot": "lab",
    }  # fmt: skip
    assert IMSI not in repr(session)


def test_a_slice_of_all_ones_has_no_differentiator() -> None:
    frames = [uplink(message(15, 7, SUCI_REQUEST)), downlink(message(14, 7, slices=bytes.fromhex("0204ffffff")))]
    (session,) = profiled(pcap(frames)).sessions
    assert (session.sst, session.sd) == (4, None)


def test_windows_are_five_minutes_of_the_clock() -> None:
    frames = [uplink(message(15, 7, SUCI_REQUEST))] + [uplink(message(46, 7))] * 300  # one a second
    sessions = profiled(pcap(frames)).sessions
    assert START % 300 == 0
    assert [(session.window[11:16], session.packets) for session in sessions] == [("00:00", 300), ("00:05", 1)]


def test_a_temporary_identity_is_the_permanent_one_that_it_was_given_to() -> None:
    frames = [
        uplink(message(15, 7, SUCI_REQUEST)),
        downlink(message(14, 7, ACCEPT)),
        uplink(message(15, 1, GUTI_REQUEST), OTHER_GNB),
    ]
    assert [(session.subscriber, session.gnb) for session in profiled(pcap(frames)).sessions] == [
        (IMSI, GNB),
        (IMSI, OTHER_GNB),
    ]


def test_a_number_that_is_used_again_is_another_subscriber() -> None:
    second = SUCI_REQUEST.replace(b"\x00\x00\x00\x00\x10", b"\x00\x00\x00\x00\x20")
    frames = [uplink(message(15, 7, SUCI_REQUEST)), uplink(message(15, 7, second)), uplink(message(46, 7))]
    sessions = profiled(pcap(frames)).sessions
    assert [(session.subscriber, session.packets) for session in sessions] == [(IMSI, 1), ("001010000000002", 2)]


def test_two_nodes_behind_one_address_number_their_ues_alike() -> None:
    second = SUCI_REQUEST.replace(b"\x00\x00\x00\x00\x10", b"\x00\x00\x00\x00\x20")

    def spoken(data: bytes, port: int) -> bytes:
        return ethernet(ipv4(GNB, AMF, 132, sctp(port, 38412, chunk(data, 60))))

    frames = [spoken(message(15, 1, SUCI_REQUEST), 9000), spoken(message(15, 1, second), 9001)]
    frames += [spoken(message(46, 1), 9000)] * 3 + [spoken(message(46, 1), 9001)]
    sessions = profiled(pcap(frames)).sessions
    assert [(session.subscriber, session.packets) for session in sessions] == [(IMSI, 4), ("001010000000002", 2)]


def test_a_temporary_identity_that_two_have_had_is_nobodys_where_it_stands_alone() -> None:
    second = SUCI_REQUEST.replace(b"\x00\x00\x00\x00\x10", b"\x00\x00\x00\x00\x20")
    frames = [uplink(message(15, 1, GUTI_REQUEST), OTHER_GNB)]
    frames += [uplink(message(15, 7, SUCI_REQUEST)), downlink(message(14, 7, ACCEPT))]
    frames += [uplink(message(15, 8, second)), downlink(message(14, 8, ACCEPT))]
    alone, *others = profiled(pcap(frames)).sessions
    assert (alone.subscriber, alone.gnb) == ("001-01-02-001-00-deadbeef", OTHER_GNB)
    assert [session.subscriber for session in others] == [IMSI, "001010000000002"]


def test_two_contexts_of_one_subscriber_in_one_window_are_one_session() -> None:
    frames = [uplink(message(15, number, SUCI_REQUEST)) for number in (1, 2, 3)]
    (session,) = profiled(pcap(frames)).sessions
    assert session.packets == 3


def test_a_subscriber_that_is_never_named_makes_no_session() -> None:
    assert profiled(pcap([uplink(message(46, 7))])).sessions == ()


def released(ran_id: int, gnb: str = GNB) -> bytes:
    """The RAN's completion of a UE Context Release (41)."""
    data = bytearray(message(41, ran_id))
    data[0] = 1 << 5
    return uplink(bytes(data), gnb)


def test_a_released_number_is_nobodys_until_somebody_is_named() -> None:
    frames = [uplink(message(15, 7, SUCI_REQUEST)), released(7), released(7), uplink(message(46, 7))]
    (session,) = profiled(pcap(frames)).sessions
    assert session.packets == 3  # a second copy of the release is still the subscriber's, what follows is not


def opened(ran_id: int, subscriber: int) -> Findings:
    named = frozenset({("imsi", f"{subscriber:015d}")})
    return Findings(contexts=[Context(ran_id, True, True, False, None, named)])  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [250, 100_000])
def test_a_hundred_thousand_contexts_of_one_subscriber_are_one_session(numbers: int) -> None:
    budget = Budget(4000 * (CONTEXT + WINDOW)) if numbers == 250 else Budget()
    sessions = Sessions(budget)
    found = [opened(number, 1) for number in range(min(numbers, 1000))]
    for number in range(100_000):
        each = found[number] if number < len(found) else opened(number % numbers, 1)
        sessions.note(b"\x0a\0\0\2", b"\x0a\0\0\1", 100, START * 10**9, each)
    (record,) = sessions.records(None)
    assert (record.packets, record.bytes, dict(budget.cut)) == (100_000, 10_000_000, {})
    assert budget.spent == SESSION


def test_sessions_beyond_the_budget_are_counted_as_such() -> None:
    budget = Budget(3 * (CONTEXT + WINDOW))
    sessions = Sessions(budget)
    for number in range(10):
        sessions.note(b"\x0a\0\0\2", b"\x0a\0\0\1", 100, START * 10**9, opened(number, number))
    assert {record.subscriber for record in sessions.records(None)} <= {f"{number:015d}" for number in range(10)}
    assert budget.cut.keys() == {"sessions"}


def test_sessions_stand_in_the_order_in_which_their_contexts_began() -> None:
    third, first = SUCI_REQUEST.replace(b"\x00\x00\x00\x00\x10", b"\x00\x00\x00\x00\x30"), SUCI_REQUEST
    frames = [uplink(message(15, 1, third)), uplink(message(15, 2, first)), released(2), released(1)]
    assert [session.subscriber[-1] for session in profiled(pcap(frames)).sessions] == ["3", "1"]
