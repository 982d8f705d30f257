"""Ciphered NAS: opened under the null cipher, counted under any other, told by its looks where no command was seen."""

import struct

import pytest

from pratique_ingest.profile import Profile
from pratique_ingest.protocols import ciphering
from pratique_ingest.protocols.ciphering import Association, Ciphers
from tests.unit.ingest.crafted import AMF, GNB, chunk, ethernet, ipv4, pcap, profiled, sctp
from tests.unit.ingest.test_protocols import GUTI, GUTI_REQUEST, values

PROTECTED = bytes.fromhex("7e02 12345678 05")  # integrity protected and ciphered: code, number
INITIAL, DOWNLINK, UPLINK, RELEASE, SWITCH = (15, 0), (4, 0), (46, 0), (41, 1), (25, 0)
EPS_INITIAL, EPS_DOWNLINK, EPS_UPLINK = (12, 0), (11, 0), (13, 0)
# An EPS attach request by GUTI (TS 24.301, 8.2.4): what looks plain behind a ciphered header.
EPS_ATTACH = bytes.fromhex("0741710bf600f110800104deadbeef02e0e00000")
EPS_PROTECTED = bytes.fromhex("27 12345678 05")


def element(identity: int, value: bytes) -> bytes:
    return struct.pack(">HBB", identity, 0, len(value)) + value


def application(message: tuple[int, int], numbers: tuple[int, int], ue: int, nas: bytes, core: int = 1) -> bytes:
    """A message of NGAP or S1AP with the numbers of a UE, whose elements are named by `numbers`, and perhaps NAS."""
    elements = [element(numbers[0], b"\0" + bytes([core])), element(numbers[1], b"\0" + bytes([ue]))]
    if nas:
        elements.append(element(38 if numbers == NG else 26, bytes([len(nas)]) + nas))
    body = b"\0" + struct.pack(">H", len(elements)) + b"".join(elements)
    return bytes([message[1] << 5, message[0], 0x40, len(body)]) + body


NG, S1 = (10, 85), (0, 8)


def spoken(*said: tuple[tuple[int, int], int, bytes], numbers: tuple[int, int] = NG, port: int = 38412) -> Profile:
    frames = []
    for message, ue, nas in said:
        from_ran = message in (INITIAL, UPLINK, RELEASE, SWITCH, EPS_INITIAL, EPS_UPLINK)
        ends = (GNB, AMF) if from_ran else (AMF, GNB)
        ports = (9000, port) if from_ran else (port, 9000)
        frames.append(ethernet(ipv4(*ends, 132, sctp(*ports, chunk(application(message, numbers, ue, nas), 0)))))
    return profiled(pcap(frames))


def command(algorithm: int, header: str = "7e03 00000000 00") -> bytes:
    """A security mode command (TS 24.501, 8.2.25) that selects ciphering `algorithm` and integrity 2."""
    return bytes.fromhex(header) + bytes([0x7E, 0, 0x5D, algorithm << 4 | 2])


def outcome(profile: Profile) -> tuple[list[str], int]:
    ciphered = sum(warning.count for warning in profile.warnings if warning.code == "nas-ciphered")
    return values(profile, "guti"), ciphered


@pytest.mark.parametrize(("algorithm", "expected"), [(0, ([GUTI], 0)), (1, ([], 1)), (2, ([], 1)), (3, ([], 1))])
def test_the_selected_algorithm_decides_and_not_the_looks(algorithm: int, expected: tuple[list[str], int]) -> None:
    assert outcome(spoken((DOWNLINK, 7, command(algorithm)), (UPLINK, 7, PROTECTED + GUTI_REQUEST))) == expected
    complete = bytes.fromhex("7e04 12345678 05")  # the first message under the new context
    assert outcome(spoken((DOWNLINK, 7, command(algorithm)), (UPLINK, 7, complete + GUTI_REQUEST))) == expected


def test_a_message_that_is_only_protected_stays_readable() -> None:
    protected = bytes.fromhex("7e01 12345678 05")
    assert outcome(spoken((DOWNLINK, 7, command(2)), (UPLINK, 7, protected + GUTI_REQUEST))) == ([GUTI], 0)


def test_a_command_is_for_one_ue_at_one_node() -> None:
    assert outcome(spoken((DOWNLINK, 7, command(2)), (UPLINK, 8, PROTECTED + GUTI_REQUEST))) == ([GUTI], 0)
    other = Ciphers()
    Association(b"a\0\1", b"b\0\2", other).context(from_ran=True, number=7).select(2)
    assert Association(b"b\0\2", b"a\0\1", other).context(from_ran=False, number=7).algorithm == 2
    assert Association(b"c\0\1", b"b\0\2", other).context(from_ran=True, number=7).algorithm is None


@pytest.mark.parametrize(
    "between",
    [(INITIAL, 7, b"\x7e\0\x43"), (RELEASE, 7, b""), (SWITCH, 7, b""), (UPLINK, 7, b"\x7e\0\x5f\x18")],
)
def test_a_new_context_a_handed_over_one_a_released_one_and_a_rejection_end_what_was_known(
    between: tuple[tuple[int, int], int, bytes],
) -> None:
    assert outcome(spoken((DOWNLINK, 7, command(2)), between, (UPLINK, 7, PROTECTED + GUTI_REQUEST))) == ([GUTI], 0)


@pytest.mark.parametrize(("algorithm", "found", "ciphered"), [(0, 1, 0), (1, 0, 1), (3, 0, 1)])
def test_the_algorithm_of_eps_stands_in_three_bits(algorithm: int, found: int, ciphered: int) -> None:
    # A security mode command (TS 24.301, 8.2.20): EEA in the upper half, EIA in the lower.
    told = bytes.fromhex("37 00000000 00") + bytes([0x07, 0x5D, algorithm << 4 | 1])
    profile = spoken(
        (EPS_DOWNLINK, 7, told), (EPS_UPLINK, 7, EPS_PROTECTED + EPS_ATTACH), numbers=S1, port=36412
    )  # fmt: skip
    assert (len(values(profile, "guti_4g")), outcome(profile)[1]) == (found, ciphered)


def test_under_the_null_cipher_session_messages_of_eps_are_not_called_ciphered() -> None:
    session = EPS_PROTECTED + bytes.fromhex("0201d0")  # a PDN connectivity request
    told = bytes.fromhex("37 00000000 00 075d01")
    open_ = spoken((EPS_DOWNLINK, 7, told), (EPS_UPLINK, 7, session), numbers=S1, port=36412)
    unknown = spoken((EPS_UPLINK, 7, session), numbers=S1, port=36412)
    assert (outcome(open_)[1], outcome(unknown)[1]) == (0, 1)


def test_contexts_beyond_the_bound_are_forgotten_from_the_one_silent_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ciphering, "MAX_CONTEXTS", 2)
    known = Ciphers()
    for number in (1, 2):
        known.select((b"a", number), 2)
    assert known.of((b"a", 1)) == 2
    known.select((b"a", 3), 1)
    assert [known.of((b"a", number)) for number in (1, 2, 3)] == [2, None, 1]
